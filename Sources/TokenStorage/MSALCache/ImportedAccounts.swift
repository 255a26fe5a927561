import OAuth

/// How old what a document has is beside what the store had.
enum ImportedAge {
    case newer
    case older
}

/// When the newest token of a kind of an account and client was stored or issued, here and in a document; Unix seconds.
struct ImportedTime {
    let stored: Int64?
    var imported: Int64

    var age: ImportedAge? {
        guard let stored, stored != imported else { return nil }
        return imported > stored ? .newer : .older
    }
}

/// When the ID tokens of an account were issued: those of all its clients, by which the names of the account and of its
/// tenants are told apart, and those of each, by which the client's own tokens are.
struct AccountIssues {
    private(set) var ofAllClients: ImportedIssues

    /// By the client's folded id.
    private(set) var clients: [String: ImportedIssues]

    init(_ stored: [StoredIDToken]) {
        ofAllClients = ImportedIssues(stored)
        clients = Dictionary(grouping: stored) { $0.clientID.folded }.mapValues { ImportedIssues($0) }
    }

    mutating func add(_ issued: Int64, client: String, tenant: String) {
        ofAllClients.add(issued, tenant: tenant)
        clients[client, default: ImportedIssues([])].add(issued, tenant: tenant)
    }
}

/// When ID tokens of an account were issued: those that the store had before a document, and those of the document; at
/// any host.
struct ImportedIssues {
    /// The newest ones that were stored, by tenant.
    private let stored: [String: Int64]
    private let newestStored: Int64?

    /// The newest ones of all tenants; nil before the document had one.
    private(set) var newest: ImportedTime?

    /// The newest ones of each tenant that the document had one of.
    private(set) var tenants: [String: ImportedTime] = [:]

    init(_ tokens: [StoredIDToken]) {
        var stored: [String: Int64] = [:]
        for token in tokens {
            guard let issued = token.idToken.claims.issuedAt?.unixSeconds else { continue }
            stored[token.tenantID] = max(stored[token.tenantID] ?? issued, issued)
        }
        self.stored = stored
        newestStored = stored.values.max()
    }

    mutating func add(_ issued: Int64, tenant: String) {
        newest = Self.time(newest, newestStored, issued)
        tenants[tenant] = Self.time(tenants[tenant], stored[tenant], issued)
    }

    private static func time(_ known: ImportedTime?, _ stored: Int64?, _ issued: Int64) -> ImportedTime {
        ImportedTime(stored: stored, imported: max(known?.imported ?? issued, issued))
    }
}

/// The row of an account's profile; on a server another account's may have the same id.
struct ProfilePlace: Hashable {
    let account: Int64
    let row: Int64
}

/// The profiles that a document has had an entry for up to now.
///
/// A reference, as each entry asks it.
final class ImportedProfiles {
    private var places: [ProfilePlace: Bool] = [:]

    /// Whether an entry named the tenant, or all of them had a word for it; nil where there was none.
    func isNamed(in place: ProfilePlace) -> Bool? { places[place] }

    func add(_ realm: String, in place: ProfilePlace) {
        places[place] = places[place] ?? false || !Authority.isTenantless(realm)
    }
}

/// The tenants of accounts that a document names by a domain, as an account's ID tokens say: those of a document, else
/// those of the store.
final class ImportedDomains {
    private struct Place: Hashable {
        let account: String
        let domain: String
    }

    private let session: StoreConnection

    /// nil where no ID token tells.
    private var tenants: [Place: String?] = [:]

    init(_ session: StoreConnection) { self.session = session }

    /// Few realms are domains.
    private func place(_ realm: String, _ homeAccountID: String) -> Place? {
        guard realm.utf8.contains(UInt8(ascii: ".")) else { return nil }
        return Place(account: homeAccountID.folded, domain: realm.folded)
    }

    func add(_ realm: String, of homeAccountID: String, _ tenant: String) {
        if let place = place(realm, homeAccountID) { tenants[place] = tenant.folded }
    }

    func tenant(_ realm: String, of homeAccountID: String) throws -> String? {
        guard let place = place(realm, homeAccountID) else { return nil }
        if let known = tenants[place] { return known }
        let stored = try session.accounts(called: homeAccountID).compactMap {
            try session.tenant(ofDomain: place.domain, account: $0.row)
        }.first
        tenants[place] = .some(stored)
        return stored
    }
}

/// Whom a document and the store have under names of Azure AD B2C that are those of user flows alone.
///
/// Where a custom policy gives no object id, MSAL names everyone who signs in with it alike: `-b2c_1a_signin.TENANT`. A
/// store has one person under such a name, and what is another's would be taken for hers.
struct UserFlowPersons {
    /// The person of each name, as the first ID token says.
    private var persons: [String: String] = [:]

    /// The clients whose ID tokens in the document are that person's, and another's.
    private var clients: [String: (own: Set<String>, others: Set<String>)] = [:]

