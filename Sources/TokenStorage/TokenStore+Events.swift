public import OAuth
import SQLite
import Sealing

extension TokenStore {
    /// The record of use, newest first: what was done, by which program.
    public func events(limit: Int = 100) throws -> [StoreEvent] {
        try read { session in Array(try session.events(after: 0).suffix(limit).reversed()) }
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
            SELECT id, at, program, process_id, kind, outcome, authority, home_account_id, client_id FROM event
            WHERE id > ?1 ORDER BY id
            """,
            .integer(id),
            body: StoreEvent.init
        )
    }

    fileprivate func events(of fingerprint: [UInt8]) throws -> [StoreEvent] {
        try connection.all(
            """
            SELECT id, at, program, process_id, kind, outcome, authority, home_account_id, client_id FROM event
            WHERE fingerprint = ?1 ORDER BY id
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
    }
}
