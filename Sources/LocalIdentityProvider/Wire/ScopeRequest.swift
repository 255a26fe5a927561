import OAuth

/// The `scope` parameter split into OpenID Connect's scopes and those of at most one resource.
struct ScopeRequest: Sendable {
    /// The scope if none is named.
    static let usual = "openid profile offline_access"
    static let openIDScopes = ["openid", "profile", "email", "offline_access"]

    private(set) var openID: [String] = []
    private(set) var resource: ProtectedResource?
    /// Full names, in the order asked.
    private(set) var resourceScopes: [String] = []

    init(_ text: String?, tenant: Tenant) throws {
        for token in (text ?? Self.usual).split(separator: " ").map(String.init) {
            if Self.openIDScopes.contains(token) {
                if !openID.contains(token) { openID.append(token) }
                continue
            }
            guard let match = tenant.resources.first(where: { $0.scopeNames.contains(token) }) else {
                throw ProtocolError.scope("No API has the scope \(token.prefix(80)).")
            }
            guard resource == nil || resource?.identifier == match.identifier else {
                throw ProtocolError.scope("The scopes belong to two APIs. Ask for one API's scopes at a time.")
            }
            resource = match
            if !resourceScopes.contains(token) { resourceScopes.append(token) }
        }
    }

    /// What the token response says was granted: an API's scopes alone, or OpenID Connect's.
    var granted: [String] { resource == nil ? openID : resourceScopes }

    /// The scopes a person must agree to and has not.
    func missingConsent(_ consented: Set<String>) -> [String] {
        guard let resource else { return [] }
        return resourceScopes.filter { resource.needsConsent(toScope: $0) && !consented.contains($0) }
    }
}

/// The `claims` parameter (OpenID Connect Core section 5.5), of which authentication contexts are honoured.
enum ClaimsRequest {
    /// The values asked for under `acrs`; a value that is missing or not a JSON object requests none.
    static func contexts(_ text: String?) -> [String] {
        let json = text.flatMap { try? JSONValue(parsing: $0) }
        return ["access_token", "id_token"].compactMap { json?[$0]?["acrs"] }.flatMap { asked in
            ([asked["value"]] + (asked["values"]?.array ?? [])).compactMap { $0?.text }
        }
    }
}