    /// The name in an entry, folded, where it is that of a user flow alone.
    private static func name(_ homeAccountID: String) -> String? {
        guard let uid = ClientInfo.parts(of: homeAccountID)?.uid, ClientInfo.isUserFlowAlone(uid) else { return nil }
        return homeAccountID.folded
    }

    /// Makes sure that an ID token is not another person's.
    mutating func requireSubject(
        _ person: String?,
        _ homeAccountID: String,
        client: String,
        in session: StoreConnection
    ) throws {
        guard let name = Self.name(homeAccountID) else { return }
        guard let person = person?.folded else { return try requireClient(client, homeAccountID) }
        let first = try persons[name] ?? Self.stored(homeAccountID, in: session) ?? person
        persons[name] = first
        guard person == first else {
            clients[name, default: ([], [])].others.insert(client.folded)
            throw Self.isAnothers
        }
        clients[name, default: ([], [])].own.insert(client.folded)
    }

    /// Makes sure that the entry of an account, which may name its owner, is not another person's.
    func requireOwner(_ owner: String?, _ homeAccountID: String, in session: StoreConnection) throws {
        guard let name = Self.name(homeAccountID) else { return }
        guard let owner = owner?.folded, !owner.isEmpty,
            let first = try persons[name] ?? Self.stored(homeAccountID, in: session)
        else { return try requireClient("", homeAccountID) }
        guard owner == first else { throw Self.isAnothers }
    }

    /// Makes sure that a token is not another person's, as the ID tokens of its client say, or of all where it has none.
    func requireClient(_ client: String, _ homeAccountID: String) throws(MSALRejection) {
        // Most documents have no such name.
        guard !clients.isEmpty, let name = Self.name(homeAccountID), let known = clients[name],
            !known.own.contains(client.folded)
        else { return }
        let isOnlyOthers = known.own.isEmpty && !known.others.isEmpty
        if isOnlyOthers || known.others.contains(client.folded) { throw Self.isAnothers }
    }

    private static let isAnothers = MSALRejection(
        "its home_account_id names a user flow but no person, and the store has another person under it"
    )

    /// The person whose ID token the store has.
    private static func stored(_ homeAccountID: String, in session: StoreConnection) throws -> String? {
        try session.accounts(called: homeAccountID).lazy.compactMap {
            try session.idTokens($0.row, leavingOutDamaged: true).first?.idToken.claims.localAccountID?.folded
        }.first
    }
}

/// A tenant that an ID token of an account is of.
struct DescribedTenant {
    let account: Int64
    let token: IDTokenRow
    let localAccountID: String
}

/// Which account row each identity of a document belongs to.
///
/// A cache names an account by id and host alone; only its ID tokens tell issuers apart that share a host, and what an
/// export of a store adds (``NamedIssuers``).
struct ImportedAccounts {
    /// What an entry names; nil stands for anything.
    private struct Place: Hashable {
        let realm: String?
        let client: String?

        /// This, and what says less; a tenant tells more than a client.
        var generalized: [Place] {
            [self, Place(realm: realm, client: nil), Place(realm: nil, client: client), Place(realm: nil, client: nil)]
        }
    }

    /// What there were entries for of one id at one host.
    private struct Candidates {
        let first: Int64

        /// Where the first account is; nearly always there is no other.
        var places: Set<Place> = []

        /// The account at each place, where there are several; nil where several are at one.
        var rows: [Place: Int64?] = [:]

        mutating func add(_ row: Int64, at place: Place) {
            guard row != first || !rows.isEmpty else {
                places.insert(place)
                return
            }
            for place in places { note(first, at: place) }
            places = []
            note(row, at: place)
        }

        private mutating func note(_ row: Int64, at place: Place) {
            for place in place.generalized {
                let isAlone = rows[place].map { $0 == row } ?? true
                rows[place] = .some(isAlone ? row : nil)
            }
        }
    }

    private var candidates: [Account.ID: Candidates] = [:]

    mutating func add(_ row: Int64, homeAccountID: String, environment: String, realm: String?, client: String?) {
        let key = Account.ID(issuer: environment.folded, homeAccountID: homeAccountID)
        let place = Place(realm: realm?.folded ?? "", client: client?.folded ?? "")
        candidates[key, default: Candidates(first: row)].add(row, at: place)
    }

    /// The row for an entry: of several the one of the same tenant and client, as far as the entry names them.
    ///
    /// - Throws: ``MSALRejection`` where two accounts fit alike: the wrong one's issuer would get the token.
    func row(homeAccountID: String, environment: String, realm: String?, client: String?) throws -> Int64? {
        let key = Account.ID(issuer: environment.folded, homeAccountID: homeAccountID)
        guard let known = candidates[key] else { return nil }
        guard !known.rows.isEmpty else { return known.first }
        let place = Place(realm: realm?.folded, client: client?.folded)
        guard let known = place.generalized.lazy.compactMap({ known.rows[$0] }).first, let row = known else {
            throw MSALRejection("accounts of several issuers at its host have its id, and nothing tells which it is of")
        }
        return row
    }
}
