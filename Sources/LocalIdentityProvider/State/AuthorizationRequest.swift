/// The checked parameters of an authorization request.
struct AuthorizationRequest: Sendable {
    let realm: Realm
    let client: Client
    let redirectURI: String
    let responseMode: String
    let state: String?
    let nonce: String?
    let scope: String
    let scopes: ScopeRequest
    let challenge: String?
    let prompt: Set<String>
    let loginHint: String?
    let maximumAge: Int?
    /// The authentication contexts that a claims request names.
    let contexts: [String]
}
