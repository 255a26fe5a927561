import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    static let tenantProfile = SealedTable(
        "tenant_profile",
        isOwned: true,
        clear: [
            "environment", "realm", "realm_fold", "local_account_id", "local_account_fold", "username",
            "authority_type",
        ],
        sealed: ["extra"],
        kept: ["environment", "realm_fold"]
    )
}

/// The row of an account in one tenant.
struct TenantProfileRow: Equatable {
    var environment: String
    var realm: String
    var realmFold: String
    var localAccountID: String?
    var username: String
    var authorityType: String

    /// Names, `client_info`, and every field not known here.
    var extra: JSONValue.Object

    /// Whether only an ID token told of the tenant: an import had no entry for it, and an export has none.
    var isDescribed: Bool { authorityType.isEmpty && username.isEmpty && extra.isEmpty }
}

/// Who tells of a tenant of an account.
enum ProfileSource {
    case signIn
    /// The kind of the account stays as it was.
    case refresh
    case document(ImportedAge?, ImportedProfiles)

    /// Whether a profile only fills gaps of the one that is known, in its place.
    ///
    /// Of two in one document the second one does, or they would take turns; but one that names its tenant counts for
    /// more than a word such as `organizations` for it, also in a document that may be as old as what is known.
    func onlyFills(_ known: TenantProfileRow, in place: ProfilePlace, with profile: TenantProfileRow) -> Bool {
        guard case .document(let age, let earlier) = self else { return false }
        if age == .older { return true }
        if let isNamed = earlier.isNamed(in: place) { return isNamed || Authority.isTenantless(profile.realm) }
        return age == nil && profile.realm.isWordFor(known.realm)
    }
}

/// What became of a profile that was to be stored.
enum ProfileChange {
    /// It was there.
    case none
    /// It filled gaps.
    case filled
    case replaced
}

/// The tenants of an account.
struct ProfileList {
    private var found: [(id: Int64, profile: TenantProfile)] = []

    mutating func add(_ profile: TenantProfile, id: Int64) { found.append((id, profile)) }

    /// The home tenant first, each once.
    ///
    /// Sorted here: for one or two rows, SQLite's sorter costs as much as finding them.
    var inOrder: [TenantProfile] {
        if found.count == 1 { return [found[0].profile] }
        let sorted = found.sorted { $0.profile.isHome == $1.profile.isHome ? $0.id < $1.id : $0.profile.isHome }
        var tenants: Set<String> = []
        return sorted.map(\.profile).filter { tenants.insert($0.tenantID).inserted }
    }
}

/// A tenant as a row names it, and as rows are compared.
struct Realm {
    let name: String
    let fold: String
}

extension Realm {
    init(_ tenant: String) { self.init(name: tenant, fold: tenant.folded) }
}

extension String {
    /// Whether this realm is a word such as "organizations", and `other` a tenant.
    func isWordFor(_ other: String) -> Bool { Authority.isTenantless(self) && !Authority.isTenantless(other) }
}

extension StoreConnection {
    private static let profileAtHost = SQL(
        SealedTable.tenantProfile.selection + """
            WHERE t.account_id = ?1 AND t.environment = ?2 AND (t.realm_fold = ?3 OR ?4 = 1)
            ORDER BY t.realm_fold <> ?3, t.id LIMIT 1
            """
    )

    /// A host other than those for all tenants has one tenant, whatever its name.
    private func profilePlace(_ tenant: String, _ account: Int64, _ environment: String) -> [Value] {
        let isAlone = !Cloud.hasTenants(environment)
        return [.integer(account), .text(environment), .text(tenant.folded), .integer(isAlone ? 1 : 0)]
    }

    /// Asks a server what ``realm(_:of:environment:)`` will ask.
    func askAheadForRealm(_ tenant: String, of account: Int64, environment: String) throws {
        try connection.askAhead(Self.profileAtHost, profilePlace(tenant, account, environment))
    }

    /// What rows of an account call a tenant: an import may have added a word such as `tfp`, or a domain, by which the
    /// program that wrote it looks for its tokens.
    func realm(_ tenant: String, of account: Int64, environment: String) throws -> Realm {
        let place = profilePlace(tenant, account, environment)
        let known = try connection.first(Self.profileAtHost, place) { row in
            let table = SealedTable.tenantProfile
            return try intact { try verify(row, of: table) }.map {
                Realm(name: row.text(table["realm"]), fold: row.text(table["realm_fold"]))
            }
        }
        return (known ?? nil) ?? Realm(tenant)
    }

