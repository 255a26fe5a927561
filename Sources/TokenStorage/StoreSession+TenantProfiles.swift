import OAuth
import SQLite
import Sealing

/// The row of an account in one tenant.
struct StoredTenantProfile: Equatable {
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

extension StoreSession {
    /// What rows of an account call a tenant: an import may have brought a word such as `tfp`, or a domain, by which the
    /// program that wrote it looks for its tokens.
    func realm(_ tenant: String, of account: Int64, environment: String) throws -> Realm {
        try connection.first(
            """
            SELECT realm, realm_fold FROM tenant_profile
            WHERE account_id = ?1 AND environment = ?2 AND (realm_fold = ?3 OR ?4) ORDER BY realm_fold <> ?3, id LIMIT 1
            """,
            .integer(account),
            .text(environment),
            .text(tenant.folded),
            // A host that is not one of those for all tenants has one tenant, whatever it is called.
            .integer(Cloud.hasTenants(environment) ? 0 : 1)
        ) { Realm(name: $0.text(0), fold: $0.text(1)) } ?? Realm(tenant)
    }

    /// The tenants of an account, the home tenant first, each once.
    func tenantProfiles(_ account: Int64) throws -> [TenantProfile] {
        var profiles: [TenantProfile] = []
        try connection.forEach(
            """
            SELECT p.realm_fold, p.local_account_id, p.realm_fold = lower(coalesce(a.utid, p.realm_fold))
            FROM tenant_profile p JOIN account a ON a.id = p.account_id
            WHERE p.account_id = ?1 ORDER BY 3 DESC, p.id
            """,
            .integer(account)
        ) { row in
            let tenant = row.text(0)
            guard !profiles.contains(where: { $0.tenantID == tenant }) else { return }
            profiles.append(TenantProfile(tenantID: tenant, localAccountID: row.optionalText(1), isHome: row.bool(2)))
        }
        return profiles
    }

    /// Adds or replaces a profile; fields of the old one that the new one lacks are kept.
    ///
    /// - Returns: whether anything changed.
    func saveTenantProfile(_ profile: StoredTenantProfile, account: Int64) throws -> Bool {
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
        let place = SealedPlace(table: "tenant_profile", column: "extra", owner: account, row: id)
        try connection.run(
            """
            INSERT INTO tenant_profile (id, account_id, environment, realm, realm_fold, local_account_id,
                local_account_fold, username, authority_type, extra)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (id) DO UPDATE SET realm = excluded.realm, local_account_id = excluded.local_account_id,
                local_account_fold = excluded.local_account_fold, username = excluded.username,
                authority_type = excluded.authority_type, extra = excluded.extra
            """,
            .integer(id),
            .integer(account),
            .text(merged.environment),
            .text(merged.realm),
            .text(merged.realmFold),
            .optional(merged.localAccountID),
            .optional(merged.localAccountID?.folded),
            .text(merged.username),
            .text(merged.authorityType),
            .optional(try sealMembers(merged.extra, as: place))
        )
        return true
    }

    private func tenantProfile(
        _ account: Int64,
        realm: String,
        environment: String
    ) throws -> (id: Int64, profile: StoredTenantProfile)? {
        try connection.first(
            """
            SELECT id, environment, realm, realm_fold, local_account_id, username, authority_type, extra
            FROM tenant_profile WHERE account_id = ?1 AND realm_fold = ?2 AND environment = ?3
            """,
            .integer(account),
            .text(realm),
            .text(environment)
        ) { row in
            let place = SealedPlace(table: "tenant_profile", column: "extra", owner: account, row: row.integer(0))
            return (row.integer(0), try tenantProfile(row, extra: openMembers(row, 7, as: place)))
        }
    }

    /// Builds a profile from columns 1 to 6 of a row: environment, realm, realm_fold, local_account_id, username,
    /// authority_type.
    func tenantProfile(_ row: Row, extra: JSON.Object) throws -> StoredTenantProfile {
        StoredTenantProfile(
            environment: row.text(1),
            realm: row.text(2),
            realmFold: row.text(3),
            localAccountID: row.optionalText(4),
            username: row.text(5),
            authorityType: row.text(6),
            extra: extra
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
