import Crypto
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import TestSupport
import TokenManagement
import TokenStorage

/// An OpenID provider made by hand, whose ID tokens say and are signed as a test wants, and an app with a store.
final class ForgedIssuer: Sendable {
    static let client = "app"
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    let issuer: HandmadeIssuer
    let key = P256.Signing.PrivateKey()
    let store: TokenStore
    private let directory: TemporaryDirectory

    /// The newest authorization request.
    private let request = Mutex<[String: String]>([:])

    /// Whether the browser was opened.
    var hasAsked: Bool { request.withLock { !$0.isEmpty } }

    /// Whether no user was signed in.
    var isUntouched: Bool { get throws { try store.accounts().isEmpty && store.events().isEmpty } }

    /// What the newest authorization request asked for.
    func asked(_ name: String) -> String? { request.withLock { $0[name] } }

    /// Publishes what an issuer in order would, but for some members of its metadata.
    init(_ metadata: KeyValuePairs<String, JSONValue> = [:]) throws {
        issuer = try HandmadeIssuer()
        directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.now = { Self.now }
        store = try TokenStore.open(at: StorePath(directory.file("tokenstore.db")), options: options)
        var members = JSONValue.Object([
            ("authorization_endpoint", .string(issuer.issuer + "/authorize")),
            ("jwks_uri", .string(issuer.issuer + "/keys")),
        ])
        for (name, value) in metadata { members[name] = value }
        issuer.publish(members)
        publish(keys: [Self.publicKey(of: key)])
    }

    func publish(keys: [JSONValue]) {
        let document = JSONValue.object(JSONValue.Object([("keys", .array(keys))]))
        issuer.answer(.init(document.serialized), at: "/op/keys")
    }

    static func publicKey(of key: P256.Signing.PrivateKey) -> JSONValue {
        let point = key.publicKey.rawRepresentation
        return .object(
            JSONValue.Object([
                ("kty", "EC"), ("crv", "P-256"), ("kid", "k1"), ("alg", "ES256"),
                ("x", .string(Base64URL.encode(point.prefix(32)))), ("y", .string(Base64URL.encode(point.suffix(32)))),
            ])
        )
    }

    /// The claims of an ID token in order.
    func claims(nonce: String) -> JSONValue.Object {
        let now = Int64(Self.now.timeIntervalSince1970)
        return JSONValue.Object([
            ("iss", .string(issuer.issuer)), ("aud", .string(Self.client)), ("sub", "s-1"), ("nonce", .string(nonce)),
            ("iat", .number("\(now)")), ("exp", .number("\(now + 600)")), ("name", "Noa Vidal"),
        ])
    }

    /// A compact JWT; `sign` makes the third part of the first two.
    func token(_ header: String, _ claims: JSONValue.Object, sign: (Data) throws -> Data) rethrows -> String {
        let head = Base64URL.encode(header.utf8) + "." + Base64URL.encode(JSONValue.object(claims).serialized.utf8)
        return head + "." + Base64URL.encode(try sign(Data(head.utf8)))
    }

    /// An ID token that this issuer's own key signs.
    func genuine(_ claims: JSONValue.Object) throws -> String {
        try token(#"{"alg":"ES256","kid":"k1"}"#, claims) { try key.signature(for: $0).rawRepresentation }
    }

    /// Signs in; the token endpoint answers with what `idToken` makes of the nonce.
    func signIn(
        _ request: InteractiveRequest = InteractiveRequest(scope: "read"),
        answering more: String = "",
        bringing outcome: String = "code=c",
        redirectURI: String = "http://127.0.0.1/",
        dpop: DPoPPolicy = .off,
        idToken: @escaping @Sendable (ForgedIssuer, String) throws -> String
    ) async throws -> AuthenticationResult {
        var configuration = try PublicClientConfiguration(
            clientID: Self.client,
            redirectURI: RedirectURI(redirectURI),
            authority: Authority(issuer: issuer.issuer)
        )
        configuration.tokenOptions.dpop = dpop
        configuration.tokenOptions.limits.head = .seconds(60)
        configuration.tokenOptions.limits.total = .seconds(60)
        let agent = ReactingUser { [self] address in
            let sent = parameters(of: address)
            self.request.withLock { $0 = sent }
            let token = try idToken(self, sent["nonce"] ?? "")
            issuer.answer(
                .init(#"{"access_token":"at","expires_in":600,"refresh_token":"rt","id_token":"\#(token)"}"#),
                at: "/op/token"
            )
            let target = "\(sent["redirect_uri"] ?? "")?\(outcome)&state=\(sent["state"] ?? "")\(more)"
            _ = try await SignInScene.transport.send(HTTPRequest("GET", target), limits: .issuer)
        }
        let application = try PublicClientApplication(
            configuration,
            store: store,
            transport: SignInScene.transport,
            userAgent: agent
        )
        return try await application.acquireToken(request)
    }
}
