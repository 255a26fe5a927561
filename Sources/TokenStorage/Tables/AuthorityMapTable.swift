import Database
import OAuth
import SQL

extension SealedTable {
    static let authorityMap = SealedTable(
        "authority_map",
        isOwned: true,
        clear: ["client_fold", "requested", "resolved"],
        sealed: ["mac"],
        whenAltered: .isRefused
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
        let place = place(of: tenant, authority, account, client)
        let mapped = try connection.first(Self.authorityOfAccount, place) { row in
            try verify(row, of: .authorityMap)
            return row.text(SealedTable.authorityMap["resolved"])
        }
        // An imported value may not be an authority of this kind; then it is left out.
        if let resolved = mapped.flatMap({ try? Authority(parsing: $0) })?.tenant { return resolved }
        return plainTenant(of: authority, account: account)
    }

    private func place(of tenant: String, _ authority: Authority, _ account: Account.ID, _ client: String) -> [Value] {
        values(
            .text(account.key),
            .text(account.issuer),
            .text(client.folded),
            .text("https://\(authority.environment)/\(tenant)"),
            of: account
        )
    }

    /// Asks a server what ``tenant(of:account:client:)`` will ask.
    func askAheadForTenant(of authority: Authority, account: Account.ID, client: String) throws {
        guard authority.hasTenants, let tenant = authority.tenant, !ClientInfo.isTenantID(tenant) else { return }
        try connection.askAhead(Self.authorityOfAccount, place(of: tenant, authority, account, client))
    }

    /// The tenant that an authority means as long as its issuer has not named another.
    func plainTenant(of authority: Authority, account: Account.ID) -> String? {
        authority.isTenantless ? homeTenant(account) : authority.tenant
    }

    /// The tenant a query is about; nil: any, the account has but one there.
    func tenant(_ query: TokenQuery) throws -> String? {
        let account = query.account
        if let authority = query.authority {
            return try tenant(of: authority, account: account, client: query.clientID)
        }
        return Cloud.hasTenants(account.issuer) ? tenantPart(of: account) : nil
    }

    private func homeTenant(_ id: Account.ID) -> String? { Cloud.contains(id.issuer) ? tenantPart(of: id) : nil }

    /// The tenant part of a Microsoft home account id.
    private func tenantPart(of id: Account.ID) -> String? { ClientInfo.tenant(of: id.homeAccountID)?.folded }

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

    /// - Returns: whether it was another before.
    @discardableResult
    func saveAuthority(_ resolved: String, for requested: String, account: Int64, client: String) throws -> Bool {
        var requested = requested.folded
        while requested.utf8.last == UInt8(ascii: "/") { requested.unicodeScalars.removeLast() }
        let known =
            try bareAccount == account
            ? nil
            : connection.first(
                "SELECT id, resolved FROM authority_map WHERE account_id = ?1 AND client_fold = ?2 AND requested = ?3",
                .integer(account),
                .text(client.folded),
                .text(requested)
            ) { (id: $0.integer(0), resolved: $0.text(1)) }
        try write(
            .authorityMap,
            id: known?.id,
            account: account,
            clear: [.text(client.folded), .text(requested), .text(resolved)],
            sealed: [Secret("")]
        )
        return known?.resolved != resolved
    }

    private static let authorityOfAccount = SealedTable.authorityMap.ownedRows { dialect in
        """
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 5, owners: ["t.account_id"]))
            AND t.client_fold = ?3 AND t.requested = ?4
        """
    }
}
