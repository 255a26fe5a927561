import Crypto
import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// The sign-in state of an account at a client; of one that is gone, whether it signed out.
    func signInState(of id: Account.ID, client: String) throws -> SignInState {
        if let row = try accountRow(id) { return try signInState(of: row, client: client) }
        guard let mark = try mark(of: id) else { return .unknown }
        let isSignedOut = try connection.integer(
            "SELECT 1 FROM sign_out WHERE account_mark = ?1 AND client_fold = ?2",
            .blob(mark),
            .text(client.folded)
        )
        return isSignedOut == nil ? .unknown : .signedOut
    }

    private func signInState(of account: Int64, client: String) throws -> SignInState {
        let state = try connection.first(
            "SELECT state FROM account_state WHERE account_id = ?1 AND client_fold = ?2",
            .integer(account),
            .text(client.folded)
        ) { $0.text(0) }
        return state.flatMap(SignInState.init(stored:)) ?? .unknown
    }

    /// The clients, folded, that an account is signed in to by its state; they may hold no token of it.
    func signedInClients(_ account: Int64) throws -> [String] {
        try connection.all(
            "SELECT client_fold FROM account_state WHERE account_id = ?1 AND state = 'signed_in'",
            .integer(account)
        ) { $0.text(0) }
    }

    func setSignInState(_ state: SignInState, of account: Int64, client: String) throws {
        try connection.run(
            """
            INSERT INTO account_state (account_id, client_fold, state, changed_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
                WHERE state <> excluded.state
            """,
            .integer(account),
            .text(client.folded),
            .text(state.stored),
            .integer(now)
        )
    }
}

// MARK: - Accounts that are gone

extension StoreSession {
    /// Remembers the sign-outs of an account whose row is about to go, without its name.
    func keepSignOuts(of id: Account.ID, row: Int64) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO sign_out (account_mark, client_fold, changed_at)
            SELECT ?1, client_fold, changed_at FROM account_state WHERE account_id = ?2 AND state = 'signed_out'
            """,
            .blob(try newMark(of: id)),
            .integer(row)
        )
    }

    /// Remembers that an account which is not stored signed out of a client.
    func keepSignOut(of id: Account.ID, client: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO sign_out (account_mark, client_fold, changed_at) VALUES (?1, ?2, ?3)",
            .blob(try newMark(of: id)),
            .text(client.folded),
            .integer(now)
        )
    }

    /// Gives the new row of an account the sign-outs that were remembered of it.
    func takeBackSignOuts(of id: Account.ID, row: Int64) throws {
        guard let mark = try mark(of: id) else { return }
        let isKnown = try connection.run(
            """
            INSERT INTO account_state (account_id, client_fold, state, changed_at)
            SELECT ?2, client_fold, 'signed_out', changed_at FROM sign_out WHERE account_mark = ?1
            """,
            .blob(mark),
            .integer(row)
        )
        if isKnown > 0 { try connection.run("DELETE FROM sign_out WHERE account_mark = ?1", .blob(mark)) }
    }

    /// The keyed hash by which what outlives an account names it; nil where no account ever had one.
    func mark(of id: Account.ID) throws -> [UInt8]? {
        let sealed = try connection.first("SELECT secret FROM mark_key WHERE id = 1") { $0.blob(0) }
        guard let sealed else { return nil }
        // The bytes of the row say whether the kept key is still the one: a rekey seals it anew.
        if let known = markKey, known.sealed == sealed { return known.mark(of: id) }
        let secret = try sealed.withUnsafeBytes { try open($0, as: .markKey) }
        let opened = MarkKey(sealed: sealed, key: secret.withUnsafeBytes { HMAC(key: SymmetricKey(data: $0)) })
        markKey = opened
        return opened.mark(of: id)
    }

    /// As ``mark(of:)``, making the key if there is none yet.
    func newMark(of id: Account.ID) throws -> [UInt8] {
        if let mark = try mark(of: id) { return mark }
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { Secret(copying: $0) }
        try connection.run(
            "INSERT INTO mark_key (id, secret) VALUES (1, ?1)",
            .blob(try seal(secret, as: .markKey))
        )
        guard let mark = try mark(of: id) else { throw TokenStoreError.storage("a new key was not stored; try again") }
        return mark
    }
}

/// The key of the marks of accounts, with the sealed bytes that it was opened from.
struct MarkKey {
    let sealed: [UInt8]
    let key: HMAC<SHA256>

    func mark(of id: Account.ID) -> [UInt8] {
        var code = key
        // The length of the first text tells where it ends.
        code.update(data: Array("\(id.authority.utf8.count):\(id.authority)\(id.key)".utf8))
        return code.finalize().withUnsafeBytes { [UInt8]($0.prefix(16)) }
    }
}

extension SealedPlace {
    fileprivate static let markKey = SealedPlace(table: "mark_key", column: "secret", row: 1)
}
