import OAuth
import SQLite
import Sealing

/// What is computed from sealed values and not sealed itself: fingerprints, the claim index, identities of what is kept
/// aside. It finds rows and decides nothing.
extension StoreSession {
    /// Where it is not what the values say; rows that do not open are problems of their own.
    func derivedProblems() throws -> [StoreProblem] {
        try fingerprintProblems() + claimIndexProblems() + identityProblems() + accountHashProblems()
            + eventAccountProblems()
    }

    private func fingerprintProblems() throws -> [StoreProblem] {
        let table = SealedTable.refreshToken
        return try problems(table, column: "fingerprint", "is not that of the token") { row, sealer in
            try sealer.fingerprint(open(row, of: table)) == row.blob(table["fingerprint"])
        }
    }

    private func claimIndexProblems() throws -> [StoreProblem] {
        let table = SealedTable.idToken
        return try problems(table, column: "claim_index", "does not say what the ID token says") { row, sealer in
            // A token that cannot be decoded has no claims, and no index.
            let secret = try open(row, of: table)
            let claims = (try? IDToken(decoding: secret))?.claims
            let wanted = claims.map { Set(ClaimIndex(sealer).entries(of: $0)) } ?? []
            return try Set(claimEntries(row.integer(0))) == wanted
        }
    }

    private func identityProblems() throws -> [StoreProblem] {
        let table = SealedTable.foreignEntry
        return try problems(table, column: "identity", "is not that of the entry") { row, sealer in
            try foreignEntry(row).identity(sealer) == row.blob(table["identity"])
        }
    }

    /// An entry without the hash is opened by every sign-out; a wrong hash would hide it from its own account's.
    private func accountHashProblems() throws -> [StoreProblem] {
        let table = SealedTable.foreignEntry
        let keys = try currentKeys()
        return try problems(table, column: "account_hash", "is not that of the entry's account") { row, _ in
            let (hash, entry) = (row.optionalBlob(table["account_hash"]), try foreignEntry(row))
            // Those of before there were hashes get them when they are sealed anew.
            return hash == nil && keys.hasUnbound || keys.all.contains { entry.accountHash($0) == hash }
        }
    }

    private func eventAccountProblems() throws -> [StoreProblem] {
        try eventsOfOthers().map {
            StoreProblem(place: "event row \($0), account_id", problem: "is not the account of the entry")
        }
    }

    /// Entries of the record of use whose row of an account is not of the account that they are about.
    func eventsOfOthers() throws -> [Int64] {
        let mark = SealedTable.event["account_mark"]
        // Those of before there were marks get them when they are sealed anew.
        let hasUnmarked = try currentKeys().hasUnbound
        return try connection.all(Self.eventsOfAccounts) { row -> Int64? in
            let end = SealedTable.event.end
            let account = Account.ID(authority: row.text(end), homeAccountID: row.text(end + 1))
            let isRight = try row.isNull(mark) ? hasUnmarked : self.mark(of: account) == row.blob(mark)
            return isRight ? nil : row.integer(0)
        }.compactMap(\.self)
    }

    private static let eventsOfAccounts = SQL(
        SealedTable.event.selection(with: "a.authority, a.home_account_id") + "JOIN account a ON a.id = t.account_id"
    )

    /// The rows for which `isRight` is false; it gets the sealer of the row, under whose key its hashes are.
    private func problems(
        _ table: SealedTable,
        column: String,
        _ problem: String,
        _ isRight: (Row, Sealer) throws -> Bool
    ) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        let keys = try currentKeys()
        try connection.prepare(table.selection(after: "?1")).forEach([.integer(Int64.min)]) { row in
            guard let id = Sealer.keyID(of: row.bytes(table.firstSealed)), let sealer = keys.sealer(id),
                try intact({ try isRight(row, sealer) }) == false
            else { return true }
            problems.append(StoreProblem(place: "\(table.name) row \(row.integer(0)), \(column)", problem: problem))
            return true
        }
        return problems
    }
}
