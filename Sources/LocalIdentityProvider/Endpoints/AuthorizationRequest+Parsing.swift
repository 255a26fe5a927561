import Foundation

extension AuthorizationRequest {
    /// Reads the request once its client and redirect URI are known to be good.
    init(_ parameters: Parameters, realm: Realm, client: Client, redirectURI: String, responseMode: String) throws {
        guard parameters["response_type"] == "code" else {
            throw ProtocolError("unsupported_response_type", ErrorNumber.invalidParameter, "Use response_type=code.")
        }
        guard parameters["request"] == nil, parameters["request_uri"] == nil else {
            throw ProtocolError("request_not_supported", ErrorNumber.invalidParameter, "Send plain parameters.")
        }
        let challenge = parameters["code_challenge"]
        if challenge != nil || client.isPublic {
            guard parameters["code_challenge_method"] == "S256",
                challenge?.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil
            else {
                throw ProtocolError.invalidRequest(
                    ErrorNumber.invalidParameter,
                    "A code_challenge with code_challenge_method=S256 is needed."
                )
            }
        }
        let prompt = Set(parameters.list("prompt") ?? [])
        guard prompt.isSubset(of: ["none", "login", "consent", "select_account", "create"]),
            !prompt.contains("none") || prompt.count == 1
        else { throw ProtocolError.invalidParameter("prompt") }
        let maximumAge = parameters["max_age"].map { Int($0) ?? -1 }
        guard maximumAge ?? 0 >= 0 else { throw ProtocolError.invalidParameter("max_age") }
        let scope = parameters["scope"] ?? "openid"
        self.init(
            realm: realm,
            client: client,
            redirectURI: redirectURI,
            responseMode: responseMode,
            state: parameters["state"],
            nonce: parameters["nonce"],
            scope: scope,
            scopes: try ScopeRequest(scope, tenant: realm.tenant),
            challenge: challenge,
            prompt: prompt,
            loginHint: parameters["login_hint"],
            maximumAge: maximumAge,
            contexts: ClaimsRequest(parameters["claims"])?.contexts ?? []
        )
    }

    func code(for signedIn: SignedIn, _ state: ProviderState) -> AuthorizationCode {
        AuthorizationCode(
            clientID: client.id,
            tenantID: realm.tenant.id,
            policy: realm.policy?.name,
            redirectURI: redirectURI,
            challenge: challenge,
            nonce: nonce,
            scope: scope,
            signedIn: signedIn,
            expires: state.clock.now + TimeInterval(Lifetime.authorizationCode)
        )
    }
}
