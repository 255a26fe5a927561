import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// Adds the tenant that an imported ID token is of, unless the account is known in it.
    func describeTenant(of tenant: DescribedTenant) throws {
        let (token, account) = (tenant.token, tenant.account)
        guard try tenantProfile(account, realm: token.realmFold, environment: token.environment) == nil else { return }
        try write(
            .tenantProfile,
            id: nil,
            account: account,
            clear: [
                .text(token.environment), .text(token.realm), .text(token.realmFold), .text(tenant.localAccountID),
                .text(tenant.localAccountID.folded), .text(""), .text(""),
            ],
            sealed: [Secret(JSONValue.Object())]
        )
    }

    /// Remembers the tenant that a domain means by which an imported ID token names it, at each host of its cloud.
    func learnTenant(of described: DescribedTenant) throws {
        let (token, row) = (described.token, described.account)
        let domain = token.realm.folded
        guard domain != token.realmFold, domain.utf8.contains(UInt8(ascii: ".")), Cloud.hasTenants(token.environment),
            // Without its tenants, of which there may be as many.
            let account = try accountID(row)
        else { return }
        for host in Cloud.hosts(with: token.environment) {
            guard let authority = try? Authority(parsing: "https://\(host)/\(domain)") else { continue }
            let known = try intact { try tenant(of: authority, account: account, client: token.clientID) } ?? nil
            // What the issuer itself has named stays.
            guard known == nil || known == domain else { continue }
            let resolved = "https://\(host)/\(token.realmFold)"
            try saveAuthority(resolved, for: authority.url, account: row, client: token.clientID)
        }
    }

    /// Guests, then homes.
    private static let exportedProfiles = ["<>", "="].map { comparison in
        SQL(
            SealedTable.tenantProfile.selection(with: "a.home_account_id")
                + "WHERE t.realm_fold \(comparison) lower(coalesce(a.utid, t.realm_fold)) AND a.id IS NOT NULL "
                + "ORDER BY t.id"
        )
    }

    /// Calls `body` with each profile, and its account; with that of the home tenant last.
    ///
    /// MSAL for Python knows an account by the last profile of a document, and finds it by that one's username alone.
    func forEachTenantProfile(_ body: (TenantProfileRow, Account.ID) throws -> Void) throws {
        for profiles in Self.exportedProfiles {
            try connection.walk(profiles) { row in
                let profile = try tenantProfile(row)
                guard !profile.isDescribed else { return }
                let table = SealedTable.tenantProfile
                try body(profile, table.account(row.text(table.end), of: row))
            }
        }
    }
}
