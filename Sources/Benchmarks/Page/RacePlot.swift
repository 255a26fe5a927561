/// How soon each of many processes has the token that all of them asked for at once.
struct RacePlot: Plot {
    static let name = "races"
    static let title = "Races for one expired token"
    static let caption = """
        The share of processes that have ended with the token, against the time since all were started (P10) or let go \
        (F7), over all rounds. One of them asks the issuer, which takes \(RaceOutcome.issuerMilliseconds) ms; the others \
        wait for its answer. The ticks on the axis are the last process of a round: least, median and greatest of all \
        rounds. The bar is about the median.
        """

    private let races: [Race]
    private static let panelHeight = 130.0
    /// Room for the shares.
    private static let left = 52.0

    private struct Race {
        let bar: Bar

        /// Nil where nothing was measured; its times are sorted.
        let row: ReportRow?
        let times: [Double]
        var limit: Double? { row?.limit?.value }

        /// The time by which this share of the processes has ended.
        func time(_ share: Double) -> Double {
            times[min(times.count - 1, max(0, Int((share * Double(times.count)).rounded(.up)) - 1))]
        }
    }

    init(_ results: Results) {
        races = results.bars(.race).map { bar in
            let row = results.rows(of: bar).first { $0.each?.isEmpty == false }
            return Race(bar: bar, row: row, times: row?.each?.sorted() ?? [])
        }
    }

    var description: String {
        races.map { race in
            guard !race.times.isEmpty else { return "\(race.bar.id): not measured." }
            let times = (race.time(0.5), race.time(1))
            return "\(race.bar.id): half within \(Figure.text(times.0, .milliseconds)), "
                + "all within \(Figure.text(times.1, .milliseconds))."
        }
        .joined(separator: " ")
    }

    func draw(on canvas: inout Canvas) {
        let greatest = races.flatMap(\.times).max() ?? 0
        let limit = races.compactMap(\.limit).max() ?? 0
        // The number at the end of a curve stands to its right.
        let room = canvas.width < PlotSize.wide ? 0.62 : 0.8
        let axis = Axis.linear(0...max(greatest / room, limit * 1.1, 100), from: Self.left, to: canvas.width - 32)
        var top = 0.0
        for race in races { top = draw(race, on: &canvas, axis, top: top) }
        canvas.reach(top)
    }

    /// - Returns: where the next one begins.
    private func draw(_ race: Race, on canvas: inout Canvas, _ axis: Axis, top: Double) -> Double {
        var base = top + 14
        canvas.text(race.bar.id, at: (0, base), .start, "strong")
        let verdict = Self.verdict(race)
        for text in Canvas.lines(race.bar.title + ": " + verdict.text, width: canvas.width - Self.left) {
            canvas.text(text, at: (Self.left, base), .start, verdict.style)
            base += PlotSize.line
        }
        guard let row = race.row else { return base + PlotSize.line }
        base += 4
        let upper = base + PlotSize.line * 2
        let shares = Axis.linear(0...1, from: upper + Self.panelHeight, to: upper)
        drawGrid(on: &canvas, axis, shares)
        let issuer = Double(RaceOutcome.issuerMilliseconds)
        drawMoment(issuer, "issuer:", "floor", on: &canvas, axis, shares, text: base)
        if let limit = race.limit {
            drawMoment(limit, "bar:", "bar", on: &canvas, axis, shares, text: base + PlotSize.line)
        }
        drawCurve(race, on: &canvas, axis, shares)
        for last in [row.value.least, row.value.median, row.value.greatest] {
            canvas.line((axis.place(last), shares.from - 7), (axis.place(last), shares.from + 5), "mark spread")
        }
        return shares.from + 58
    }

    private static func verdict(_ race: Race) -> (text: String, style: String) {
        guard let row = race.row else { return ("not measured", "muted") }
        let word = row.isMet.map { $0 ? ", met" : ", missed" } ?? ""
        let text = "the last after \(Figure.text(row.value.median, .milliseconds))\(word)"
        return (text, row.isMet == false ? "missed-text" : "")
    }

    private func drawGrid(on canvas: inout Canvas, _ axis: Axis, _ shares: Axis) {
        for share in [0, 0.5, 1] {
            let y = shares.place(share)
            canvas.line((axis.from, y), (axis.to, y), "grid")
            canvas.text("\(Int(share * 100))\u{A0}%", at: (axis.from - 6, y + 4.5), .end, "muted")
        }
        for tick in axis.ticks {
            let unit = tick == axis.ticks.last ? "\u{A0}ms" : ""
            canvas.text(Figure.plain(tick) + unit, at: (axis.place(tick), shares.from + 20), .middle, "muted")
        }
    }

    private func drawMoment(
        _ time: Double,
        _ text: String,
        _ style: String,
        on canvas: inout Canvas,
        _ axis: Axis,
        _ shares: Axis,
        text base: Double
    ) {
        let x = axis.place(time)
        canvas.line((x, base + 5), (x, shares.from), style)
        let text = "\(text) \(Figure.text(time, .milliseconds))"
        let fits = x + 6 + Canvas.width(of: text) <= canvas.width
        canvas.text(text, at: (fits ? x + 6 : x - 6, base + 2), fits ? .start : .end, "muted")
    }

    private func drawCurve(_ race: Race, on canvas: inout Canvas, _ axis: Axis, _ shares: Axis) {
        let steps = min(race.times.count, 200)
        var points = [(axis.place(race.time(0)), shares.place(0))]
        for step in 1...steps {
            let share = Double(step) / Double(steps)
            let x = axis.place(race.time(share))
            points.append((x, points[points.count - 1].1))
            points.append((x, shares.place(share)))
        }
        canvas.path(points, "first curve")
        for (share, word) in [(0.5, "half"), (1, "all")] {
            let time = race.time(share)
            let place = (axis.place(time), shares.place(share))
            canvas.dot(place, "first")
            let text = "\(word) within \(Figure.text(time, .milliseconds))"
            canvas.text(text, at: (place.0 + 9, place.1 + (share == 1 ? 16 : 4.5)), .start, "first-text")
        }
    }
}
