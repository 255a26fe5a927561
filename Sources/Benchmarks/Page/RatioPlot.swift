/// What the store takes for each piece of work, in multiples of what its floor takes.
struct RatioPlot: Plot {
    static let name = "floors"
    static let title = "Speed beside the floors"
    static let caption = """
        1 is the floor: the same work with nothing around it, or what the line names, measured by turns in the same run. A \
        dot is the median of the rounds, the line through it reaches from the least to the greatest. The tinted band is \
        what the bar allows; a diamond is a bar that was missed. The axis is logarithmic.
        """

    private let lines: [Line]

    private struct Line {
        let id: String
        let text: String

        /// Nil where nothing was measured.
        let row: ReportRow?
    }

    init(_ results: Results) {
        lines = results.bars(.floor).flatMap { bar -> [Line] in
            let rows = results.rows(of: bar).filter { $0.ratio != nil }
            guard !rows.isEmpty else { return [Line(id: bar.id, text: bar.title, row: nil)] }
            return rows.map { Line(id: bar.id, text: "\($0.work), beside \($0.floorName ?? "its floor")", row: $0) }
        }
    }

    var description: String {
        lines.map { line in
            guard let row = line.row, let ratio = row.ratio else { return "\(line.id): not measured." }
            let verdict = Self.verdict(row).map { ", " + $0 } ?? ""
            return "\(line.id): \(Figure.text(ratio.median)) times its floor\(verdict)."
        }
        .joined(separator: " ")
    }

    func draw(on canvas: inout Canvas) {
        let isNarrow = canvas.width < PlotSize.wide
        let left = isNarrow ? 12.0 : 350
        let axis = Axis.logarithmic(values, from: left, to: canvas.width - (isNarrow ? 116 : 130))
        var top = PlotSize.line * 2
        for line in lines { top = draw(line, on: &canvas, axis, top: top, isNarrow: isNarrow) }
        canvas.beneath { drawGrid(on: &$0, axis, bottom: top) }
        canvas.reach(top + 8)
    }

    /// Of all that is drawn; the floor itself is always among it.
    private var values: ClosedRange<Double> {
        let rows = lines.compactMap(\.row)
        let ratios = rows.compactMap(\.ratio).flatMap { [$0.least, $0.greatest] }.filter { $0 > 0 }
        let all = ratios + rows.compactMap { $0.limit?.ratio } + [0.5, 2]
        return ((all.min() ?? 0.5)...(all.max() ?? 2)).roundedOutwards
    }

    /// The number of each step above the lines, and a line through all of them at the floor.
    private func drawGrid(on canvas: inout Canvas, _ axis: Axis, bottom: Double) {
        let tickBottom = PlotSize.line * 1.5
        for tick in axis.ticks {
            let x = axis.place(tick)
            canvas.text(Figure.plain(tick), at: (x, PlotSize.line), .middle, tick == 1 ? "strong" : "muted")
            canvas.line((x, tickBottom), (x, bottom), tick == 1 ? "floor" : "grid")
        }
    }

    /// - Returns: where the next line begins.
    private func draw(_ line: Line, on canvas: inout Canvas, _ axis: Axis, top: Double, isNarrow: Bool) -> Double {
        let idWidth = 38.0
        let room = isNarrow ? canvas.width - idWidth : axis.from - idWidth - 16
        let texts = Canvas.lines(line.text, width: room)
        let textHeight = Double(texts.count) * PlotSize.line
        let height = isNarrow ? textHeight + 30 : max(textHeight, PlotSize.line) + 12
        let middle = isNarrow ? top + textHeight + 14 : top + height / 2
        var base = isNarrow ? top + 14 : middle - textHeight / 2 + 12.5
        canvas.text(line.id, at: (0, base), .start, "strong")
        for text in texts {
            canvas.text(text, at: (idWidth, base))
            base += PlotSize.line
        }
        let right = axis.to + 14
        if let row = line.row, let ratio = row.ratio {
            draw(ratio, row, on: &canvas, axis, middle: middle)
            let verdict = Self.verdict(row).map { ", " + $0 } ?? ""
            let style = Self.isMet(row) == false ? "missed-text" : ""
            canvas.text("\(Figure.text(ratio.median)) ×\(verdict)", at: (right, middle + 4.5), .start, style)
        } else {
            canvas.text("not measured", at: (right, middle + 4.5), .start, "muted")
        }
        return top + height
    }

    private func draw(_ ratio: Spread, _ row: ReportRow, on canvas: inout Canvas, _ axis: Axis, middle: Double) {
        if let limit = row.limit, let bar = limit.ratio {
            let place = axis.place(bar)
            let (start, end) = limit.isLeast ? (place, axis.to) : (axis.from, place)
            canvas.box((start, middle - 7), width: end - start, height: 14, "allowed")
            canvas.line((place, middle - 9), (place, middle + 9), "bar")
        }
        let isMissed = Self.isMet(row) == false
        let style = isMissed ? "missed" : "mark"
        canvas.line((axis.place(ratio.least), middle), (axis.place(ratio.greatest), middle), style + " spread")
        let center = (axis.place(ratio.median), middle)
        if isMissed { canvas.diamond(center, style) } else { canvas.dot(center, style) }
    }

    /// Of the ratio alone: the row may also have a bar for the figure itself.
    private static func isMet(_ row: ReportRow) -> Bool? {
        guard let limit = row.limit, let bar = limit.ratio else { return nil }
        return Limit(ratio: bar, isLeast: limit.isLeast).isMet(by: row.value, ratio: row.ratio)
    }

    private static func verdict(_ row: ReportRow) -> String? { isMet(row).map { $0 ? "met" : "missed" } }
}
