import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// The row of an account, or nil.
    func accountRow(_ id: Account.ID) throws -> Int64? {
        try connection.integer(
            "SELECT id FROM account WHERE home_account_fold = ?1 AND authority = ?2",
            .text(id.key),
            .text(id.authority)
        )
    }

    /// The account of a row, or nil.
    func accountID(_ row: Int64) throws -> Account.ID? {
        try connection.first("SELECT authority, home_account_id FROM account WHERE id = ?1", .integer(row)) {
            Account.ID(authority: $0.text(0), homeAccountID: $0.text(1))
        }
    }

    /// The authority of the one account of this name at a host, where a document itself does not tell the issuer.
    func knownAuthority(homeAccountID: String, environment: String) throws -> String? {
        let keys = Account.ID.keys(of: homeAccountID)
        let known = try connection.all(
            "SELECT authority FROM account WHERE home_account_fold IN (?1, ?2) AND lower(environment) = ?3",
            .text(keys[0]),
            .text(keys[1]),
            .text(environment.folded)
        ) { $0.text(0) }
        return known.count == 1 ? known[0] : nil
    }

    /// Adds the account, or brings its row up to date; what is not known now stays as it was.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    func saveAccount(_ identity: AccountIdentity, _ account: StoredAccount, isHome: Bool) throws -> Int64 {
        let known = try connection.first(
            "SELECT id, username, policy, issuer, name FROM account WHERE home_account_fold = ?1 AND authority = ?2",
            .text(identity.id.key),
            .text(identity.authority)
        ) { row in (row.integer(0), row.text(1), row.optionalText(2), row.optionalText(3), row.optionalBlob(4)) }
        guard let (id, username, policy, issuer, name) = known else {
            return try insertAccount(identity, account)
        }
        let newUsername = account.username.isEmpty || !isHome && !username.isEmpty ? username : account.username
        let newName = isHome || name == nil ? try account.name.map { try sealName($0, row: id) } ?? name : name
        try connection.run(
            """
            UPDATE account SET username = ?2, username_fold = ?3, policy = ?4, issuer = ?5, name = ?6,
                last_used_at = ?7 WHERE id = ?1
            """,
            .integer(id),
            .text(newUsername),
            .text(newUsername.folded),
            .optional(account.policy ?? policy),
            .optional(account.issuer ?? issuer),
            .optional(newName),
            .integer(now)
        )
        return id
    }

    func insertAccount(_ identity: AccountIdentity, _ account: StoredAccount) throws -> Int64 {
        let id = try nextID("SELECT max(id) FROM account")
        try connection.run(
            """
            INSERT INTO account (id, authority, home_account_id, home_account_fold, uid, utid, environment, issuer,
                username, username_fold, policy, name, created_at, last_used_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13)
            """,
            .integer(id),
            .text(identity.authority),
            .text(identity.homeAccountID),
            .text(identity.id.key),
            .optional(identity.uid),
            .optional(identity.utid),
            .text(identity.environment),
            .optional(account.issuer),
            .text(account.username),
            .text(account.username.folded),
            .optional(account.policy ?? identity.policyOfUID),
            .optional(try account.name.map { try sealName($0, row: id) }),
            .integer(now)
        )
        try takeBackSignOuts(of: identity.id, row: id)
        return id
    }

    func sealName(_ name: String, row: Int64) throws -> [UInt8] {
        try seal(Secret(name), as: SealedPlace(table: "account", column: "name", row: row))
    }

    /// The account of a row.
    func account(_ row: Int64) throws -> Account? {
        let profiles = try tenantProfiles(row)
        return try connection.first(
            """
            SELECT id, authority, home_account_id, environment, issuer, username, policy, uid, utid, name
            FROM account WHERE id = ?1
            """,
            .integer(row)
        ) { try account($0, profiles: profiles) }
    }

    /// Builds an account from the columns `id` to `name` of a row that starts with them.
    func account(_ row: Row, profiles: [TenantProfile]) throws -> Account {
        let place = SealedPlace(table: "account", column: "name", row: row.integer(0))
        return Account(
            id: Account.ID(authority: row.text(1), homeAccountID: row.text(2)),
            environment: row.text(3),
            issuer: row.optionalText(4),
            username: row.text(5),
            name: row.isNull(9) ? nil : try openName(row, 9, as: place),
            policy: row.optionalText(6),
            uid: row.optionalText(7),
            utid: row.optionalText(8),
            tenantProfiles: profiles
        )
    }

    /// A damaged name hides nothing but itself; a check reports it.
    private func openName(_ row: Row, _ column: CInt, as place: SealedPlace) throws -> String? {
        do {
            return try open(row, column, as: place).reveal()
        } catch SealingError.damagedValue, SealingError.unknownFormat {
            return nil
        }
    }

    func touchAccount(_ row: Int64) throws {
        try connection.run("UPDATE account SET last_used_at = ?2 WHERE id = ?1", .integer(row), .integer(now))
    }
}
