/// One plot of the page, also a file of its own.
protocol Plot {
    /// Of its file.
    static var name: String { get }
    static var title: String { get }

    /// How to read it, below the plot.
    static var caption: String { get }

    init(_ results: Results)

    /// Draws the plot; a narrow one is for phones.
    func draw(on canvas: inout Canvas)

    /// What it shows, in words.
    var description: String { get }
}

extension Plot {
    func drawing(width: Double, _ more: [Markup] = []) -> Markup {
        var canvas = Canvas(width: width)
        draw(on: &canvas)
        return canvas.drawing(Self.title, description, more)
    }
}

enum PlotSize {
    static let wide = 760.0
    static let narrow = 350.0

    /// The height of a line of text.
    static let line = 17.0
}

/// Numbers as a reader of the page sees them.
enum Figure {
    /// Three digits that mean something, and groups of three before the point.
    static func text(_ number: Double) -> String {
        // What rounds to nothing is said to be small, not to be nothing.
        if number > 0, number < 0.005 { return "< 0.01" }
        let parts = Report.digits(number).split(separator: ".")
        return ([grouped(String(parts[0]))] + parts.dropFirst().map(String.init)).joined(separator: ".")
    }

    /// A figure that was chosen, such as a step of an axis.
    static func plain(_ number: Double) -> String {
        let parts = Report.plain(number).split(separator: ".")
        return ([grouped(String(parts[0]))] + parts.dropFirst().map(String.init)).joined(separator: ".")
    }

    static func text(_ number: Double, _ unit: ReportRow.Unit) -> String {
        text(number) + (unit.rawValue.isEmpty ? "" : "\u{A0}" + unit.rawValue)
    }

    /// Least and greatest, or nothing where they are the same.
    static func range(_ spread: Spread) -> String {
        let (least, greatest) = (text(spread.least), text(spread.greatest))
        return least == greatest ? "" : "\(least) – \(greatest)"
    }

    static func count(_ number: Int) -> String { grouped(String(number)) }

    private static func grouped(_ digits: String) -> String {
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3), grouped.last?.isNumber ?? false { grouped += "," }
            grouped.append(digit)
        }
        return grouped
    }
}
