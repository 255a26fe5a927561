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
                let row = try session.accountRow(account)
                return try session.events(of: row, mark: mark).suffix(limit).reversed()
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

extension StoreSession {
    func lastEvent() throws -> Int64 { try connection.integer("SELECT max(id) FROM event") ?? 0 }

    /// The entries after one, oldest first.
    func events(after id: Int64) throws -> [StoreEvent] {
        try connection.all(
            """
            SELECT e.id, e.at, e.program, e.process_id, e.kind, e.outcome, a.authority, a.home_account_id, e.client_id,
                e.account_mark
            FROM event e LEFT JOIN account a ON a.id = e.account_id WHERE e.id > ?1 ORDER BY e.id
            """,
            .integer(id),
            body: StoreEvent.init
        )
    }

    /// The marks of accounts, at most as many as the record of use has entries.
    func accountsByMark() throws -> [[UInt8]: Account.ID] {
        var accounts: [[UInt8]: Account.ID] = [:]
        try connection.forEach(
            "SELECT authority, home_account_id FROM account ORDER BY id DESC LIMIT ?1",
            .integer(StoreEvent.limit)
        ) { row in
            let id = Account.ID(authority: row.text(0), homeAccountID: row.text(1))
            if let mark = try mark(of: id) { accounts[mark] = id }
        }
        return accounts
    }

    /// Entries from before there were marks name the row alone.
    fileprivate func events(of row: Int64?, mark: [UInt8]) throws -> [StoreEvent] {
        try connection.all(
            """
            SELECT e.id, e.at, e.program, e.process_id, e.kind, e.outcome, a.authority, a.home_account_id, e.client_id,
                e.account_mark
            FROM event e LEFT JOIN account a ON a.id = e.account_id WHERE e.account_mark = ?1 OR e.account_id = ?2
            ORDER BY e.id
            """,
            .blob(mark),
            .optional(row),
            body: StoreEvent.init
        )
    }

    fileprivate func events(of fingerprint: [UInt8]) throws -> [StoreEvent] {
        try connection.all(
            """
            SELECT e.id, e.at, e.program, e.process_id, e.kind, e.outcome, a.authority, a.home_account_id, e.client_id,
                e.account_mark
            FROM event e LEFT JOIN account a ON a.id = e.account_id WHERE e.fingerprint = ?1 ORDER BY e.id
            """,
            .blob(fingerprint),
            body: StoreEvent.init
        )
    }
}

extension StoreEvent {
    fileprivate init(_ row: Row) {
        id = row.integer(0)
        at = row.integer(1)
        program = row.text(2)
        processID = row.integer(3)
        kind = Kind(rawValue: row.text(4))
        outcome = row.text(5)
        account = row.optionalText(7).map { Account.ID(authority: row.text(6), homeAccountID: $0) }
        clientID = row.optionalText(8)
        accountMark = row.optionalBlob(9)
    }
}
