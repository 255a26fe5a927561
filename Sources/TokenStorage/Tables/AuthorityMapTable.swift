import OAuth
import SQL
import SQLite

extension SealedTable {
    static let authorityMap = SealedTable(
        "authority_map",
        isOwned: true,
        clear: ["client_fold", "requested", "resolved"],
        sealed: ["mac"]
    )
}

extension Authority {
    /// Whether its tokens are told apart by tenant: a user flow, an External ID host and an issuer have but one.
    fileprivate var hasTenants: Bool { issuer == nil && userFlow == nil && !Cloud.isExternalID(environment) }
}

extension StoreConnection {
    /// The tenant that an authority means for an account; nil: any, the account has but one there.
    ///
    /// A word such as `common`, and a domain, mean the tenant that the issuer named when it was asked there.
    func tenant(of authority: Authority, account: Account.ID, client: String) throws -> String? {
        guard authority.hasTenants, let tenant = authority.tenant else { return nil }
        if ClientInfo.isTenantID(tenant) { return tenant }
        let mapped = try connection.first(
            Self.authorityOfAccount,
            .text(account.key),
            .text(account.issuer),
            .text(client.folded),
            .text("https://\(authority.environment)/\(tenant)")
        ) { row in
            try verify(row, of: .authorityMap)
            return row.text(SealedTable.authorityMap["resolved"])
        }
        // An imported value may not be an authority of this kind; then it is left out.
        if let resolved = mapped.flatMap({ try? Authority(parsing: $0) })?.tenant { return resolved }
        return plainTenant(of: authority, account: account)
    }

    /// The tenant that an authority means as long as its issuer has not named another.
    private func plainTenant(of authority: Authority, account: Account.ID) -> String? {
        authority.isTenantless ? homeTenant(account) : authority.tenant
    }

    /// The tenant a query is about; nil: any, the account has but one there.
    func tenant(_ query: TokenQuery) throws -> String? {
        let account = query.account
        if let authority = query.authority {
            return try tenant(of: authority, account: account, client: query.clientID)
        }
        return Cloud.hasTenants(account.issuer) ? homeTenant(account) : nil
    }

    /// The tenant part of a Microsoft home account id.
    private func homeTenant(_ id: Account.ID) -> String? {
        guard Cloud.contains(id.issuer), let dot = id.homeAccountID.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            return nil
        }
        return String(id.homeAccountID[id.homeAccountID.utf8.index(after: dot)...]).folded
    }

    /// The tenant of a refreshed token whose response does not name one.
    func refreshedTenant(_ request: TokenRequest, account: Account.ID, row: Int64) throws -> String {
        let asked = try tenant(of: request.authority, account: account, client: request.clientID)
        if let known = asked ?? homeTenant(account) { return known }
        return try firstTenant(row) ?? ""
    }

    /// Remembers the tenant that the issuer named, where a lookup at the same authority would look for another.
    func learnTenant(
        _ realm: String,
        of request: TokenRequest,
        account: Account.ID,
        row: Int64,
        isNew: Bool = false
    ) throws {
        let authority = request.authority
        guard authority.hasTenants, let tenant = authority.tenant, !realm.isEmpty else { return }
        let expected =
            if isNew {
                plainTenant(of: authority, account: account)
            } else {
                try intact { try self.tenant(of: authority, account: account, client: request.clientID) } ?? nil
            }
        guard expected != realm.folded else { return }
        try saveAuthority(
            "https://\(authority.environment)/\(realm.folded)",
            for: "https://\(authority.environment)/\(tenant)",
            account: row,
            client: request.clientID
        )
    }

    func saveAuthority(_ resolved: String, for requested: String, account: Int64, client: String) throws {
        var requested = requested.folded
        while requested.utf8.last == UInt8(ascii: "/") { requested.unicodeScalars.removeLast() }
        let known = try connection.integer(
            "SELECT id FROM authority_map WHERE account_id = ?1 AND client_fold = ?2 AND requested = ?3",
            .integer(account),
            .text(client.folded),
            .text(requested)
        )
        try write(
            .authorityMap,
            id: known ?? nextID("SELECT max(id) FROM authority_map"),
            account: account,
            clear: [.text(client.folded), .text(requested), .text(resolved)],
            sealed: [Secret("")]
        )
    }

    private static let authorityOfAccount = SQL(
        SealedTable.authorityMap.ownedSelection + """
            WHERE a.account_key = ?1 AND a.authority = ?2 AND t.client_fold = ?3 AND t.requested = ?4
            """
    )
}
