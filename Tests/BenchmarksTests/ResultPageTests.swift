import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Benchmarks

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite(.onWaitingThreads)
struct ResultPageTests {
    private func page(_ runs: RunRecord...) -> String { ResultPage(results: Results(runs)).text }

    @Test func `texts of a run are escaped wherever they are shown`() {
        let attack = #"</td><script>alert("1")</script>&'"# + "\u{0}"
        let row = ReportRow(
            attack,
            attack,
            unit: .count,
            value: Spread(1),
            floor: Spread(1),
            named: attack,
            ratio: Spread(1),
            limit: .ratio(1)
        )
        let known = ReportRow(
            "P2",
            attack,
            unit: .count,
            value: Spread(1),
            floor: Spread(1),
            named: attack,
            ratio: Spread(1)
        )
        let run = RunRecord(
            command: attack,
            date: .now,
            isQuick: false,
            rounds: 1,
            isDebugBuild: false,
            machine: Machine(processor: attack, cores: 1, memoryBytes: 1, system: attack),
            versions: [attack: attack],
            rows: [row, known]
        )
        let written = ResultPage(results: Results([run]))
        for text in [written.text] + written.drawings.map(\.text) {
            #expect(!text.contains("<script"))
            #expect(!text.contains("\u{0}"))
        }
        let escaped = "&lt;/td&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\u{FFFD}"
        #expect(written.text.contains(escaped))
    }

    @Test func `a page with nothing measured says so of each bar and in each plot`() {
        let text = page(.sample())
        for bar in Bar.all { #expect(text.contains("tokenstore-bench \(bar.command) --only \(bar.id)<")) }
        for plot in ["P2: not measured.", "P10: not measured.", "R1: not measured.", "plots. Not measured."] {
            #expect(text.contains(plot.replacing("plots", with: CostPlot.title)))
        }
        #expect(text.contains("0 rows meet their bar, 0 miss it. Not measured: P1, P2,"))
    }

    @Test func `what was measured is shown as met or missed`() {
        let text = page(.sample(.everyKind))
        #expect(text.contains("2 rows meet their bar, 2 miss it."))
        #expect(text.contains("P2: 2 times its floor, missed."))
        #expect(text.contains("lookup, SQLite, 10,000 accounts: 10\u{A0}µs."))
        #expect(text.contains("P10: half within 200\u{A0}ms, all within 400\u{A0}ms."))
        #expect(text.contains("R1: 0 of 1,000."))
        #expect(text.contains("R2: 3 of 60."))
        #expect(text.contains("Measured on 2026-09-21 on Abacus, 2 cores, 24 GiB, Linux 6."))
    }

    @Test func `a quick run and a debug build are said to be such`() {
        #expect(!page(.sample()).contains(#"class="note""#))
        #expect(page(.sample(isQuick: true)).contains("Some of the runs were quick"))
        #expect(page(.sample(isDebugBuild: true)).contains("Some of the runs were of a debug build"))
    }

    @Test func `the list of bars is what the commands measure`() {
        let commands: [(String, [any Benchmark.Type])] = [
            ("speed", SpeedCommand.bars), ("scale", ScaleCommand.bars), ("torture", TortureCommand.bars),
            ("fleet", FleetCommand.bars),
        ]
        for (name, bars) in commands {
            #expect(Set(Bar.all.filter { $0.command == name }.map(\.id)) == Set(bars.map { $0.name }))
        }
    }

    @Test func `the last full run of a bar counts, a quick one only without another`() {
        func row(_ median: Double) -> ReportRow { ReportRow("P8", "query", unit: .milliseconds, value: Spread(median)) }
        func median(_ runs: RunRecord...) -> Double? {
            let results = Results(runs)
            return results.bars.first { $0.id == "P8" }.flatMap { results.rows(of: $0).first?.value.median }
        }
        let (old, new) = (RunRecord.sample([row(1)]), RunRecord.sample([row(2)], seconds: 60))
        let quick = RunRecord.sample([row(3)], isQuick: true, seconds: 120)
        #expect(median(new, old) == 2)
        #expect(median(quick, new, old) == 2)
        #expect(median(quick) == 3)
    }

    private static let browser = "/usr/bin/chromium"

    @Test(
        .tags(.slow),
        .ifSlowTestsAreWanted,
        .enabled(if: FileManager.default.isExecutableFile(atPath: browser), "needs Debian's chromium")
    )
    func `Chromium shows the page, and has nothing to complain about`() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(page(.sample(.everyKind)), to: "index.html")
        let arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--user-data-dir=\(folder.path)/profile",
            "--enable-logging=stderr", "--dump-dom", "file://" + file,
        ]
        #expect(try ChildProcess(Self.browser, arguments).run(outputTo: folder.file("said")).isSuccess)
        let said = try String(contentsOfFile: folder.file("said"), encoding: .utf8)
        #expect(said.contains("<h1>tokenstore: speed and reliability</h1>"))
        #expect(!said.contains("CONSOLE"))
    }

    @Test func `each drawing is well-formed and asks for no other file`() throws {
        let drawings = ResultPage(results: Results([.sample(.everyKind)])).drawings
        #expect(drawings.map(\.name).count { $0.hasSuffix("~dark.svg") } == drawings.count / 2)
        for drawing in drawings {
            let parser = XMLParser(data: Data(drawing.text.utf8))
            #expect(parser.parse(), "\(drawing.name): \(String(describing: parser.parserError))")
            #expect(!drawing.text.contains("url("))
            #expect(!drawing.text.contains("href"))
        }
    }
}
