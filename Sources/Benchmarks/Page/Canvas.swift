/// A drawing that grows as marks are put on it; lengths are in its own units, of which a page shows about one a pixel.
struct Canvas {
    let width: Double
    private(set) var height: Double
    private var marks: [Markup] = []

    /// Where a text ends or begins.
    enum Anchor: String {
        case start
        case middle
        case end
    }

    init(width: Double, height: Double = 0) { (self.width, self.height) = (width, height) }

    /// Makes the drawing as high as it has to be to show what ends at `bottom`.
    mutating func reach(_ bottom: Double) { height = max(height, bottom) }

    mutating func line(_ start: (Double, Double), _ end: (Double, Double), _ style: String) {
        add("line", style, ("x1", start.0), ("y1", start.1), ("x2", end.0), ("y2", end.1))
    }

    mutating func box(_ corner: (Double, Double), width: Double, height: Double, _ style: String) {
        add("rect", style, ("x", corner.0), ("y", corner.1), ("width", width), ("height", height))
    }

    mutating func dot(_ center: (Double, Double), radius: Double = 4, _ style: String) {
        add("circle", style, ("cx", center.0), ("cy", center.1), ("r", radius))
    }

    /// A square on its corner, which is told from a dot without its color.
    mutating func diamond(_ center: (Double, Double), radius: Double = 5.5, _ style: String) {
        let (x, y) = center
        let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y), (x, y - radius)]
        path(corners, style)
    }

    mutating func path(_ points: [(Double, Double)], _ style: String) {
        let steps = points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(Self.text(point.0)) \(Self.text(point.1))"
        }
        marks.append(.tag("path", ["class": style, "d": steps.joined()]))
    }

    /// `place` is on the base line of the text.
    mutating func text(_ text: String, at place: (Double, Double), _ anchor: Anchor = .start, _ style: String = "") {
        let attributes = [
            ("class", style.isEmpty ? "text" : "text " + style), ("x", Self.text(place.0)), ("y", Self.text(place.1)),
            ("text-anchor", anchor.rawValue),
        ]
        marks.append(.element("text", attributes: attributes, children: [.text(text)]))
    }

    /// The drawing; `description` is for those who do not see it.
    func drawing(_ title: String, _ description: String, _ more: [Markup] = []) -> Markup {
        let size = (Self.text(width), Self.text(height))
        return .tag(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(size.0) \(size.1)", "width": size.0,
                "height": size.1, "role": "img", "aria-label": "\(title). \(description)",
            ],
            more + marks
        )
    }

    /// Puts what `draw` draws under all that is there.
    mutating func beneath(_ draw: (inout Canvas) -> Void) {
        var under = Canvas(width: width, height: height)
        draw(&under)
        marks = under.marks + marks
        height = under.height
    }

    private mutating func add(_ name: String, _ style: String, _ numbers: (name: String, value: Double)...) {
        let attributes = [(name: "class", value: style)] + numbers.map { ($0.name, Self.text($0.value)) }
        marks.append(.element(name, attributes: attributes, children: []))
    }

    /// A tenth of a unit is finer than anyone sees.
    static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let whole = abs(tenths) / 10
        return abs(tenths) % 10 == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(abs(tenths) % 10)"
    }

    /// How wide a text is, at most, at the size of plots.
    static func width(of text: String) -> Double { Double(text.count) * 7.4 }

    /// Breaks a text into lines that are not wider than `width`.
    static func lines(_ text: String, width: Double) -> [String] {
        text.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, Self.width(of: last + " " + word) <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
    }
}
