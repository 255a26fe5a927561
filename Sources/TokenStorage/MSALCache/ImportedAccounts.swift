import OAuth

/// Which account row each identity of a document belongs to.
///
/// A cache names an account by id and host alone; only its ID tokens tell issuers apart that share a host.
struct ImportedAccounts {
    private struct Key: Hashable {
        let homeAccount: String
        let environment: String

        /// An id that no `client_info` gave is a subject, which differs by case (OpenID Connect Core §2).
        init(_ homeAccountID: String, _ environment: String) {
            let isFolded = Cloud.contains(environment) || ClientInfo.isShaped(homeAccountID)
            homeAccount = isFolded ? homeAccountID.folded : homeAccountID
            self.environment = environment.folded
        }
    }

    private struct Candidate {
        let row: Int64
        let realm: String
        let client: String
    }

    private var candidates: [Key: [Candidate]] = [:]

    mutating func add(_ row: Int64, homeAccountID: String, environment: String, realm: String?, client: String?) {
        let key = Key(homeAccountID, environment)
        candidates[key, default: []].append(
            Candidate(row: row, realm: realm?.folded ?? "", client: client?.folded ?? "")
        )
    }

    /// The row for an entry: of several the one of the same tenant and client, as far as the entry names them.
    func row(homeAccountID: String, environment: String, realm: String?, client: String?) -> Int64? {
        let key = Key(homeAccountID, environment)
        guard let known = candidates[key] else { return nil }
        return known.max { score($0, realm, client) < score($1, realm, client) }?.row
    }

    private func score(_ candidate: Candidate, _ realm: String?, _ client: String?) -> Int {
        (candidate.realm == realm?.folded ? 2 : 0) + (candidate.client == client?.folded ? 1 : 0)
    }
}
