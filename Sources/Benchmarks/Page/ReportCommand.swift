import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Makes a page with plots of what other runs have recorded.",
        discussion: """
            Reads files that other commands wrote with --record, and writes index.html, which needs no other file, and \
            each plot as an SVG file for light and dark pages. Of each bar the newest run is shown, \
            and a quick one only where there is no other. Bars that no run measured are named.
            """
    )

    @Argument(help: "Files that --record wrote.")
    var files: [String]

    @Option(help: "The directory for the page; it is made if it is not there.")
    var output: String

    func run() throws {
        let runs = try files.flatMap(RunRecord.runs)
        guard !runs.isEmpty else { throw BenchFailure("the files hold no run") }
        let page = ResultPage(results: Results(runs))
        let folder = URL(fileURLWithPath: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in page.drawings + [("index.html", page.text)] {
            try Data(text.utf8).write(to: folder.appending(path: name), options: .atomic)
        }
        print("\(output)/index.html")
    }
}
