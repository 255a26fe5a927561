/// Rows in aligned columns, each with rows of another kind beneath it if need be.
///
/// The first rows decide how wide the columns are; from then on rows pass through, so that memory does not grow with
/// their number.
struct Table {
    private struct Row {
        let isDetail: Bool
        let cells: [TableCell]
    }

    private static let measured = 1000
    private static let detailIndentation = 4

    private let columns: [TableColumn]
    private let details: [TableColumn]?
    private let console: Console
    private var pending: [Row] = []
    private var layouts: (rows: TableLayout, details: TableLayout)?

    init(_ columns: [TableColumn], details: [TableColumn]? = nil, on console: Console) {
        self.columns = columns
        self.details = details
        self.console = console
    }

    mutating func add(_ cells: [TableCell]) throws { try add(Row(isDetail: false, cells: cells)) }

    mutating func addDetail(_ cells: [TableCell]) throws { try add(Row(isDetail: true, cells: cells)) }

    /// Writes the remaining rows; an empty table is its headings.
    mutating func finish() throws {
        if layouts == nil { try begin() }
        try console.output.flush()
    }

    private mutating func add(_ row: Row) throws {
        guard layouts == nil else { return try write(row) }
        pending.append(row)
        if pending.count >= Self.measured { try begin() }
    }

    private mutating func begin() throws {
        let limit = console.terminal.width
        let rows = pending.filter { !$0.isDetail }.map(\.cells)
        let detailRows = pending.filter(\.isDetail).map(\.cells)
        layouts = (
            TableLayout(columns, rows: rows, indentation: 0, limit: limit),
            TableLayout(details ?? [], rows: detailRows, indentation: Self.detailIndentation, limit: limit)
        )
        try write(Row(isDetail: false, cells: columns.map { TableCell($0.heading, style: .bold) }))
        if let details, !detailRows.isEmpty {
            try write(Row(isDetail: true, cells: details.map { TableCell($0.heading, style: .bold) }))
        }
        for row in pending { try write(row) }
        pending = []
    }

    private func write(_ row: Row) throws {
        guard let layouts else { return }
        let layout = row.isDetail ? layouts.details : layouts.rows
        let columns = row.isDetail ? details ?? [] : columns
        var line = row.isDetail ? String(repeating: " ", count: Self.detailIndentation) : ""
        var padding = ""
        for (index, cell) in row.cells.enumerated() {
            guard let width = layout.widths[index] else { continue }
            let text = console.terminal.isTerminal ? cell.text.truncated(to: width) : cell.text
            let spaces = String(repeating: " ", count: max(0, width - text.columns))
            line += padding + (columns[index].isNumber ? spaces : "") + console.terminal.styled(text, cell.style)
            padding = (columns[index].isNumber ? "" : spaces) + "  "
        }
        try console.line(line)
    }
}

/// A column of a table.
struct TableColumn {
    let heading: String

    /// How far a terminal may narrow it; nil: not at all.
    var minimum: Int?

    /// Which columns give way first where even the narrowest do not fit: the lowest; nil: never.
    var dropOrder: Int?

    var isNumber = false
}

/// The text of one row in a column.
struct TableCell: ExpressibleByStringInterpolation {
    let text: String
    var style: Terminal.Style?

    init(_ text: String?, style: Terminal.Style? = nil) {
        self.text = text.map { $0.isEmpty ? "-" : $0.printable } ?? "-"
        self.style = style
    }

    init(stringLiteral value: String) { self.init(value) }
}

/// How wide each column of a table is; nil for one that is left out.
private struct TableLayout {
    private(set) var widths: [Int?]

    private static let gap = 2

    init(_ columns: [TableColumn], rows: [[TableCell]], indentation: Int, limit: Int?) {
        widths = columns.indices.map { column in
            rows.reduce(columns[column].heading.count) { max($0, $1[column].text.columns) }
        }
        guard let limit else { return }
        let room = limit - indentation
        let minima = columns.enumerated().map { index, column in
            column.minimum.map { min($0, widths[index] ?? 0) } ?? widths[index] ?? 0
        }
        let droppable = columns.indices.filter { columns[$0].dropOrder != nil }
            .sorted { columns[$0].dropOrder ?? 0 < columns[$1].dropOrder ?? 0 }
        for column in droppable where total(minima) > room { widths[column] = nil }
        narrow(to: room, minima: minima)
    }

    /// Takes from the widest column first, so that short texts stay whole.
    private mutating func narrow(to room: Int, minima: [Int]) {
        while total(widths.map { $0 ?? 0 }) > room {
            let shrinkable = widths.indices.filter { (widths[$0] ?? 0) > minima[$0] }
            guard let widest = shrinkable.max(by: { (widths[$0] ?? 0) < (widths[$1] ?? 0) }) else { return }
            widths[widest] = widths[widest].map { $0 - 1 }
        }
    }

    private func total(_ lengths: [Int]) -> Int {
        let shown = widths.indices.filter { widths[$0] != nil }
        return shown.reduce(0) { $0 + lengths[$1] } + Self.gap * max(0, shown.count - 1)
    }
}
