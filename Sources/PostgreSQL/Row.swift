import CPostgreSQL
package import SQL

/// The rows that a statement returned.
package final class Rows {
    let library: Library
    let result: OpaquePointer
    package let count: Int

    /// The values that columns are which the server was not asked for.
    var sent: SentValues?

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer, _ library: Library) {
        self.result = result
        self.library = library
        count = Int(library.call.pointee.PQntuples(result))
    }

    deinit { library.call.pointee.PQclear(result) }

    /// The number of rows that the statement changed, or returned; what a server makes up has no sum overflow.
    var affected: Int { min(Int(library.text(library.call.pointee.PQcmdTuples(result)) ?? "") ?? 0, 1 << 40) }

    /// The command that the server says it ran, for example `COMMIT`.
    var command: String { library.text(library.call.pointee.PQcmdStatus(result)) ?? "" }

    /// The row at an index, valid as long as the rows.
    package subscript(index: Int) -> Row {
        Row(call: library.call, result: result, index: CInt(index), columns: sent?.columns)
    }

    package func forEach(_ body: (Row) throws -> Void) rethrows {
        try withExtendedLifetime(self) {
            for index in 0..<count { try body(self[index]) }
        }
    }

    package func all<Result>(_ body: (Row) throws -> Result) rethrows -> [Result] {
        try withExtendedLifetime(self) { try (0..<count).map { try body(self[$0]) } }
    }

    package func first<Result>(_ body: (Row) throws -> Result) rethrows -> Result? {
        try withExtendedLifetime(self) { try count == 0 ? nil : body(self[0]) }
    }
}

/// A row of a result; valid only inside the closure that received it.
package struct Row {
    /// The functions of libpq, which stay: to copy a row counts no references.
    let call: UnsafePointer<CPostgreSQLFunctions>
    let result: OpaquePointer
    let index: CInt

    /// Where columns come from that are not all of the answer.
    let columns: UnsafePointer<SentValues.Columns>?

    /// The value that a column is; where it is nil, `column` becomes its place in the answer.
    private func sent(_ column: inout CInt) -> SentValues.Sent? {
        guard let columns = columns?.pointee else { return nil }
        let source = columns.sources[Int(column)]
        guard source < 0 else {
            column = CInt(source)
            return nil
        }
        return columns.values[Int(-source) - 1]
    }

    package func isNull(_ column: CInt) -> Bool {
        var column = column
        if let sent = sent(&column) { return sent.kind == .null }
        return call.pointee.PQgetisnull(result, index, column) != 0
    }

    /// The integer of a column by its width, also a sum, whose type is `numeric`; anything else reads as 0.
    package func integer(_ column: CInt) -> Int64 {
        var column = column
        if let sent = sent(&column) { return sent.integer }
        let bytes = answer(column)
        return switch call.pointee.PQftype(result, column) {
        case ObjectID.integer8: Int64(bigEndian: bytes.count == 8 ? bytes.loadUnaligned(as: Int64.self) : 0)
        case ObjectID.integer4: Int64(Int32(bigEndian: bytes.count == 4 ? bytes.loadUnaligned(as: Int32.self) : 0))
        case ObjectID.integer2: Int64(Int16(bigEndian: bytes.count == 2 ? bytes.loadUnaligned(as: Int16.self) : 0))
        case ObjectID.bool: bytes.first == 1 ? 1 : 0
        case ObjectID.objectID:
            Int64(UInt32(bigEndian: bytes.count == 4 ? bytes.loadUnaligned(as: UInt32.self) : 0))
        case ObjectID.numeric: Self.integer(ofNumeric: bytes)
        default: 0
        }
    }

    package func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    package func bool(_ column: CInt) -> Bool { integer(column) != 0 }

    /// The text of a column; `NULL` reads as empty.
    package func text(_ column: CInt) -> String { String(decoding: bytes(column), as: UTF8.self) }

    package func optionalText(_ column: CInt) -> String? { isNull(column) ? nil : text(column) }

    /// Whether a column is `NULL`, or a text or blob without bytes.
    package func isEmpty(_ column: CInt) -> Bool { bytes(column).isEmpty }

    /// The bytes of a column, which are the result's: like the row they are valid only inside its closure.
    package func bytes(_ column: CInt) -> UnsafeRawBufferPointer {
        var column = column
        return sent(&column)?.bytes ?? answer(column)
    }

    /// The bytes of a column of the answer.
    private func answer(_ column: CInt) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: call.pointee.PQgetvalue(result, index, column),
            count: Int(call.pointee.PQgetlength(result, index, column))
        )
    }

    /// A copy of the bytes of a column; `NULL` reads as empty.
    package func blob(_ column: CInt) -> [UInt8] { Array(bytes(column)) }

    package func optionalBlob(_ column: CInt) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// What a column holds; what is neither a number nor a text is the server's bytes.
    fileprivate func kind(_ column: CInt) -> ValueKind {
        var column = column
        if let sent = sent(&column) { return sent.kind }
        if call.pointee.PQgetisnull(result, index, column) != 0 { return .null }
        return switch call.pointee.PQftype(result, column) {
        case ObjectID.integer8, ObjectID.integer4, ObjectID.integer2, ObjectID.bool, ObjectID.objectID,
            ObjectID.numeric:
            .integer
        case ObjectID.text, ObjectID.varchar, ObjectID.name, ObjectID.unknown: .text
        default: .blob
        }
    }

    /// The value of a column whatever its type.
    package func value(_ column: CInt) -> Value {
        switch kind(column) {
        case .integer: .integer(integer(column))
        case .text: .text(text(column))
        case .blob: .blob(blob(column))
        case .null: .null
        }
    }

    /// The number of columns of the answer.
    package var columnCount: CInt { call.pointee.PQnfields(result) }

    package func name(_ column: CInt) -> String {
        call.pointee.PQfname(result, column).map { String(cString: $0) } ?? ""
    }

    /// A `numeric` without its fraction: 16-bit count of digits, weight, sign and scale, then digits to the base
    /// 10,000.
    private static func integer(ofNumeric bytes: UnsafeRawBufferPointer) -> Int64 {
        func field(_ index: Int) -> Int16 {
            Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: Int16.self))
        }
        guard bytes.count >= 8, bytes.count == 8 + Int(field(0)) * 2 else { return 0 }
        var number: Int64 = 0
        for position in 0..<max(0, Int(field(1)) + 1) {
            let digit = position < Int(field(0)) ? Int64(field(4 + position)) : 0
            // A number that is too long stops at the end of the range, on the side of its sign.
            let (product, isTooLong) = number.multipliedReportingOverflow(by: 10_000)
            let (sum, isOver) = product.subtractingReportingOverflow(digit)
            guard !isTooLong, !isOver else { return field(2) == 0 ? .max : .min }
            number = sum
        }
        if field(2) != 0 { return number }
        return number == .min ? .max : -number
    }
}

