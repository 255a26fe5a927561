import Crypto
import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    /// The key of what outlives accounts.
    ///
    /// Without it the marks that were made under it cannot be traced to accounts, as if they were deleted as well.
    static let markKey = SealedTable(
        "mark_key",
        isOwned: false,
        clear: [],
        sealed: ["secret"],
        whenAltered: .countsForNothing
    )
}

extension StoreConnection {
    func askAheadForMarkKey() throws { try connection.askAhead(Self.markKeyRow) }

    private static let markKeyRow = SQL(SealedTable.markKey.selection + "WHERE t.id = 1")

    /// The keyed hash by which what outlives an account names it; nil where no account ever had one.
    func mark(of id: Account.ID) throws -> [UInt8]? {
        try currentMarkKey().map { mark(of: id, under: $0) }
    }

    private func mark(of id: Account.ID, under key: MarkKey) -> [UInt8] {
        let mark = key.mark(of: id)
        if connection.isInTransaction { latestMark = (id, mark) }
        return mark
    }

    /// The key of the marks; nil where there is none yet, or it was altered and counts for none.
    func currentMarkKey() throws -> MarkKey? {
        guard case .key(let key)? = try storedMarkKey() else { return nil }
        return key
    }

    private enum StoredMarkKey {
        case key(MarkKey)
        case altered([UInt8])
    }

    private func storedMarkKey() throws -> StoredMarkKey? {
        if presumption != nil { return markKey.map { .key($0) } }
        let stored = try connection.first(Self.markKeyRow) { row -> StoredMarkKey in
            // The bytes of the row say whether the kept key is still the one: a rekey seals it anew.
            let sealed = row.blob(SealedTable.markKey.firstSealed)
            if let known = markKey, known.sealed == sealed { return .key(known) }
            guard let secret = try intact({ try open(row, of: .markKey) }) else { return .altered(sealed) }
            let key = secret.withUnsafeBytes { HMAC<SHA256>(key: SymmetricKey(data: $0)) }
            return .key(MarkKey(sealed: sealed, key: key))
        }
        // The next session need not learn what is known.
        if case .key(let key)? = stored, key.sealed != markKey?.sealed { markKey = key }
        return stored
    }

    /// The marks of accounts, at most as many as the record of use has entries.
    func accountsByMark() throws -> [[UInt8]: Account.ID] {
        let ids = try connection.all(
            "SELECT authority, home_account_id FROM account ORDER BY id DESC LIMIT ?1",
            .integer(StoreEvent.limit)
        ) { Account.ID(issuer: $0.text(0), homeAccountID: $0.text(1)) }
        guard !ids.isEmpty, let key = try currentMarkKey() else { return [:] }
        return Dictionary(ids.map { (key.mark(of: $0), $0) }) { first, _ in first }
    }

    /// As ``mark(of:)``, making the key if there is none yet, or none that opens.
    func newMark(of id: Account.ID) throws -> [UInt8] {
        if let latestMark, latestMark.id == id { return latestMark.mark }
        switch try storedMarkKey() {
        case .key(let key): return mark(of: id, under: key)
        case .altered(let sealed): try forgetMarks(under: sealed)
        case nil: break
        }
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { Secret(copying: $0) }
        try write(.markKey, id: nil, new: 1, clear: [], sealed: [secret])
        guard let mark = try mark(of: id) else { throw TokenStoreError.storage("a new key was not stored", .retry) }
        return mark
    }

    /// Deletes a key of marks that does not open, with the sign-outs under it, and says so in the record of use.
    ///
    /// Another program may have put one in its place meanwhile, which stays.
    func forgetMarks(under sealed: [UInt8]) throws {
        guard try connection.changing("DELETE FROM mark_key WHERE id = 1 AND secret = ?1", .blob(sealed)) > 0 else {
            return
        }
        try connection.run("DELETE FROM sign_out")
        try record(.repair, outcome: StoreEvent.forgottenMarks)
    }
}

/// The key of the marks of accounts, with the sealed bytes that it was opened from.
struct MarkKey {
    let sealed: [UInt8]
    let key: HMAC<SHA256>

    func mark(of id: Account.ID) -> [UInt8] {
        var code = key
        // The length of the first text tells where it ends.
        code.update(data: Array("\(id.issuer.utf8.count):\(id.issuer)\(id.key)".utf8))
        return code.finalize().withUnsafeBytes { [UInt8]($0.prefix(16)) }
    }
}
