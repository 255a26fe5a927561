/// How many faults were tried, and how many of them did harm.
struct FaultPlot: Plot {
    static let name = "faults"
    static let title = "Faults survived"
    static let caption = """
        Each dot is a count of what may go wrong, at the number of cases that were tried; a diamond is one that is not \
        zero. The number on the right is the worst count of the line, or the one with most cases. The axis is logarithmic.
        """

    private let lines: [(bar: Bar, rows: [ReportRow])]

    init(_ results: Results) {
        lines = results.bars(.fault).map { bar in (bar, results.rows(of: bar).filter { $0.tried != nil }) }
    }

    var description: String {
        lines.map { line in "\(line.bar.id): \(Self.verdict(line.rows) ?? "not measured")." }.joined(separator: " ")
    }

    func draw(on canvas: inout Canvas) {
        let isNarrow = canvas.width < PlotSize.wide
        let most = lines.flatMap(\.rows).compactMap(\.tried).max() ?? 0
        let axis = Axis.logarithmic(
            1...max(1_000, Double(most)).roundedUpToPower,
            from: isNarrow ? 12 : 370,
            to: canvas.width - (isNarrow ? 110 : 190)
        )
        let first = PlotSize.line * (isNarrow ? 3 : 2)
        let height = isNarrow ? 46.0 : 25
        for (index, line) in lines.enumerated() {
            draw(line.bar, line.rows, on: &canvas, axis, top: first + Double(index) * height, isNarrow: isNarrow)
        }
        let bottom = first + Double(lines.count) * height
        canvas.beneath { drawGrid(on: &$0, axis, top: first - PlotSize.line, bottom: bottom) }
        canvas.reach(bottom + 8)
    }

    private func drawGrid(on canvas: inout Canvas, _ axis: Axis, top: Double, bottom: Double) {
        let ticks = axis.ticks
        let isRoomy = (axis.to - axis.from) / Double(max(1, ticks.count - 1)) >= Canvas.width(of: "100,000")
        for (index, tick) in ticks.enumerated() {
            let x = axis.place(tick)
            canvas.line((x, top + 8), (x, bottom), "grid")
            guard isRoomy || index.isMultiple(of: 2) else { continue }
            canvas.text(Figure.text(tick), at: (x, top), .middle, "muted")
        }
        let isNarrow = canvas.width < PlotSize.wide
        let place = isNarrow ? (0, PlotSize.line) : (axis.from - 16, top)
        canvas.text("cases tried", at: place, isNarrow ? .start : .end, "muted")
    }

    private func draw(
        _ bar: Bar,
        _ rows: [ReportRow],
        on canvas: inout Canvas,
        _ axis: Axis,
        top: Double,
        isNarrow: Bool
    ) {
        let base = top + (isNarrow ? 14 : 17)
        let middle = isNarrow ? top + 30 : base - 4.5
        let isLong = bar.id.count > 4
        canvas.text(bar.id, at: (0, base), .start, "strong")
        canvas.text(bar.title, at: (isLong ? 60 : 38, base))
        canvas.line((axis.from, middle), (axis.to, middle), "track")
        for row in rows.sorted(by: { !$0.isFailure && $1.isFailure }) {
            guard let tried = row.tried, tried > 0 else { continue }
            let center = (axis.place(Double(tried)), middle)
            if row.isFailure { canvas.diamond(center, "missed") } else { canvas.dot(center, "mark faint") }
        }
        let style = rows.isEmpty ? "muted" : rows.contains(where: \.isFailure) ? "missed-text" : ""
        let counts = rows.count > 1 && !isNarrow ? " (\(rows.count) counts)" : ""
        canvas.text((Self.verdict(rows) ?? "not measured") + counts, at: (axis.to + 14, middle + 4.5), .start, style)
    }

    /// The worst count, or the one with most cases; nil where there is none.
    private static func verdict(_ rows: [ReportRow]) -> String? {
        let worst = rows.max { ($0.value.greatest, $0.tried ?? 0) < ($1.value.greatest, $1.tried ?? 0) }
        return worst.map { "\(Figure.text($0.value.greatest)) of \(Figure.count($0.tried ?? 0))" }
    }
}

extension Double {
    /// The next power of ten.
    fileprivate var roundedUpToPower: Double {
        var power = 1.0
        while power < self { power *= 10 }
        return power
    }
}
