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

    /// Writes what is left; a table without rows is its headings.
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
