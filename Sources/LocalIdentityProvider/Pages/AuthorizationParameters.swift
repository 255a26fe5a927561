import Foundation

/// The checked parameters of an authorization request.
struct AuthorizationParameters: Sendable {
    let realm: Realm
    let client: Client
    let response: AuthorizationReply
    let scope: String
    let scopes: ScopeRequest
    let nonce: String?
    let challenge: String?
    let prompt: Set<String>
    let loginHint: String?
    /// The identity provider that is to check who the person is.
    let domainHint: String?
    let maximumAge: Int?
    /// The key that the code is bound to (RFC 9449 section 10).
    let thumbprint: String?
    /// The authentication contexts that a claims request names.
    let contexts: [String]

    var holder: Holder { realm.holder(client.id) }

    /// Reads the request once its client and redirect URI are known to be good.
    init(_ parameters: Parameters, realm: Realm, client: Client, response: AuthorizationReply) throws {
        guard parameters["response_type"] == "code" else { throw ProtocolError.responseType }
        guard parameters["request"] == nil, parameters["request_uri"] == nil else { throw ProtocolError.requestObject }
        self.realm = realm
        self.client = client
        self.response = response
        scope = parameters["scope"] ?? "openid"
        nonce = parameters["nonce"]
        loginHint = parameters["login_hint"]?.lowercased()
        domainHint = parameters["domain_hint"]?.lowercased()
        contexts = ClaimsRequest.contexts(parameters["claims"])
        challenge = parameters["code_challenge"]
        thumbprint = parameters["dpop_jkt"]
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

/// The way back to the client (RFC 6749 section 4.1.2).
struct AuthorizationReply: Sendable {
    let redirectURI: String
    let mode: String
    let state: String?

    func success(_ code: String) -> Reply { reply(["code": code], outcome: "code") }

    func failure(_ error: String, _ text: String) -> Reply {
        reply(["error": error, "error_description": text], outcome: error)
    }

    private func reply(_ parameters: KeyValuePairs<String, String>, outcome: String) -> Reply {
        let parameters = parameters.map { ($0, $1) } + (state.map { [("state", $0)] } ?? [])
        if mode == "form_post" { return formPost(parameters, outcome) }
        let encoded = parameters.map { "\($0)=\(Self.encode($1))" }.joined(separator: "&")
        let separator = mode == "fragment" ? "#" : (redirectURI.contains("?") ? "&" : "?")
        return .found(redirectURI + separator + encoded, outcome: outcome)
    }

    private func formPost(_ parameters: [(String, String)], _ outcome: String) -> Reply {
        let fields = parameters.map { name, value -> HTML in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        let nonce = RandomToken.make()
        let content: HTML = """
            <form method="post" action="\(redirectURI)">\(fields)<button>Continue</button></form>\
            <script nonce="\(nonce)">document.forms[0].submit()</script>
            """
        var reply = Page(title: "Back to the app", content: content).reply(outcome: outcome)
        reply.headers["content-security-policy"]? += "; script-src 'nonce-\(nonce)'"
        return reply
    }

    /// Leaves only the unreserved characters of RFC 3986.
    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    )
}