extension CanonicalValues {
    /// Adds columns of a row, without making strings of them.
    package func append(_ row: Row, _ columns: Range<CInt>) {
        for column in columns {
            let kind = row.kind(column)
            switch kind {
            case .integer: append(row.integer(column))
            case .text, .blob: append(row.bytes(column), as: kind)
            case .null: appendNull()
            }
        }
    }
}

/// The answer to a question that was asked without waiting for it.
///
/// Questions that do not depend on each other are asked one after another and then read: one round trip for all.
package final class Answer {
    /// The connection holds an answer that it owes, and fails it before it goes.
    ///
    /// A weak reference would make each use of the connection slower.
    private unowned let connection: Connection
    private let sent: SentValues?
    private var outcome: Result<Rows, PostgreSQLError>?

    init(_ connection: Connection, sent: SentValues? = nil) { (self.connection, self.sent) = (connection, sent) }

    var isComplete: Bool { outcome != nil }

    func complete(_ rows: Rows) {
        rows.sent = sent
        outcome = .success(rows)
    }

    func fail(_ error: PostgreSQLError) { outcome = .failure(error) }

    /// The rows, for which the call waits if they are not there yet.
    package func rows() throws -> Rows {
        if outcome == nil {
            do {
                try connection.settle()
            } catch {
                // Outside a transaction another question's failure is not one of this answer.
                let isOwn = outcome == nil || connection.isInTransaction
                if isOwn || (error as? PostgreSQLError)?.code == .notReplicated { throw error }
            }
        }
        guard let outcome else { throw PostgreSQLError.closed }
        return try outcome.get()
    }

    package func forEach(_ body: (Row) throws -> Void) throws { try rows().forEach(body) }

    package func all<Result>(_ body: (Row) throws -> Result) throws -> [Result] { try rows().all(body) }

    package func first<Result>(_ body: (Row) throws -> Result) throws -> Result? { try rows().first(body) }

    /// The first column of the first row as an integer, or nil if the result is empty.
    package func integer() throws -> Int64? { try first { $0.integer(0) } }

    /// The number of rows that the statement changed or returned.
    package func count() throws -> Int { try rows().affected }
}

/// The object ids of PostgreSQL's own types, which are the same on every server.
enum ObjectID {
    static let bool: Oid = 16
    static let bytes: Oid = 17
    static let name: Oid = 19
    static let integer8: Oid = 20
    static let integer2: Oid = 21
    static let integer4: Oid = 23
    static let text: Oid = 25
    static let objectID: Oid = 26
    static let unknown: Oid = 705
    static let varchar: Oid = 1043
    static let numeric: Oid = 1700
}
