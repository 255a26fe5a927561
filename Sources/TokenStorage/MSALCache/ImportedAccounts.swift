import OAuth

/// Which account row each identity of a document belongs to.
///
/// A cache names an account by id and host alone; only its ID tokens tell issuers apart that share a host.
struct ImportedAccounts {
    private struct Candidate {
        let row: Int64
        let realm: String
        let client: String
    }

    private var candidates: [Account.ID: [Candidate]] = [:]

    mutating func add(_ row: Int64, homeAccountID: String, environment: String, realm: String?, client: String?) {
        let key = Account.ID(authority: environment.folded, homeAccountID: homeAccountID)
        candidates[key, default: []].append(
            Candidate(row: row, realm: realm?.folded ?? "", client: client?.folded ?? "")
        )
    }

    /// The row for an entry: of several the one of the same tenant and client, as far as the entry names them.
    func row(homeAccountID: String, environment: String, realm: String?, client: String?) -> Int64? {
        let key = Account.ID(authority: environment.folded, homeAccountID: homeAccountID)
        guard let known = candidates[key] else { return nil }
        return known.max { score($0, realm, client) < score($1, realm, client) }?.row
    }

    private func score(_ candidate: Candidate, _ realm: String?, _ client: String?) -> Int {
        (candidate.realm == realm?.folded ? 2 : 0) + (candidate.client == client?.folded ? 1 : 0)
    }
}
