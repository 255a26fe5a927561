/// How wide each column of a table is; nil for one that is left out.
struct TableLayout {
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
