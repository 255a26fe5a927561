import CPostgreSQL
import SQL

/// A copy of a text that C reads, as long as the object lives.
final class CString {
    let start: UnsafePointer<CChar>
    private let memory: UnsafeMutableBufferPointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        memory = .allocate(capacity: bytes.count)
        _ = memory.initialize(from: bytes)
        start = UnsafePointer(memory.baseAddress.unsafelyUnwrapped)
    }

    deinit {
        memory.deallocate()
    }
}

/// A statement of one connection.
final class Prepared {
    /// As it was written.
    let text: String
    let sql: CString
    /// Whether the server keeps the statement under a name; one that is made for a single use is sent each time.
    let isKept: Bool
    /// Where the columns of its rows come from that are not all of the answer.
    let sources: ColumnSources?
    /// Whether it adds rows and does nothing else, whatever there is.
    let isPlainInsertion: Bool
    /// The name on the server, nil as long as the server does not know it.
    var name: CString?
    /// The types of the parameters that the server was told, 0 where it was left to infer one.
    private(set) var types: [Oid] = []

    init(_ text: String, isKept: Bool, sources: ColumnSources? = nil) {
        self.text = text
        self.isKept = isKept
        self.sources = sources
        isPlainInsertion =
            isKept && text.hasPrefix("INSERT ")
            && !["SELECT", "ON CONFLICT", "RETURNING"].contains { text.contains($0) }
        sql = CString(Scanner.numbered(text))
    }

    /// The values that the server is sent.
    private func sent(_ values: [Value]) -> Range<Int> { 0..<min(values.count, sources?.parameterCount ?? .max) }

    /// Whether the server was told types that fit the values; a null fits every type.
    func fits(_ values: [Value]) -> Bool {
        let sent = sent(values)
        guard types.count == sent.count else { return false }
        for index in sent {
            let type = values[index].objectID
            if type != 0, type != types[index] { return false }
        }
        return true
    }

    /// Has libpq put the preparation of the statement under a name behind what waits.
    func prepare(as name: CString, _ values: [Value], on handle: OpaquePointer, _ library: Library) -> Bool {
        takeTypes(of: values)
        self.name = name
        return library.call.pointee.PQsendPrepare(handle, name.start, sql.start, CInt(types.count), types) == 1
    }

    /// Has libpq put the statement behind what waits.
    func send(_ values: [Value], on handle: OpaquePointer, _ library: Library) -> Bool {
        let call = library.call
        if !isKept { takeTypes(of: values) }
        let sent = Parameters.with(values, sent(values)) { sent in
            // The last number asks for the answer in the binary format.
            if let name, isKept {
                call.pointee.PQsendQueryPrepared(
                    handle,
                    name.start,
                    sent.count,
                    sent.values,
                    sent.lengths,
                    sent.formats,
                    1
                )
            } else {
                call.pointee.PQsendQueryParams(
                    handle,
                    sql.start,
                    sent.count,
                    types,
                    sent.values,
                    sent.lengths,
                    sent.formats,
                    1
                )
            }
        }
        return sent == 1
    }

    /// Takes the types of the values; the type of a null is as it was.
    private func takeTypes(of values: [Value]) {
        let known = types
        types = sent(values).map { index in
            let type = values[index].objectID
            return type == 0 && index < known.count ? known[index] : type
        }
    }
}

extension Value {
    fileprivate var objectID: Oid {
        switch self {
        case .null: 0
        case .integer: ObjectID.integer8
        case .text: ObjectID.text
        case .blob: ObjectID.bytes
        }
    }
}

/// Values as libpq wants them: a pointer, a length and the binary format for each.
struct Parameters {
    let count: CInt
    let values: UnsafePointer<UnsafePointer<CChar>?>
    let lengths: UnsafePointer<CInt>
    let formats: UnsafePointer<CInt>

    /// Runs `body` with one copy of those of the values that are `sent`, which is gone afterwards.
    static func with<Result>(_ values: [Value], _ sent: Range<Int>, _ body: (Parameters) -> Result) -> Result {
        // One byte more, as a null pointer would be NULL: an empty text is not.
        let size = 1 + values.byteCount + 8 * sent.count
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: sent.count + 1) { starts in
                withUnsafeTemporaryAllocation(of: CInt.self, capacity: 2 * sent.count + 1) { numbers in
                    body(Parameters(values, sent, bytes, starts, numbers))
                }
            }
        }
    }

    private init(
        _ values: [Value],
        _ sent: Range<Int>,
        _ bytes: UnsafeMutableRawBufferPointer,
        _ starts: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>,
        _ numbers: UnsafeMutableBufferPointer<CInt>
    ) {
        var used = 0
        for index in sent {
            let place = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
            var size = values[index].write(to: place)
            if case .integer(let integer) = values[index] {
                size = 8
                withUnsafeBytes(of: integer.bigEndian) { place.copyMemory(from: $0) }
            }
            let isNull = if case .null = values[index] { true } else { false }
            starts.initializeElement(
                at: index,
                to: isNull ? nil : place.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
            )
            numbers.initializeElement(at: index, to: CInt(size))
            numbers.initializeElement(at: sent.count + index, to: 1)
            used += size
        }
        count = CInt(sent.count)
        let first = UnsafePointer(numbers.baseAddress.unsafelyUnwrapped)
        self.values = UnsafePointer(starts.baseAddress.unsafelyUnwrapped)
        lengths = first
        formats = first + sent.count
    }
}

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
