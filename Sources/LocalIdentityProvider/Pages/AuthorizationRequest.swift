/// The checked parameters of an authorization request.
struct AuthorizationRequest: Sendable {
    let realm: Realm
    let client: Client
    let response: AuthorizationResponse
    let scope: String
    let scopes: ScopeRequest
    let nonce: String?
    let challenge: String?
    let prompt: Set<String>
    let loginHint: String?
    let maximumAge: Int?
    /// The authentication contexts that a claims request names.
    let contexts: [String]

    var holder: Holder { realm.holder(client.id) }

    /// Reads the request once its client and redirect URI are known to be good.
    init(_ parameters: Parameters, realm: Realm, client: Client, response: AuthorizationResponse) throws {
        guard parameters["response_type"] == "code" else { throw ProtocolError.responseType }
        guard parameters["request"] == nil, parameters["request_uri"] == nil else { throw ProtocolError.requestObject }
        self.realm = realm
        self.client = client
        self.response = response
        scope = parameters["scope"] ?? "openid"
        nonce = parameters["nonce"]
        loginHint = parameters["login_hint"]?.lowercased()
        contexts = ClaimsRequest.contexts(parameters["claims"])
        challenge = parameters["code_challenge"]
        prompt = Set((parameters["prompt"] ?? "").split(separator: " ").map(String.init))
        maximumAge = parameters["max_age"].map { Int($0) ?? -1 }
        if challenge != nil || client.isPublic {
            let isHash = challenge?.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil
            guard isHash, parameters["code_challenge_method"] == "S256" else { throw ProtocolError.codeChallenge }
        }
        guard prompt.isSubset(of: ["none", "login", "consent", "select_account", "create"]),
            !prompt.contains("none") || prompt.count == 1
        else { throw ProtocolError.invalidParameter("prompt") }
        guard maximumAge ?? 0 >= 0 else { throw ProtocolError.invalidParameter("max_age") }
        scopes = try ScopeRequest(scope, tenant: realm.tenant)
    }
}
