import OAuth
import SQLite
import Sealing

/// The row of an account in one tenant.
struct TenantProfileRow: Equatable {
    var environment: String
    var realm: String
    var realmFold: String
    var localAccountID: String?
    var username: String
    var authorityType: String

    /// Names, `client_info`, and every field not known here.
    var extra: JSON.Object
}

/// A tenant as a row names it, and as rows are compared.
struct Realm {
    let name: String
    let fold: String
}

extension Realm {
    init(_ tenant: String) { self.init(name: tenant, fold: tenant.folded) }
}

extension StoreConnection {
    private static let profilesOfAccount = SQL(
        SealedTable.tenantProfile.selection(with: "t.realm_fold = lower(coalesce(a.utid, t.realm_fold)) AS is_home")
            + "WHERE t.account_id = ?1 ORDER BY is_home DESC, t.id"
    )

    private static let profileAtHost = SQL(
        SealedTable.tenantProfile.selection + """
            WHERE t.account_id = ?1 AND t.environment = ?2 AND (t.realm_fold = ?3 OR ?4)
            ORDER BY t.realm_fold <> ?3, t.id LIMIT 1
            """
    )

    /// What rows of an account call a tenant: an import may have brought a word such as `tfp`, or a domain, by which the
    /// program that wrote it looks for its tokens.
    func realm(_ tenant: String, of account: Int64, environment: String) throws -> Realm {
        let known = try connection.first(
            Self.profileAtHost,
            .integer(account),
            .text(environment),
            .text(tenant.folded),
            // A host that is not one of those for all tenants has one tenant, whatever it is called.
            .integer(Cloud.hasTenants(environment) ? 0 : 1)
        ) { row in
            let table = SealedTable.tenantProfile
            return try intact { try verify(row, of: table) }.map {
                Realm(name: row.text(table["realm"]), fold: row.text(table["realm_fold"]))
            }
        }
        return (known ?? nil) ?? Realm(tenant)
    }

    /// The tenants of an account, the home tenant first, each once.
    func tenantProfiles(_ account: Int64) throws -> [TenantProfile] {
        var profiles: [TenantProfile] = []
        let table = SealedTable.tenantProfile
        try connection.forEach(Self.profilesOfAccount, .integer(account)) { row in
            try verify(row, of: table)
            let tenant = row.text(table["realm_fold"])
            guard !profiles.contains(where: { $0.tenantID == tenant }) else { return }
            profiles.append(
                TenantProfile(
                    tenantID: tenant,
                    localAccountID: row.optionalText(table["local_account_id"]),
                    isHome: row.bool(table.end)
                )
            )
        }
        return profiles
    }

    /// Adds or replaces a profile; fields of the old one that the new one lacks are kept.
    ///
    /// - Returns: whether anything changed.
    func saveTenantProfile(_ profile: TenantProfileRow, account: Int64) throws -> Bool {
        let known = try tenantProfile(account, realm: profile.realmFold, environment: profile.environment)
        var merged = profile
        if let known = known?.profile {
            merged.extra = known.extra.merging(profile.extra)
            merged.localAccountID = profile.localAccountID ?? known.localAccountID
            if profile.username.isEmpty { merged.username = known.username }
            // A word such as "common" stands for the tenant, but does not name it.
            if profile.realm.isWordFor(known.realm) { merged.realm = known.realm }
            if known == merged { return false }
        }
        let id = try known?.id ?? nextID("SELECT max(id) FROM tenant_profile")
        try write(
            .tenantProfile,
            id: id,
            account: account,
            clear: [
                .text(merged.environment), .text(merged.realm), .text(merged.realmFold),
                .optional(merged.localAccountID), .optional(merged.localAccountID?.folded), .text(merged.username),
                .text(merged.authorityType),
            ],
            sealed: [Secret(merged.extra)]
        )
        return true
    }

    private func tenantProfile(
        _ account: Int64,
        realm: String,
        environment: String
    ) throws -> (id: Int64, profile: TenantProfileRow?)? {
        try connection.first(Self.profileAlike, .integer(account), .text(realm), .text(environment)) { row in
            (row.integer(0), try intact { try tenantProfile(row) })
        }
    }

    private static let profileAlike = SQL(
        SealedTable.tenantProfile.selection + "WHERE t.account_id = ?1 AND t.realm_fold = ?2 AND t.environment = ?3"
    )

    /// Builds a profile from a row that was selected with ``SealedTable/selection``.
    func tenantProfile(_ row: Row) throws -> TenantProfileRow {
        let table = SealedTable.tenantProfile
        return TenantProfileRow(
            environment: row.text(table["environment"]),
            realm: row.text(table["realm"]),
            realmFold: row.text(table["realm_fold"]),
            localAccountID: row.optionalText(table["local_account_id"]),
            username: row.text(table["username"]),
            authorityType: row.text(table["authority_type"]),
            extra: try openMembers(row, of: table)
        )
    }
}

extension JSON.Object {
    /// The members of both; where a name is in both, the value of `newer`.
    func merging(_ newer: JSON.Object) -> JSON.Object {
        var merged = self
        for (name, value) in newer.members { merged[name] = value }
        return merged
    }
}
