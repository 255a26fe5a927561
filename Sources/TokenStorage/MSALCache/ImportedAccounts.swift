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
    private struct Candidate: Equatable {
        let row: Int64
        let realm: String
        let client: String
    }

    private var candidates: [Account.ID: [Candidate]] = [:]

    mutating func add(_ row: Int64, homeAccountID: String, environment: String, realm: String?, client: String?) {
        let key = Account.ID(issuer: environment.folded, homeAccountID: homeAccountID)
        let candidate = Candidate(row: row, realm: realm?.folded ?? "", client: client?.folded ?? "")
        if candidates[key]?.contains(candidate) != true { candidates[key, default: []].append(candidate) }
    }

    /// The row for an entry: of several the one of the same tenant and client, as far as the entry names them.
    ///
    /// - Throws: ``MSALRejection`` where two accounts fit alike: the wrong one's issuer would get the token.
    func row(homeAccountID: String, environment: String, realm: String?, client: String?) throws -> Int64? {
        let key = Account.ID(issuer: environment.folded, homeAccountID: homeAccountID)
        guard let known = candidates[key] else { return nil }
        guard known.contains(where: { $0.row != known[0].row }) else { return known[0].row }
        let greatest = known.map { score($0, realm, client) }.max()
        let rows = Set(known.filter { score($0, realm, client) == greatest }.map(\.row))
        guard rows.count == 1 else {
            throw MSALRejection("accounts of several issuers at its host have its id, and nothing tells which it is of")
        }
        return rows.first
    }

    private func score(_ candidate: Candidate, _ realm: String?, _ client: String?) -> Int {
        (candidate.realm == realm?.folded ? 2 : 0) + (candidate.client == client?.folded ? 1 : 0)
    }
}
