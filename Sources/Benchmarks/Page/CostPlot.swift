/// What a lookup and a sign-in cost with few accounts in the store and with many.
struct CostPlot: Plot {
    static let name = "accounts"
    static let title = "Cost against number of accounts"
    static let caption = """
        Microseconds for one piece of work in one thread, with 5 tokens for each account: the median of the rounds, and a \
        line from the least to the greatest. PostgreSQL runs on the same machine, by Unix socket. Both axes are \
        logarithmic, so a flat line is a cost that does not grow.
        """

    private let points: [(cost: CostPoint, value: Spread)]
    private static let panelHeight = 210.0

    init(_ results: Results) {
        points = results.bars(.cost).flatMap(results.rows).compactMap { row in row.cost.map { ($0, row.value) } }
    }

    var description: String {
        guard !points.isEmpty else { return "Not measured." }
        return points.map { point in
            "\(point.cost.operation.rawValue), \(point.cost.engine.rawValue), \(Figure.count(point.cost.accounts)) "
                + "accounts: \(Figure.text(point.value.median, .microseconds))."
        }
        .joined(separator: " ")
    }

    func draw(on canvas: inout Canvas) {
        let isNarrow = canvas.width < PlotSize.wide
        let width = isNarrow ? canvas.width : (canvas.width - 24) / 2
        for (index, operation) in CostPoint.Operation.allCases.enumerated() {
            let corner =
                isNarrow
                ? (0, Double(index) * (Self.panelHeight + 112)) : (Double(index) * (canvas.width - width), 0)
            draw(operation, on: &canvas, Panel(corner: corner, width: width, values: values))
        }
    }

    /// Both panels have one axis, so that they can be compared.
    private var values: ClosedRange<Double> {
        let all = points.flatMap { [$0.value.least, $0.value.greatest] }.filter { $0 > 0 }
        guard let least = all.min(), let greatest = all.max() else { return 1...1_000 }
        return (least * 0.6...greatest * 1.3).roundedOutwards
    }

    /// Where one of the two drawings lies, and its axes.
    private struct Panel {
        let left: Double
        let top: Double
        let accounts: Axis
        let cost: Axis

        var bottom: Double { cost.from }

        init(corner: (Double, Double), width: Double, values: ClosedRange<Double>) {
            (left, top) = corner
            let steps = CostBenchmark.steps.map(Double.init)
            // Room for numbers on the left, and for the engine's name on the right.
            accounts = .logarithmic(
                (steps.first ?? 1)...(steps.last ?? 10),
                from: left + 68,
                to: left + width - 96
            )
            cost = .logarithmic(values, from: top + 32 + CostPlot.panelHeight, to: top + 32)
        }
    }

    private func draw(_ operation: CostPoint.Operation, on canvas: inout Canvas, _ panel: Panel) {
        let points = points.filter { $0.cost.operation == operation }
        canvas.text("one \(operation.rawValue), µs", at: (panel.left, panel.top + 14), .start, "strong")
        drawGrid(on: &canvas, panel, measured: Set(points.map(\.cost.accounts)))
        // The dearer engine has its numbers above its line, the other one below.
        let engines = CostPoint.Engine.allCases
        let order = engines.sorted { last($0, points) > last($1, points) }
        for engine in engines {
            let line = points.filter { $0.cost.engine == engine }.sorted { $0.cost.accounts < $1.cost.accounts }
            draw(line, of: engine, isAbove: engine == order.first, on: &canvas, panel)
        }
        let missing = engines.filter { engine in !points.contains { $0.cost.engine == engine } }
        for (index, engine) in missing.enumerated() {
            let place = ((panel.accounts.from + panel.accounts.to) / 2, panel.top + 60 + Double(index) * PlotSize.line)
            canvas.text("\(engine.rawValue): not measured", at: place, .middle, "muted")
        }
        canvas.reach(panel.bottom + 62)
    }

    private func last(_ engine: CostPoint.Engine, _ points: [(cost: CostPoint, value: Spread)]) -> Double {
        points.filter { $0.cost.engine == engine }.max { $0.cost.accounts < $1.cost.accounts }?.value.median ?? 0
    }

    private func drawGrid(on canvas: inout Canvas, _ panel: Panel, measured: Set<Int>) {
        for tick in panel.cost.ticks {
            let y = panel.cost.place(tick)
            canvas.line((panel.left + 50, y), (panel.accounts.to + 12, y), "grid")
            canvas.text(Figure.plain(tick), at: (panel.left + 44, y + 4.5), .end, "muted")
        }
        for step in CostBenchmark.steps {
            let x = panel.accounts.place(Double(step))
            canvas.text(Figure.count(step), at: (x, panel.bottom + 20), .middle, "muted small")
        }
        let middle = (panel.accounts.from + panel.accounts.to) / 2
        canvas.text("accounts", at: (middle, panel.bottom + 20 + PlotSize.line), .middle, "muted")
        let missing = CostBenchmark.steps.filter { !measured.contains($0) }
        guard !measured.isEmpty, !missing.isEmpty else { return }
        let text = "not measured: " + missing.map(Figure.count).joined(separator: "; ")
        canvas.text(text, at: (middle, panel.bottom + 20 + PlotSize.line * 2), .middle, "muted small")
    }

    private func draw(
        _ line: [(cost: CostPoint, value: Spread)],
        of engine: CostPoint.Engine,
        isAbove: Bool,
        on canvas: inout Canvas,
        _ panel: Panel
    ) {
        let style = engine == .sqlite ? "first" : "second"
        let place = { (point: (cost: CostPoint, value: Spread)) in
            (panel.accounts.place(Double(point.cost.accounts)), panel.cost.place(point.value.median))
        }
        canvas.path(line.map(place), style + " curve")
        for point in line {
            let (x, y) = place(point)
            let ends = (panel.cost.place(point.value.greatest), panel.cost.place(point.value.least))
            canvas.line((x, ends.0), (x, ends.1), style + " spread")
            canvas.dot((x, y), style)
            let base = isAbove ? min(y, ends.0) - 8 : max(y, ends.1) + 18
            canvas.text(Figure.text(point.value.median), at: (x, base), .middle, style + "-text")
        }
        guard let end = line.last.map(place) else { return }
        canvas.text(engine.rawValue, at: (end.0 + 12, end.1 + 4.5), .start, style + "-text")
    }
}
