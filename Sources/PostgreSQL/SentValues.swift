import SQL

/// A copy of the values that a question was asked with, for the columns that a server was not asked for.
final class SentValues {
    /// What a row needs to read its columns, valid as long as the object.
    struct Columns {
        /// Of each column its place in the answer, or `-number` of a value.
        let sources: UnsafePointer<Int16>
        let values: UnsafePointer<Sent>
    }

    struct Sent {
        let kind: ValueKind
        var integer: Int64 = 0
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    let columns: UnsafePointer<Columns>
    private let sources: ColumnSources
    private let values: UnsafeMutableBufferPointer<Sent>
    private let texts: UnsafeMutableRawBufferPointer

    init(_ values: [Value], for sources: ColumnSources) {
        self.sources = sources
        self.values = .allocate(capacity: values.count)
        texts = .allocate(byteCount: values.byteCount, alignment: 1)
        var used = 0
        for index in values.indices {
            let place = UnsafeMutableRawBufferPointer(rebasing: texts[used...])
            let size = values[index].write(to: place)
            let bytes = UnsafeRawBufferPointer(rebasing: place[..<size])
            used += size
            let sent =
                switch values[index] {
                case .null: Sent(kind: .null)
                case .integer(let integer): Sent(kind: .integer, integer: integer)
                case .text: Sent(kind: .text, bytes: bytes)
                case .blob: Sent(kind: .blob, bytes: bytes)
                }
            self.values.initializeElement(at: index, to: sent)
        }
        let columns = UnsafeMutablePointer<Columns>.allocate(capacity: 1)
        let first = UnsafePointer(self.values.baseAddress.unsafelyUnwrapped)
        columns.initialize(to: Columns(sources: sources.start, values: first))
        self.columns = UnsafePointer(columns)
    }

    deinit {
        columns.deallocate()
        values.deallocate()
        texts.deallocate()
    }
}
