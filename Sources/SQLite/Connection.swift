import CSQLite
package import SQL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open SQLite database.
///
/// A connection is deliberately not `Sendable`: it belongs to the thread that opened it.
package final class Connection {
    package let handle: OpaquePointer
    private let busyHandler: BusyHandler

    private var statements = StatementCache()

    /// How a file is opened; a connection never creates one.
    package enum Mode: Sendable {
        case readWrite
        /// Without writing to the index of the log either, which must exist.
        case readOnly
        /// Without locks and without looking for a log: only for a file that no program is writing.
        case immutable
        /// Without locks, together with a log whose index this connection makes for itself, in memory; the log has to
        /// be there. Only for files that no program is writing.
        case privateIndex
        /// For writing, without locks, with the index of the log in memory: only for a file that no other program can
        /// open meanwhile.
        case alone
        /// A private database in memory.
        case memory
    }

    /// Opens the database at `path`, which must not lead through a symbolic link.
    ///
    /// A call that meets another connection's lock waits up to `busyTimeout` for it.
    package init(path: String, mode: Mode, busyTimeout: Duration) throws(SQLiteError) {
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(Self.uri(path, mode), &opened, Self.flags(mode), Self.files(mode).name)
        guard result == SQLITE_OK, let opened else {
            let error = SQLiteError(result, on: opened)
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        SQLiteIgnoreTriggersAndViews(handle)
        busyHandler = BusyHandler(timeout: busyTimeout)
        busyHandler.install(on: handle)
        if mode == .privateIndex || mode == .alone {
            SQLiteKeepLogOnClose(handle)
            // Set before the first look at the log: the index of its only user needs no shared memory.
            try execute("PRAGMA locking_mode = EXCLUSIVE")
        }
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Has SQLite not count the memory it takes: the count is not used, and costs a lock at each allocation.
    ///
    /// It is for the whole process, and before its first connection.
    package static func leaveMemoryUncounted() { SQLiteLeaveMemoryUncounted() }

    package var busyTimeout: Duration {
        get { busyHandler.timeout }
        set { busyHandler.timeout = newValue }
    }

    /// The number of rows the latest statement changed.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    /// The number of rows that all statements of the connection have changed.
    package var totalChanges: Int { Int(sqlite3_total_changes(handle)) }

    /// Runs one or more statements that take no values, such as a migration.
    package func execute(_ script: String) throws(SQLiteError) {
        let result = sqlite3_exec(handle, script, nil, nil, nil)
        guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, sql: script) }
    }

    /// A statement made for this call, for SQL that is put together at run time.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try sql.withCString { text in
            Result { () throws(SQLiteError) in try Statement(text, length: -1, on: handle) }
        }.get()
    }

    /// The prepared statement of a literal, kept for the next call.
    package func statement(_ sql: StaticString) throws(SQLiteError) -> Statement {
        let address = UnsafeRawPointer(sql.utf8Start)
        if let known = statements[address] { return known }
        let text = address.assumingMemoryBound(to: CChar.self)
        let statement = try Statement(text, length: CInt(sql.utf8CodeUnitCount), on: handle)
        statements.insert(statement, at: address)
        return statement
    }

    /// The prepared statement of a text that was put together once, kept for the next call.
    package func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
        let address = UnsafeRawPointer(Unmanaged.passUnretained(sql).toOpaque())
        if let known = statements[address] { return known }
        let statement = try prepare(sql.sqlite)
        statements.insert(statement, at: address)
        return statement
    }

    private static func flags(_ mode: Mode) -> CInt {
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        return switch mode {
        case .readWrite, .alone: common | SQLITE_OPEN_READWRITE
        case .readOnly, .immutable, .privateIndex: common | SQLITE_OPEN_READONLY
        case .memory: common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY
        }
    }

    private static func uri(_ path: String, _ mode: Mode) -> String {
        guard mode != .memory else { return ":memory:" }
        var uri = "file:"
        for byte in path.utf8 {
            let isReserved = byte < 0x21 || byte > 0x7E || "?#%".utf8.contains(byte)
            uri += isReserved ? "%" + hexadecimal(byte) : String(Unicode.Scalar(byte))
        }
        return switch mode {
        case .immutable: uri + "?immutable=1"
        case .readOnly: uri + "?readonly_shm=1"
        case .readWrite, .privateIndex, .alone, .memory: uri
        }
    }

    private static func files(_ mode: Mode) -> Files {
        switch mode {
        // A file open for reading only cannot be locked for this connection alone, as the locking mode wants it.
        case .privateIndex, .alone: .unlocked
        case .readWrite, .readOnly, .immutable, .memory: .locked
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}

/// A way to open files that SQLite knows: one of its own, but no super-journal is opened, and so none deleted.
private struct Files: Sendable {
    static let locked = Files("tokenstore", like: nil)
    static let unlocked = Files("tokenstore-none", like: "unix-none")

    private let text: StaticString

    /// Under a name that it does not know, SQLite opens nothing.
    var name: UnsafePointer<CChar> { UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self) }

    private init(_ name: StaticString, like original: String?) {
        text = name
        SQLiteRegisterFiles(self.name, original)
    }
}

/// Waits for another connection's lock with random sleeps, short ones at first, up to a time limit.
///
/// SQLite's own `busy_timeout` sleeps up to 100 ms at a time, so one unlucky waiter starves.
private final class BusyHandler {
    var timeout: Duration
    private var start = ContinuousClock.now

    init(timeout: Duration) { self.timeout = timeout }

    /// Makes this the busy handler of `handle`, which must not outlive it.
    func install(on handle: OpaquePointer) {
        sqlite3_busy_handler(
            handle,
            { context, attempt in
                guard let context else { return 0 }
                return Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue().wait(attempt: attempt) ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func wait(attempt: CInt) -> Bool {
        if attempt == 0 { start = .now }
        guard ContinuousClock.now - start < timeout else { return false }
        // Longer the longer it waits: a hundred waiters that all look every half millisecond leave the one that
        // holds the lock no processor to give it back on.
        let longest = min(500_000 << min(attempt / 4, 6), 20_000_000)
        var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 100_000...Int(longest)))
        nanosleep(&pause, nil)
        return true
    }
}
