/// An error of PostgreSQL or of the way to it: its code, a message and the statement, never the values bound to it.
package struct PostgreSQLError: Error, Hashable {
    package let code: Code
    package let message: String
    /// The statement's number in its transaction, from 1.
    package let statement: Int?
    package let sql: String?
    package let state: ConnectionState

    package init(
        _ code: Code,
        _ message: String,
        statement: Int? = nil,
        sql: String? = nil,
        state: ConnectionState = .usable
    ) {
        self.code = code
        self.message = Self.bounded(message)
        self.statement = statement
        self.sql = sql
        self.state = state
    }

    /// What became of the connection, and so of the transaction.
    package enum ConnectionState: Hashable, Sendable {
        /// The connection can be used again; the transaction did not happen.
        case usable
        /// The connection is gone, and the transaction did not happen.
        case lost
        /// The connection went after the commit was sent, so that the transaction may have happened or not.
        case lostAfterCommit
    }

    /// A connection that its own program has closed.
    static var closed: PostgreSQLError {
        PostgreSQLError(.connectionLost, "the connection was closed", state: .lost)
    }

    private static let longest = 500

    private static func bounded(_ message: String) -> String {
        message.count > longest ? message.prefix(longest) + "…" : message
    }
}

extension PostgreSQLError {
    /// A SQLSTATE of the server, or a word of this binding where the server said nothing; an open set.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// An address that cannot be used as it is written.
        package static let address = Code(rawValue: "address")
        /// A server's or a client's certificate that was refused.
        package static let certificate = Code(rawValue: "certificate")
        /// A text of the database that is not of its encoding.
        package static let brokenText = Code(rawValue: "broken text")
        /// A row that cannot be deleted, as a table of another schema refers to it.
        package static let referredTo = Code(rawValue: "referred to")
        /// A connection that ended.
        package static let connectionLost = Code(rawValue: "connection lost")
        /// A commit that a synchronous standby may not have.
        package static let notReplicated = Code(rawValue: "not replicated")
        /// A server without TLS where it was asked for.
        package static let noEncryption = Code(rawValue: "no encryption")
        /// A server that asks for a password while the file of passwords is open to others, so that it is not read.
        package static let passwordFile = Code(rawValue: "password file")
        /// A setting from the address, the environment or the role that the server or libpq does not know.
        package static let setting = Code(rawValue: "setting")
        /// A server that did not let the program in in time.
        package static let notConnected = Code(rawValue: "not connected")
        /// No connection of the pool became free in time.
        package static let poolExhausted = Code(rawValue: "pool exhausted")
        /// A pooler that gives each statement another session, so that there are no transactions.
        package static let statementPooler = Code(rawValue: "statement pooler")
        /// An answer that did not come in time.
        package static let timedOut = Code(rawValue: "timed out")
        /// A server that nothing answers for.
        package static let unreachable = Code(rawValue: "unreachable")
        /// libpq is missing, or it or the server is too old.
        package static let unsupported = Code(rawValue: "unsupported")
        /// A server that may not be written to, or that is not of the kind that the address asks for.
        package static let wrongKindOfServer = Code(rawValue: "wrong kind of server")

        package static let cannotConnectNow = Code(rawValue: "57P03")
        /// A session that the server ended, as when it stops.
        package static let adminShutdown = Code(rawValue: "57P01")
        /// A session that ended with another one's process.
        package static let crashShutdown = Code(rawValue: "57P02")
        package static let characterNotInRepertoire = Code(rawValue: "22021")
        package static let connectionFailure = Code(rawValue: "08006")
        package static let deadlockDetected = Code(rawValue: "40P01")
        package static let divisionByZero = Code(rawValue: "22012")
        package static let diskFull = Code(rawValue: "53100")
        package static let duplicateObject = Code(rawValue: "42710")
        package static let duplicateStatement = Code(rawValue: "42P05")
        package static let duplicateTable = Code(rawValue: "42P07")
        package static let failedTransaction = Code(rawValue: "25P02")
        package static let foreignKeyViolation = Code(rawValue: "23503")
        /// A letter that the database's encoding lacks.
        package static let untranslatableCharacter = Code(rawValue: "22P05")
        /// One that an operator has set, as of temporary files.
        package static let limitExceeded = Code(rawValue: "53400")
        package static let internalError = Code(rawValue: "XX000")
        package static let invalidAuthorization = Code(rawValue: "28000")
        package static let invalidPassword = Code(rawValue: "28P01")
        package static let lockNotAvailable = Code(rawValue: "55P03")
        package static let permission = Code(rawValue: "42501")
        package static let protocolViolation = Code(rawValue: "08P01")
        package static let readOnlyTransaction = Code(rawValue: "25006")
        package static let serializationFailure = Code(rawValue: "40001")
        package static let tooManyConnections = Code(rawValue: "53300")
        package static let undefinedColumn = Code(rawValue: "42703")
        package static let undefinedObject = Code(rawValue: "42704")
        package static let undefinedTable = Code(rawValue: "42P01")
        package static let uniqueViolation = Code(rawValue: "23505")
        package static let unknownDatabase = Code(rawValue: "3D000")
        package static let unknownStatement = Code(rawValue: "26000")

        /// The first two characters of a SQLSTATE, for example 23 for a broken constraint.
        package var category: Substring { rawValue.prefix(2) }

        /// Whether the same transaction may succeed when it runs again from its start.
        package var isRetryable: Bool { self == .serializationFailure || self == .deadlockDetected }
    }

    /// What `sqlState` means; a pooler gives one code to most of what it refuses.
    static func meaning(_ sqlState: String, _ text: String) -> Code {
        let code = Code(rawValue: sqlState)
        // The program sends texts that are whole: what it may send in vain is a NUL character.
        if code == .characterNotInRepertoire, !text.hasSuffix(": 0x00") { return .brokenText }
        // Of Citus, whose other machine went away.
        if code == .internalError, text.contains("connection marked as essential") { return .connectionFailure }
        return code == .protocolViolation && text.contains("transaction blocks not allowed") ? .statementPooler : code
    }

    /// Whether a commit may have happened although the server says that it failed: it failed in another machine of a
    /// cluster, or somewhere unforeseen.
    static func leavesOpen(_ sqlState: String) -> Bool {
        let code = Code(rawValue: sqlState)
        return code == .internalError || code.category == "08"
    }

    /// Whether a warning that comes with a commit says that no standby was waited for.
    ///
    /// Citus warns of a machine that has prepared the transaction, and will commit it later.
    static func tellsOfStandby(_ sqlState: String?, _ text: String?) -> Bool {
        guard sqlState == "01000" || sqlState == "57P01" else { return false }
        return text?.hasPrefix("failed to commit transaction on ") != true
    }

    /// What the server says of `sqlState`; its sentence is left out where it quotes a value.
    static func message(_ sqlState: String, _ text: String) -> String {
        sqlState.hasPrefix("22") ? "the server refused a value" : text
    }
}

extension PostgreSQLError: CustomStringConvertible {
    package var description: String {
        "PostgreSQL error \(code.rawValue): \(message)" + (sql.map { " in \"\($0)\"" } ?? "")
    }
}
