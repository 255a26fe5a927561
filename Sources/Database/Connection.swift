// A caller of a database meets the errors and the settings of both engines; what has the same name here and
// there is the one that is for both.
@_exported public import PostgreSQL
@_exported public import SQL
@_exported public import SQLite

/// A connection to the database of a store: a file, or a server.
///
/// One that is neither copied nor shared: like the connection below it belongs to the caller that holds it.
package final class Connection {
    /// What the connection leads to.
    package enum Engine {
        case file(SQLite.Connection)
        case server(PostgreSQL.Connection)
    }

    package let engine: Engine

    package init(_ engine: Engine) { self.engine = engine }

    /// Opens the database file at `path`, which must not lead through a symbolic link.
    package convenience init(path: String, mode: Mode, busyTimeout: Duration) throws(SQLiteError) {
        self.init(.file(try SQLite.Connection(path: path, mode: mode, busyTimeout: busyTimeout)))
    }

    package typealias Mode = SQLite.Connection.Mode

    /// How the engine says what others say differently.
    package var dialect: Dialect {
        switch engine {
        case .file: .sqlite
        case .server: .postgreSQL
        }
    }

    package var isServer: Bool { dialect == .postgreSQL }

    /// The owner of a row that belongs to no account.
    package var noOwner: Value { isServer ? .integer(0) : .null }

    /// Whether a transaction is open.
    package var isInTransaction: Bool {
        switch engine {
        case .file(let connection): connection.isInTransaction
        case .server(let connection): connection.isInTransaction
        }
    }

    /// How long a statement waits: for the lock of another connection, or for the server.
    package var busyTimeout: Duration {
        get {
            switch engine {
            case .file(let connection): connection.busyTimeout
            case .server(let connection): connection.patience
            }
        }
        set {
            switch engine {
            case .file(let connection): connection.busyTimeout = newValue
            case .server(let connection): connection.patience = newValue
            }
        }
    }

    /// Runs `body`, in which statements wait for `timeout`.
    package func withBusyTimeout<Result>(_ timeout: Duration, _ body: () throws -> Result) rethrows -> Result {
        let usual = busyTimeout
        busyTimeout = timeout
        defer { busyTimeout = usual }
        return try body()
    }

    /// Runs one or more statements that take no values, such as a migration.
    package func execute(_ script: String) throws {
        switch engine {
        case .file(let connection): try connection.execute(script)
        case .server(let connection): try connection.execute(script)
        }
    }

    /// A statement made for this call, for SQL that is put together at run time.
    package func prepare(_ sql: String) throws -> Statement {
        switch engine {
        case .file(let connection): .file(try connection.prepare(sql))
        case .server(let connection): .server(connection.prepare(sql))
        }
    }
}
