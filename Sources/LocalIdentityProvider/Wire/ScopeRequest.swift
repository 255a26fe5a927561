/// The `scope` parameter split into OpenID Connect's scopes and those of at most one resource.
struct ScopeRequest: Sendable {
    /// What is meant when no scope is named.
    static let usual = "openid profile offline_access"
    static let openIDScopes = ["openid", "profile", "email", "offline_access"]

    var openID: [String] = []
    var resource: ProtectedResource?
    /// Full names, in the order asked.
    var resourceScopes: [String] = []

    init(_ text: String?, tenant: Tenant) throws {
        for token in (text ?? Self.usual).split(separator: " ").map(String.init) {
            if Self.openIDScopes.contains(token) {
                if !openID.contains(token) { openID.append(token) }
                continue
            }
            guard let match = tenant.resource(forScope: token) else {
                throw ProtocolError.scope("No API has the scope \(token.prefix(80)).")
            }
            guard resource == nil || resource?.identifier == match.resource.identifier else {
                throw ProtocolError.scope("The scopes belong to two APIs. Ask for one API's scopes at a time.")
            }
            resource = match.resource
            for scope in match.scopes where !resourceScopes.contains(scope) { resourceScopes.append(scope) }
        }
    }

    var isRefreshable: Bool { openID.contains("offline_access") }
    var wantsIDToken: Bool { openID.contains("openid") }

    /// What the token response says was granted: an API's scopes alone, or OpenID Connect's.
    var granted: [String] { resource == nil ? openID : resourceScopes }

    /// The scopes a person must agree to and has not.
    func missingConsent(_ consented: Set<String>) -> [String] {
        guard let resource else { return [] }
        return resourceScopes.filter { resource.needsConsent(toScope: $0) && !consented.contains($0) }
    }
}
