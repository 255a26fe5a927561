/// Which columns of a table are shown, and how wide each is.
struct TableLayout {
    /// Nil for a column that is left out.
    private(set) var widths: [Int?]

    /// The columns whose value all rows share, with that value.
    private var shared: [(column: Int, value: String)] = []

    /// The columns that did not fit.
    private var leftOut: [Int] = []
    private var limit: Int?

    /// The spaces between two columns.
    static let gap = 2

    /// How many columns come first and are shortened only where nothing else is shown.
    private static let leading = 2

    /// Every column as wide as its widest cell; between tabs none has a width.
    init(_ columns: [TableColumn], rows: [[TableCell]], _ form: TableForm) {
        guard form != .tabs else {
            widths = columns.map { _ in nil }
            return
        }
        widths = columns.indices.map { column in
            rows.reduce(columns[column].heading.count) {
                max($0, (form == .aligned ? $1[column].text : $1[column].short).columns)
            }
        }
        if case .fitted(let width) = form { limit = width }
    }

    var shown: [Int] { widths.indices.filter { widths[$0] != nil } }

    /// Takes whole columns from the front while they fit; of a whole table none that is empty or the same in all rows.
    mutating func fit(_ room: Int, _ columns: [TableColumn], rows: [[TableCell]], isWhole: Bool) {
        if isWhole, !rows.isEmpty { leaveOutWhatSaysNothing(columns, rows) }
        let candidates = shown
        var taken = Array(candidates.prefix(Self.leading))
        if total(taken) > room {
            for column in candidates.dropFirst(taken.count) { leaveOut(column) }
            return narrow(to: room)
        }
        for column in candidates.dropFirst(taken.count) {
            guard total(taken + [column]) <= room else { break }
            taken.append(column)
        }
        for column in candidates.dropFirst(taken.count) { leaveOut(column) }
    }

    private mutating func leaveOutWhatSaysNothing(_ columns: [TableColumn], _ rows: [[TableCell]]) {
        for column in columns.indices.dropFirst() {
            if rows.allSatisfy({ $0[column].isAbsent }) {
                widths[column] = nil
            } else if columns[column].sharedAs != nil, rows.allSatisfy({ $0[column].text == rows[0][column].text }) {
                widths[column] = nil
                shared.append((column, rows[0][column].short))
            }
        }
    }

    private mutating func leaveOut(_ column: Int) {
        widths[column] = nil
        leftOut.append(column)
    }

    /// Leaves out the columns that give way first, then narrows those that may be.
    mutating func drop(to room: Int, _ columns: [TableColumn]) {
        let minima = columns.enumerated().map { index, column in
            column.minimum.map { min($0, widths[index] ?? 0) } ?? widths[index] ?? 0
        }
        let droppable = columns.indices.filter { columns[$0].dropOrder != nil }
            .sorted { columns[$0].dropOrder ?? 0 < columns[$1].dropOrder ?? 0 }
        for column in droppable where total(shown, minima) > room { widths[column] = nil }
        narrow(to: room, minima: minima)
    }

    /// Takes from the widest column first, so that short texts stay whole.
    mutating func narrow(to room: Int, minima: [Int]? = nil) {
        while total(shown) > room {
            let shrinkable = shown.filter { (widths[$0] ?? 0) > minima?[$0] ?? 1 }
            guard let widest = shrinkable.max(by: { (widths[$0] ?? 0) < (widths[$1] ?? 0) }) else { return }
            widths[widest] = widths[widest].map { $0 - 1 }
        }
    }

    private func total(_ columns: [Int], _ lengths: [Int]? = nil) -> Int {
        columns.reduce(0) { $0 + (lengths?[$1] ?? widths[$1] ?? 0) } + Self.gap * max(0, columns.count - 1)
    }
}

extension TableLayout {
    /// Lines that say once what all rows share, and what was left out.
    func remarks(of columns: [TableColumn], rowCount: Int) -> [String] {
        guard let limit, !shared.isEmpty || !leftOut.isEmpty else { return [] }
        let values = shared.map { "\(columns[$0.column].sharedAs ?? "") \($0.value)" }.joined(separator: ", ")
        let without = leftOut.map { columns[$0].heading }.joined(separator: ", ")
        let sentence = [
            values.isEmpty ? nil : (rowCount > 1 ? "all " : "") + values, without.isEmpty ? nil : "without \(without)",
        ].compactMap(\.self).joined(separator: "; ")
        let advice = "(all columns: --json, or a pipe)"
        let line = sentence + "   " + advice
        return line.columns <= limit ? [line] : sentence.wrapped(to: limit) + advice.wrapped(to: limit)
    }
}
