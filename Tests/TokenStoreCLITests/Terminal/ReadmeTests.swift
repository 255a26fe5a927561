import Foundation
import TestSupport
import TestTraits
import Testing

/// What the README shows of the command line is what a shell shows.
@Suite(.onWaitingThreads)
struct ReadmeTests {
    private static let house = Repository.root
    private static let jq = "/usr/bin/jq"

    /// A command of the README and what it prints.
    private struct Example {
        let command: String
        var output = ""
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: jq), "needs jq"))
    func `the commands on the imported cache print what the README says`() throws {
        let scratch = try ScratchDirectory()
        #expect(try scratch.run("import", Self.house.appending(path: "Tests/Fixtures/harbor.json").path).status == 0)
        let binaries = (Command.binary as NSString).deletingLastPathComponent
        let settings = ["PATH=\(binaries):/usr/bin:/bin", "TOKENSTORE_PATH=\(scratch.store)", "HOME=\(scratch.path)"]
        let examples = try examples()
        #expect(examples.count > 4)
        for example in examples {
            let printed = try Shell.run("/usr/bin/env", settings + ["bash", "-euo", "pipefail", "-c", example.command])
            #expect(printed == example.output, "\(example.command)")
        }
    }

    /// The console blocks before the one that signs in, which needs an issuer and a person.
    private func examples() throws -> [Example] {
        let readme = try String(contentsOf: Self.house.appending(path: "README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```console\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
            .prefix { !$0.contains("tokenstore login") }
        return blocks.joined().split(separator: "\n").reduce(into: []) { examples, line in
            if line.hasPrefix("$ ") {
                examples.append(Example(command: String(line.dropFirst(2))))
            } else if !examples.isEmpty {
                examples[examples.count - 1].output += line + "\n"
            }
        }
    }
}
