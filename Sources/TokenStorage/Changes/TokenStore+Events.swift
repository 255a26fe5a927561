public import OAuth
import SQLite
import Sealing

extension TokenStore {
    /// The record of use, newest first: what was done, by which program.
    public func events(limit: Int = 100) throws -> [StoreEvent] {
        try read { session in Array(try session.events(after: 0).suffix(limit).reversed()) }
    }

    /// The last entries that concern an account, newest first; also of one that is gone.
    public func events(of account: Account.ID, limit: Int = 100) throws -> [StoreEvent] {
        try read { session in
            try session.connection.read {
                guard let mark = try session.mark(of: account) else { return [] }
                return try session.events(ofMark: mark).suffix(limit).reversed()
            }
        }
    }

    /// The last entries that concern a refresh token, newest first, to recognise a race or a stolen token by.
    public func events(of token: RefreshToken, limit: Int = 10) throws -> [StoreEvent] {
        try read { session in
            try session.connection.read {
                let fingerprints = try session.currentKeys().all.map { $0.fingerprint(token.secret) }
                return try fingerprints.flatMap { try session.events(of: $0) }.suffix(limit).reversed()
            }
        }
    }
}

extension StoreConnection {
    func lastEvent() throws -> Int64 { try connection.integer("SELECT max(id) FROM event") ?? 0 }

    /// The entries after one, oldest first.
    func events(after id: Int64) throws -> [StoreEvent] { try events(Self.eventsAfter, .integer(id)) }

    /// The marks of accounts, at most as many as the record of use has entries.
    func accountsByMark() throws -> [[UInt8]: Account.ID] {
        var accounts: [[UInt8]: Account.ID] = [:]
        try connection.forEach(
            "SELECT authority, home_account_id FROM account ORDER BY id DESC LIMIT ?1",
            .integer(StoreEvent.limit)
        ) { row in
            let id = Account.ID(issuer: row.text(0), homeAccountID: row.text(1))
            if let mark = try mark(of: id) { accounts[mark] = id }
        }
        return accounts
    }

    fileprivate func events(ofMark mark: [UInt8]) throws -> [StoreEvent] { try events(Self.eventsOfMark, .blob(mark)) }

    fileprivate func events(of fingerprint: [UInt8]) throws -> [StoreEvent] {
        try events(Self.eventsOfToken, .blob(fingerprint))
    }

    /// Whether an answer was dealt with that had waited in a file.
    func isTakenIn(_ mark: String) throws -> Bool {
        try events(Self.eventsOfOutcome, .text(mark)).contains { $0.kind == .takeIn }
    }

    private static let eventsAfter = SQL(entries + "WHERE t.id > ?1 ORDER BY t.id")
    private static let eventsOfMark = SQL(entries + "WHERE t.account_mark = ?1 ORDER BY t.id")
    private static let eventsOfToken = SQL(entries + "WHERE t.fingerprint = ?1 ORDER BY t.id")
    private static let eventsOfOutcome = SQL(entries + "WHERE t.outcome = ?1")
    private static var entries: String {
        SealedTable.event.selection(with: "a.authority, a.home_account_id")
            + "LEFT JOIN account a ON a.id = t.account_id "
    }

    private func events(_ sql: SQL, _ value: Value) throws -> [StoreEvent] {
        try connection.all(sql, value) { row in try isIntact(row, of: .event) ? event(row) : nil }.compactMap(\.self)
    }

    private func event(_ row: Row) throws -> StoreEvent {
        let (table, end) = (SealedTable.event, SealedTable.event.end)
        let mark = row.optionalBlob(table["account_mark"])
        let account = row.optionalText(end + 1).map { Account.ID(issuer: row.text(end), homeAccountID: $0) }
        // The row says which account has the mark now; only one of the mark is believed.
        let isOfMark = try account.map { try self.mark(of: $0) == mark } ?? false
        return StoreEvent(
            id: row.integer(0),
            at: row.integer(table["at"]),
            program: row.text(table["program"]),
            processID: row.integer(table["process_id"]),
            kind: StoreEvent.Kind(rawValue: row.text(table["kind"])),
            outcome: row.text(table["outcome"]),
            account: isOfMark ? account : nil,
            accountMark: mark,
            clientID: row.optionalText(table["client_id"])
        )
    }
}

/// An entry of the record of use.
public struct StoreEvent: Hashable, Sendable, Identifiable {
    /// What was done; later versions add kinds, so this is an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let signIn = Kind(rawValue: "sign_in")
        public static let refresh = Kind(rawValue: "refresh")
        public static let signOut = Kind(rawValue: "sign_out")
        public static let refused = Kind(rawValue: "refused")
        public static let purge = Kind(rawValue: "purge")
        public static let `import` = Kind(rawValue: "import")
        public static let rekey = Kind(rawValue: "rekey")
        /// An answer that had waited in a file was dealt with; the outcome names the file.
        public static let takeIn = Kind(rawValue: "take_in")
    }

    /// Rises by one with every entry.
    public let id: Int64

    /// Unix seconds.
    public let at: Int64
    public let program: String
    public let processID: Int64
    public let kind: Kind
    public let outcome: String

    /// The account concerned; nil where it is about several, or none, or one that is gone.
    public let account: Account.ID?

    /// Keyed hash of the account concerned, which outlives it.
    let accountMark: [UInt8]?
    public let clientID: String?

    /// How many entries are kept.
    static let limit: Int64 = 2_000
}
