import Database
import OAuth
import SQL
import Sealing

/// What an account has, opened, and on its way to another identity.
private struct Belongings {
    var account: AccountRow?
    var rows: [(table: SealedTable, rows: [CarriedRow])] = []

    /// The last uses of its refresh tokens, each under the id of its token.
    var attempts: [CarriedRow] = []

    func rows(of table: SealedTable) -> [CarriedRow] { rows.first { $0.table === table }?.rows ?? [] }

    /// Whether it has an ID token, which has told already where the account belongs.
    var isIdentified: Bool { !rows(of: .idToken).isEmpty }

    /// Whether the answer to a refresh may yet come, which is stored under the identity that the account has now.
    var awaitsAnswer: Bool {
        attempts.contains { attempt in
            let outcome = attempt.value("outcome", of: .refreshAttempt)
            return outcome == .null || outcome == .text(RefreshAttempt.awaited)
        }
    }
}

extension CarriedRow {
    fileprivate func value(_ column: String, of table: SealedTable) -> Value? {
        table.clear.firstIndex(of: column).map { clear[$0] }
    }
}

extension StoreConnection {
    /// A throttle is of its account's identity, and short.
    private static let movedTables = SealedTable.all.filter { $0.isOwned && $0 !== SealedTable.throttle }

    /// By the table's place among ``movedTables``.
    private static let movedRows = movedTables.map {
        SQL($0.selection + "WHERE t.account_id = ?1 ORDER BY t.id")
    }

    private static let movedAttempts = SQL { dialect in
        SealedTable.refreshAttempt.selection + """
            WHERE t.id IN (SELECT r.id FROM refresh_token r WHERE r.account_id = ?1 AND r.generation = t.generation)
            """ + (dialect == .sqlite ? "" : " AND t.account_id = ?1")
    }

    /// Moves an account that no ID token has identified, with all that it has, to the identity that one tells now.
    ///
    /// What is sealed is bound to the identity, and on a server so are the ids of rows: so all of it is written anew.
    /// `profile` fills gaps.
    ///
    /// - Returns: whether it was moved. One stays where the answer to a refresh may yet come for it, as that would find
    ///   no account, and one that was altered does.
    func moveAccount(_ row: Int64, to identity: AccountIdentity, _ profile: AccountProfile) throws -> Bool {
        guard let found = try intact({ try belongings(ofAccount: row) }), let known = found.account,
            !found.isIdentified, !found.awaitsAnswer
        else { return false }
        var account = AccountRow(
            identity,
            AccountProfile(
                username: known.username.isEmpty ? profile.username : known.username,
                policy: known.policy ?? profile.policy,
                issuer: known.issuer ?? profile.issuer,
                name: known.name ?? profile.name
            ),
            now: known.createdAt
        )
        account.lastUsedAt = known.lastUsedAt
        let new = try write(
            .account,
            id: nil,
            new: newAccountRow(identity.id),
            clear: account.clear,
            sealed: account.sealed
        )
        _ = try takeBackSignOuts(of: identity.id, row: new)
        try write(found, of: new)
        try deleteAccount(row)
        (latestOwner, bareAccount) = (nil, nil)
        return true
    }

    private func belongings(ofAccount row: Int64) throws -> Belongings {
        var found = Belongings()
        try changeAccount(row) { found.account = $0 }
        for (table, sql) in zip(Self.movedTables, Self.movedRows) {
            let rows = try connection.all(sql, .integer(row)) { row -> CarriedRow? in
                // A choice that was altered is none.
                if table === SealedTable.defaultAccount, try !isIntact(row, of: table) { return nil }
                return try CarriedRow(row, of: table, by: self)
            }
            found.rows.append((table, rows.compactMap(\.self)))
        }
        found.attempts = try connection.all(Self.movedAttempts, .integer(row)) { row -> CarriedRow? in
            try isIntact(row, of: .refreshAttempt) ? CarriedRow(row, of: .refreshAttempt, by: self) : nil
        }.compactMap(\.self)
        return found
    }

    private func write(_ found: Belongings, of account: Int64) throws {
        var tokens: [Int64: Int64] = [:]
        for row in found.rows(of: .refreshToken) {
            let token = try write(row, of: .refreshToken, owner: account)
            tokens[row.id] = token
            // The person has signed out of the issuer before this token came.
            if case .text(let client)? = row.value("client_id", of: .refreshToken),
                try isOrdinaryRefreshToken(token, account: account)
            {
                try forgetSignOut(account: account, client: client)
            }
        }
        for (table, rows) in found.rows where table !== SealedTable.refreshToken {
            for row in rows {
                if table === SealedTable.accountState, let client = row.value("client_fold", of: table) {
                    try connection.run(Self.stateDeletion, .integer(account), client)
                }
                let isDefault = table === SealedTable.defaultAccount
                // There is one default account.
                if isDefault { try connection.run("DELETE FROM default_account") }
                try write(row, of: table, new: isDefault ? 1 : nil, owner: account)
            }
        }
        for row in found.attempts {
            guard let token = tokens[row.id] else { continue }
            try write(row, of: .refreshAttempt, new: token, owner: account)
        }
    }

    private static let stateDeletion: StaticString =
        "DELETE FROM account_state WHERE account_id = ?1 AND client_fold = ?2"

    /// The tenants, folded, that tokens and profiles of an account name.
    func realms(ofAccount row: Int64) throws -> Set<String> {
        let realms = try connection.all(
            """
            SELECT realm_fold FROM access_token WHERE account_id = ?1
            UNION ALL SELECT realm_fold FROM tenant_profile WHERE account_id = ?1
            """,
            .integer(row)
        ) { $0.text(0) }
        return Set(realms).subtracting([""])
    }
}
