/// The checked parameters of an authorization request.
struct AuthorizationRequest: Sendable {
    let realm: Realm
    let client: Client
    let response: AuthorizationResponse
    let nonce: String?
    let scope: String
    let scopes: ScopeRequest
    let challenge: String?
    let prompt: Set<String>
    let loginHint: String?
    let maximumAge: Int?
    /// The authentication contexts that a claims request names.
    let contexts: [String]

    var holder: Holder { Holder(client, at: realm) }

    /// Reads the request once its client and redirect URI are known to be good.
    init(_ parameters: Parameters, realm: Realm, client: Client, response: AuthorizationResponse) throws {
        guard parameters["response_type"] == "code" else { throw ProtocolError.responseType }
        guard parameters["request"] == nil, parameters["request_uri"] == nil else {
            throw ProtocolError.requestObject
        }
        self.realm = realm
        self.client = client
        self.response = response
        nonce = parameters["nonce"]
        loginHint = parameters["login_hint"]
        contexts = ClaimsRequest(parameters["claims"]).contexts
        challenge = parameters["code_challenge"]
        prompt = Set(parameters.list("prompt") ?? [])
        maximumAge = parameters["max_age"].map { Int($0) ?? -1 }
        scope = parameters["scope"] ?? "openid"
        if challenge != nil || client.isPublic {
            guard parameters["code_challenge_method"] == "S256",
                challenge?.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil
            else { throw ProtocolError.codeChallenge }
        }
        guard prompt.isSubset(of: ["none", "login", "consent", "select_account", "create"]),
            !prompt.contains("none") || prompt.count == 1
        else { throw ProtocolError.invalidParameter("prompt") }
        guard maximumAge ?? 0 >= 0 else { throw ProtocolError.invalidParameter("max_age") }
        scopes = try ScopeRequest(scope, tenant: realm.tenant)
    }
}
