/// The tenant, or one user flow of it, that a request speaks to; each is an issuer of its own.
struct Realm: Sendable {
    let tenant: Tenant
    let policy: UserFlow?
    let baseURL: String

    /// The prefix of this realm's endpoints.
    var authority: String {
        guard let policy else { return "\(baseURL)/\(tenant.id)" }
        return "\(baseURL)/tfp/\(tenant.id)/\(policy.name)"
    }

    var issuer: String { authority + (policy == nil ? "/v2.0" : "/v2.0/") }

    var algorithm: SigningAlgorithm { tenant.algorithm }

    /// The audience of a token that was asked for no API.
    var userInfoAudience: String { "\(baseURL)/\(tenant.id)/\(Route.userInfo.rawValue)" }

    func url(_ route: Route) -> String { "\(authority)/\(route.rawValue)" }

    /// The first half of `client_info`: one person has one account per policy.
    func accountID(of oid: String) -> String { policy.map { "\(oid)-\($0.name)" } ?? oid }

    func client(_ id: String?) throws -> Client {
        guard let id, id.count <= 128, id.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil else {
            throw ProtocolError.invalidParameter("client_id")
        }
        guard let client = tenant.clients.first(where: { $0.id == id }) else { throw ProtocolError.unknownClient }
        return client
    }
}