    /// What ``add(_:from:to:)`` reads of a profile, beside its account.
    static func profileColumns(of profile: String, account: String) -> String {
        let columns = SealedTable.tenantProfile.columns(
            of: profile,
            owner: "\(account).id",
            authority: "\(account).authority",
            key: "\(account).account_key"
        )
        let isHome = "\(profile).realm_fold = lower(coalesce(\(account).utid, \(profile).realm_fold))"
        return (columns + [isHome]).joined(separator: ", ")
    }

    /// How many columns those are.
    static var endOfProfile: CInt { SealedTable.tenantProfile.end + 1 }

    /// Adds the profile whose ``profileColumns(of:account:)`` begin with `start`; an account without any has one row of
    /// nulls.
    func add(_ row: Row, from start: CInt, to profiles: inout ProfileList) throws {
        guard !row.isNull(start) else { return }
        let table = SealedTable.tenantProfile
        try verify(row, of: table, from: start)
        // A host that has one tenant may have it under a domain.
        let isHome = row.bool(start + table.end) || !Cloud.hasTenants(row.text(start + table["environment"]))
        let profile = TenantProfile(
            tenantID: row.text(start + table["realm_fold"]),
            localAccountID: row.optionalText(start + table["local_account_id"]),
            isHome: isHome
        )
        profiles.add(profile, id: row.integer(start))
    }

    /// Adds or replaces a profile, or fills its gaps; fields of the old one that the new one lacks are kept.
    ///
    /// - Returns: what became of it, and its row.
    @discardableResult
    func saveTenantProfile(
        _ profile: TenantProfileRow,
        account: Int64,
        from source: ProfileSource
    ) throws -> (change: ProfileChange, row: Int64) {
        let stored = try tenantProfile(account, realm: profile.realmFold, environment: profile.environment)
        var (merged, change) = (profile, ProfileChange.replaced)
        // Where only an ID token told of the tenant, there is no entry to merge with.
        if let (id, row) = stored, let known = row, !known.isDescribed {
            if source.onlyFills(known, in: ProfilePlace(account: account, row: id), with: profile) {
                change = .filled
                merged = known
                merged.extra = profile.extra.merging(known.extra)
                merged.localAccountID = known.localAccountID ?? profile.localAccountID
                if known.username.isEmpty { merged.username = profile.username }
                if known.realm.isWordFor(profile.realm) { merged.realm = profile.realm }
            } else {
                merged.extra = known.extra.merging(profile.extra)
                merged.localAccountID = profile.localAccountID ?? known.localAccountID
                if case .refresh = source { merged.authorityType = known.authorityType }
                if profile.username.isEmpty { merged.username = known.username }
                // A word such as "common" means the tenant, but does not name it.
                if profile.realm.isWordFor(known.realm) { merged.realm = known.realm }
            }
            if known == merged { return (.none, id) }
        }
        return (change, try write(merged, id: stored?.id, account: account))
    }

    private func write(_ profile: TenantProfileRow, id: Int64?, account: Int64) throws -> Int64 {
        try write(
            .tenantProfile,
            id: id,
            account: account,
            clear: [
                .text(profile.environment), .text(profile.realm), .text(profile.realmFold),
                .optional(profile.localAccountID), .optional(profile.localAccountID?.folded), .text(profile.username),
                .text(profile.authorityType),
            ],
            sealed: [Secret(profile.extra)]
        )
    }

    func tenantProfile(
        _ account: Int64,
        realm: String,
        environment: String
    ) throws -> (id: Int64, profile: TenantProfileRow?)? {
        guard bareAccount != account else { return nil }
        return try connection.first(Self.profileAlike, .integer(account), .text(realm), .text(environment)) { row in
            (row.integer(0), try intact { try tenantProfile(row) })
        }
    }

    /// Asks a server what ``saveTenantProfile(_:account:from:)`` will ask.
    func askAheadForTenantProfile(_ account: Int64, realm: String, environment: String) throws {
        try connection.askAhead(Self.profileAlike, .integer(account), .text(realm), .text(environment))
    }

    private static let profileAlike = SQL { dialect in
        SealedTable.tenantProfile.selection + """
            WHERE t.account_id = ?1 AND \(dialect.unindexed("t.realm_fold")) = ?2 AND t.environment = ?3
            """
    }

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

extension StoreConnection {
    /// The first tenant that an account was seen in, folded.
    func firstTenant(_ account: Int64) throws -> String? {
        try connection.first(
            "SELECT realm_fold FROM tenant_profile WHERE account_id = ?1 ORDER BY id LIMIT 1",
            .integer(account)
        ) { $0.text(0) }
    }

    /// Whether a tenant calls an account by this id.
    func hasLocalAccount(_ id: String, account: Int64) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM tenant_profile WHERE account_id = ?1 AND local_account_fold = ?2",
            .integer(account),
            .text(id.folded)
        ) != nil
    }
}
