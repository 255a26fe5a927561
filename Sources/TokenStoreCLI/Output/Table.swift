/// Rows in aligned columns, each with rows of another kind beneath it if need be.
///
/// The first rows decide how wide the columns are; from then on rows pass through, so that memory does not grow with
/// their number.
struct Table {
    private struct Row {
        let isDetail: Bool
        let isMarked: Bool
        let cells: [TableCell]
    }

    private static let measured = 1000
    private static let detailIndentation = 4

    private let columns: [TableColumn]
    private let details: [TableColumn]
    private let form: TableForm
    private let showsAll: Bool
    private let console: Console
    private var pending: [Row] = []
    private var layouts: (rows: TableLayout, details: TableLayout)?
    private var rowCount = 0

    /// A table with `details` beneath its rows; one that `showsAll` leaves no column out, however narrow the terminal.
    init(
        _ columns: [TableColumn],
        details: [TableColumn] = [],
        as form: TableForm,
        showsAll: Bool = false,
        on console: Console
    ) {
        self.columns = columns
        self.details = details
        self.form = form
        self.showsAll = showsAll
        self.console = console
    }

    /// Adds a row; a marked one has a star before it on a terminal.
    mutating func add(_ cells: [TableCell], isMarked: Bool = false) throws {
        rowCount += 1
        try add(Row(isDetail: false, isMarked: isMarked, cells: cells))
    }

    mutating func addDetail(_ cells: [TableCell]) throws {
        try add(Row(isDetail: true, isMarked: false, cells: cells))
    }

    /// Writes the remaining rows, and what was left out; an empty table is its headings.
    mutating func finish() throws {
        let layouts = try layouts ?? begin(isWhole: true)
        for line in layouts.rows.remarks(of: columns, rowCount: rowCount) { try console.line(line) }
        try console.output.flush()
    }

    private mutating func add(_ row: Row) throws {
        guard layouts == nil else { return try write(row) }
        pending.append(row)
        if pending.count >= Self.measured || form == .tabs { _ = try begin(isWhole: false) }
    }

    /// Measures and writes the rows there are.
    ///
    /// What all rows share, or lack, is known only of a whole table.
    private mutating func begin(isWhole: Bool) throws -> (rows: TableLayout, details: TableLayout) {
        let rows = pending.filter { !$0.isDetail }.map(\.cells)
        let detailRows = pending.filter(\.isDetail).map(\.cells)
        var main = TableLayout(columns, rows: rows, form)
        if case .fitted(let width) = form {
            let room = width - TableForm.markWidth
            if showsAll { main.narrow(to: room) } else { main.fit(room, columns, rows: rows, isWhole: isWhole) }
        }
        var beneath = TableLayout(details, rows: detailRows, form)
        if case .fitted(let width) = form { beneath.drop(to: width - Self.detailIndentation, details) }
        let layouts = (rows: main, details: beneath)
        self.layouts = layouts
        try write(Row(isDetail: false, isMarked: false, cells: columns.map { TableCell($0.heading, style: .bold) }))
        if !detailRows.isEmpty {
            try write(Row(isDetail: true, isMarked: false, cells: details.map { TableCell($0.heading, style: .bold) }))
        }
        for row in pending { try write(row) }
        pending = []
        return layouts
    }

    private func write(_ row: Row) throws {
        guard let layouts else { return }
        try console.output.append { bytes in
            if form == .tabs {
                for (index, cell) in row.cells.enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: "\t")) }
                    if !cell.isAbsent { bytes.append(contentsOf: cell.text.utf8) }
                }
            } else {
                write(row, row.isDetail ? layouts.details : layouts.rows, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
    }

    /// As bytes, as a string made of a line would cost more than the line.
    private func write(_ row: Row, _ layout: TableLayout, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: start(of: row).utf8)
        var padding = 0
        for (index, column) in (row.isDetail ? details : columns).enumerated() {
            guard let width = layout.widths[index] else { continue }
            let cell = row.cells[index]
            let text = form == .aligned ? cell.text : cell.short.truncated(to: width)
            let spaces = max(0, width - text.columns)
            bytes.append(spaces: padding + (column.isNumber ? spaces : 0))
            bytes.append(contentsOf: console.terminal.styled(text, cell.style).utf8)
            padding = (column.isNumber ? 0 : spaces) + TableLayout.gap
        }
    }

    private func start(of row: Row) -> String {
        if row.isDetail { return String(repeating: " ", count: Self.detailIndentation) }
        guard case .fitted = form else { return "" }
        return row.isMarked ? console.terminal.styled("*", .green) + " " : "  "
    }
}

extension [UInt8] {
    fileprivate mutating func append(spaces count: Int) {
        append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
    }
}

/// How a table is shown.
enum TableForm: Equatable {
    /// Fitted to a terminal of this width.
    case fitted(Int)
    /// Every column whole, in a pipe.
    case aligned
    /// Every column whole behind a tab, for programs.
    case tabs

    /// The columns that the star before a row takes, with its space.
    static let markWidth = 2

    init(on console: Console) { self = console.terminal.width.map { .fitted($0) } ?? .aligned }
}

/// A column of a table.
struct TableColumn {
    let heading: String

    /// How far a terminal may narrow it in a row beneath another; nil: not at all.
    var minimum: Int?

    /// Which columns give way first in such a row where even the narrowest do not fit: the lowest; nil: never.
    var dropOrder: Int?

    var isNumber = false

    /// What stands before the value that all rows share, which then needs no column: `at`, `tenant`.
    var sharedAs: String?
}

/// The text of one row in a column.
struct TableCell {
    let text: String

    /// What a terminal shows, where it is less.
    let short: String
    let isAbsent: Bool
    var style: Terminal.Style?

    init(_ text: String?, short: String? = nil, style: Terminal.Style? = nil) {
        let whole = text.flatMap { $0.isEmpty ? nil : $0.printable }
        self.text = whole ?? "-"
        self.short = whole == nil ? "-" : short?.printable ?? self.text
        isAbsent = whole == nil
        self.style = style
    }
}
