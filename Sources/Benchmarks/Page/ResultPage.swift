#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The page: what was measured where, four plots, and a table of everything.
///
/// It needs no other file and no script.
struct ResultPage {
    let results: Results

    private static var plots: [any Plot.Type] { [RatioPlot.self, CostPlot.self, RacePlot.self, FaultPlot.self] }

    /// A page of HTML.
    var text: String {
        let head: [Markup] = [
            .tag("meta", ["charset": "utf-8"]),
            .tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            .tag("meta", ["http-equiv": "Content-Security-Policy", "content": Self.policy]),
            .tag("title", [:], Self.title),
            .style(PageStyle.light), .style(PageStyle.darkWherePreferred), .style(PageStyle.page),
            .style(PageStyle.plots),
        ]
        let figures = Self.plots.flatMap { figure($0.init(results)) }
        let body = summary + figures + [.tag("h2", [:], "Every row"), explanation, ResultTable(results: results).table]
        let page = Markup.tag(
            "html",
            ["lang": "en"],
            [.tag("head", [:], head), .tag("body", [:], body + [.tag("h2", [:], "Runs")] + results.runs.map(Self.run))]
        )
        return "<!doctype html>\n" + page.written + "\n"
    }

    /// Each plot as a file of its own, by daylight and, as DocC names it, in the dark.
    var drawings: [(name: String, text: String)] {
        Self.plots.flatMap { plot in
            let drawn = plot.init(results)
            return [("", PageStyle.light), ("~dark", PageStyle.dark)].map { suffix, colors in
                let drawing = drawn.drawing(width: PlotSize.wide, [.style(colors), .style(PageStyle.plots)])
                return (plot.name + suffix + ".svg", drawing.written + "\n")
            }
        }
    }

    private static let title = "tokenstore: speed and reliability"
    /// Nothing is loaded, and no script runs, whatever the figures' names are.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'"

    private var summary: [Markup] {
        let dates = results.runs.map { Self.day($0.date) }
        let span = [dates.first, dates.last].compactMap(\.self)
        let days = Set(span).count == 1 ? "on \(span[0])" : "from \(span.first ?? "?") to \(span.last ?? "?")"
        let machines = Set(results.runs.map(\.machine))
        let place = machines.count == 1 ? machines.first.map(Self.text) ?? "" : "\(machines.count) machines"
        let missing = results.missing
        let unmeasured =
            missing.isEmpty
            ? "Every bar of the list was measured." : "Not measured: \(missing.map(\.id).joined(separator: ", "))."
        var parts: [Markup] = [
            .tag("h1", [:], Self.title),
            .tag(
                "p",
                ["class": "lead"],
                "\(results.met) rows meet their bar, \(results.missed) miss it. \(unmeasured)"
            ),
            .tag("p", ["class": "quiet"], "Measured \(days) on \(place)."),
        ]
        if results.runs.contains(where: \.isQuick) { parts.append(.tag("p", ["class": "note"], Self.quickNote)) }
        if results.runs.contains(where: \.isDebugBuild) { parts.append(.tag("p", ["class": "note"], Self.debugNote)) }
        return parts
    }

    private static let quickNote = """
        Some of the runs were quick: short counts, for a sign of life. Their figures lie further apart than those of a full \
        run.
        """

    private static let debugNote = """
        Some of the runs were of a debug build, whose times are many times those of a release build: they say nothing \
        about the bars.
        """

    private var explanation: Markup {
        let text = """
            A median is one of rounds, and its spread reaches from the least round to the greatest. Times depend on the \
            machine; ratios less so, since both sides are measured by turns in one run. Counts are of what went wrong. R9, the test suite under the sanitizers, is not \
            among them.
            """
        return .tag("p", ["class": "quiet"], text)
    }

    private func figure(_ plot: any Plot) -> [Markup] {
        func part<P: Plot>(_ plot: P) -> [Markup] {
            [
                .tag("h2", [:], P.title),
                .tag(
                    "figure",
                    [:],
                    [
                        .tag("div", ["class": "wide"], [plot.drawing(width: PlotSize.wide)]),
                        .tag("div", ["class": "narrow"], [plot.drawing(width: PlotSize.narrow)]),
                        .tag("figcaption", [:], P.caption),
                    ]
                ),
            ]
        }
        return part(plot)
    }

    private static func run(_ run: RunRecord) -> Markup {
        let versions = run.versions.sorted { $0.key.lowercased() < $1.key.lowercased() }
            .map { "\($0.key) \($0.value)" }.joined(separator: "; ")
        let parts = [
            ("command", "tokenstore-bench \(run.command)" + (run.isQuick ? " --quick" : "")),
            ("begun", run.date.formatted(.iso8601)), ("rounds", "\(run.rounds)"),
            ("build", run.isDebugBuild ? "debug" : "release"), ("machine", text(run.machine)),
            ("versions", versions),
            ("rows", Figure.count(run.rows.count)),
        ]
        return .tag("dl", [:], parts.flatMap { [.tag("dt", [:], $0.0), .tag("dd", [:], $0.1)] })
    }

    private static func text(_ machine: Machine) -> String {
        let cores = machine.cores == 1 ? "1 core" : "\(machine.cores) cores"
        let memory = Int((Double(machine.memoryBytes) / 1_073_741_824).rounded())
        return "\(machine.processor), \(cores), \(memory) GiB, \(machine.system)"
    }

    private static func day(_ date: Date) -> String { String(date.formatted(.iso8601).prefix(10)) }
}
