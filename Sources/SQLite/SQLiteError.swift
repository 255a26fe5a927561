import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An error of SQLite: its extended result code, its message and the statement, never the values bound to it.
package struct SQLiteError: Error, Hashable {
    package let code: Code
    package let message: String
    package let sql: String?

    package init(code: Code, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    /// The error that `handle` reports for its latest call, which returned `result`.
    init(_ result: CInt, on handle: OpaquePointer?, sql: String? = nil) {
        let reported = handle.map { sqlite3_extended_errcode($0) } ?? result
        let matches = reported & 0xFF == result & 0xFF
        // Of a quota that is used up, and of an index of the log that finds no room, SQLite says an I/O error.
        let isFull =
            matches && result & 0xFF == SQLITE_IOERR
            && handle.map { [ENOSPC, EDQUOT].contains(sqlite3_system_errno($0)) } ?? false
        code = Code(rawValue: isFull ? SQLITE_FULL : matches ? reported : result)
        let text = matches && !isFull ? handle.flatMap { sqlite3_errmsg($0) } : sqlite3_errstr(code.rawValue)
        message = text.map { String(cString: $0) } ?? "error \(result)"
        self.sql = sql
    }
}

extension SQLiteError {
    /// An extended result code; SQLite adds new ones, so this is an open set.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: CInt

        package init(rawValue: CInt) { self.rawValue = rawValue }

        /// The code without its extension.
        package var primary: Code { Code(rawValue: rawValue & 0xFF) }

        package static let busy = Code(rawValue: SQLITE_BUSY)
        package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
        package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        package static let diskFull = Code(rawValue: SQLITE_FULL)
        /// SQL that does not fit the tables.
        package static let generic = Code(rawValue: SQLITE_ERROR)
        package static let ioError = Code(rawValue: SQLITE_IOERR)
        package static let locked = Code(rawValue: SQLITE_LOCKED)
        package static let notADatabase = Code(rawValue: SQLITE_NOTADB)
        package static let permission = Code(rawValue: SQLITE_PERM)
        package static let authorization = Code(rawValue: SQLITE_AUTH)
        package static let readOnly = Code(rawValue: SQLITE_READONLY)

        /// Another process makes the index of the log, or is stopped in the middle of that.
        ///
        /// SQLite waits ten seconds before it says so, whatever the time limit.
        package static let indexIsHeld = Code(rawValue: SQLITE_PROTOCOL)
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        "SQLite error \(code.rawValue): \(message)" + (sql.map { " in \"\($0)\"" } ?? "")
    }
}
