/// A column of a table.
struct TableColumn {
    let heading: String

    /// How far a terminal may narrow it; nil: not at all.
    var minimum: Int?

    /// Which columns give way first where even the narrowest do not fit: the lowest; nil: never.
    var dropOrder: Int?

    var isNumber = false
}

/// What stands in a column of one row.
struct TableCell: ExpressibleByStringInterpolation {
    let text: String
    var style: Terminal.Style?

    init(_ text: String?, style: Terminal.Style? = nil) {
        self.text = text.map { $0.isEmpty ? "-" : $0.printable } ?? "-"
        self.style = style
    }

    init(stringLiteral value: String) { self.init(value) }
}
