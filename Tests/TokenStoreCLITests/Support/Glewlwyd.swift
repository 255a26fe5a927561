import Crypto
import CryptoExtras
import Database
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import TestSupport

/// Debian's glewlwyd on loopback, with one-use refresh tokens, a public client and a person.
struct Glewlwyd: Sendable {
    static let program = "/usr/bin/glewlwyd"
    private static let documents = "/usr/share/doc/glewlwyd/"
    static let client = "app"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    private let port: Int
    private let transport = AsyncHTTPTransport()

    private var base: String { "http://127.0.0.1:\(port)" }
    var issuer: String { base + "/api/oidc" }

    /// Where `login` listens, as the client is registered.
    let redirectURI: String

    private init() throws {
        port = try UnusedPort().number
        redirectURI = "http://127.0.0.1:\(try UnusedPort().number)/"
    }

    /// How the server signs.
    enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "rsa"
        case es256 = "ecdsa"

        /// A new key, in PEM.
        fileprivate var key: (private: String, public: String) {
            get throws {
                switch self {
                case .rs256:
                    let key = try _RSA.Signing.PrivateKey(pemRepresentation: SigningKeys.pem.get()[0])
                    return (key.pemRepresentation, key.publicKey.pemRepresentation)
                case .es256:
                    let key = P256.Signing.PrivateKey()
                    return (key.pemRepresentation, key.publicKey.pemRepresentation)
                }
            }
        }
    }

    /// Runs `body` while the server answers.
    static func open(_ algorithm: Algorithm = .rs256, _ body: (Glewlwyd) async throws -> Void) async throws {
        let glewlwyd = try Glewlwyd()
        let directory = try TemporaryDirectory()
        let database = directory.file("glewlwyd.db")
        guard FileManager.default.createFile(atPath: database, contents: nil) else {
            throw ExpectationFailure("a database")
        }
        let schema = try unpacked("database/init.sqlite3.sql.gz")
        try Connection(path: database, mode: .readWrite, busyTimeout: .zero).execute(schema)
        let settings = try unpacked("glewlwyd.conf.sample.gz")
            .replacing("port=4593\n", with: "port=\(glewlwyd.port)\nbind_address=\"127.0.0.1\"\n")
            .replacing("http://localhost:4593", with: glewlwyd.base)
            .replacing("cookie_domain=\"localhost\"", with: "cookie_domain=\"127.0.0.1\"")
            .replacing("cookie_secure=1", with: "cookie_secure=0")
            .replacing("/var/cache/glewlwyd/glewlwyd.db", with: database)
        let file = directory.file("glewlwyd.conf")
        try Data(settings.utf8).write(to: URL(filePath: file))
        let server = Process()
        server.executableURL = URL(filePath: program)
        server.arguments = ["--config-file=\(file)"]
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        try server.run()
        defer { server.terminate() }
        try await glewlwyd.configure(algorithm)
        try await body(glewlwyd)
    }

    private static func unpacked(_ name: String) throws -> String {
        let zcat = Process()
        let output = Pipe()
        zcat.executableURL = URL(filePath: "/bin/zcat")
        zcat.arguments = [documents + name]
        zcat.standardOutput = output
        try zcat.run()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    // MARK: - The server's own interface

    private func configure(_ algorithm: Algorithm) async throws {
        let admin = try await session("admin", "password")
        let key = try algorithm.key
        let parameters: JSONValue = [
            "iss": .string(issuer), "jwt-type": .string(algorithm.rawValue), "jwt-key-size": "256",
            "key": .string(key.private), "cert": .string(key.public),
            "access-token-duration": 3_600, "refresh-token-duration": 86_400, "code-duration": 600,
            "refresh-token-rolling": false, "refresh-token-one-use": "always", "allow-non-oidc": true,
            "auth-type-code-enabled": true, "auth-type-refresh-enabled": true, "auth-type-id-token-enabled": true,
            "scope": [], "additional-parameters": [], "claims": [], "jwks-show": true, "secret-type": "pairwise",
            "address-claim": ["type": "no"], "pkce-allowed": true, "introspection-revocation-allowed": true,
            "introspection-revocation-auth-scope": [], "introspection-revocation-allow-target-client": true,
            "oauth-dpop-allowed": true, "oauth-dpop-iat-duration": 60,
        ]
        let module: JSONValue = [
            "module": "oidc", "name": "oidc", "display_name": "oidc", "enabled": true, "parameters": parameters,
        ]
        let scope: JSONValue = ["name": "read", "display_name": "read", "password_required": false, "scheme": [:]]
        let user: JSONValue = [
            "username": "dev", "name": "Dev", "password": "devpassword", "scope": ["openid", "read", "g_profile"],
            "enabled": true,
        ]
        let client: JSONValue = [
            "client_id": .string(Self.client), "name": "app", "confidential": false, "scope": ["openid", "read"],
            "authorization_type": ["code", "refresh_token"], "enabled": true,
            "redirect_uri": ["http://127.0.0.1/", .string(redirectURI)],
            "token_endpoint_auth_method": ["none"],
        ]
        for (path, body) in [("mod/plugin", module), ("scope", scope), ("user", user), ("client", client)] {
            try await call("POST", "/api/\(path)/", body, session: admin)
        }
    }

    /// Signs the person in by the authorization code flow.
    func signIn() async throws -> TokenResponse {
        let cookie = try await session("dev", "devpassword")
        try await call("PUT", "/api/auth/grant/\(Self.client)", ["scope": "openid read"], session: cookie)
        let verifier = String(repeating: "a", count: 50)
        // RFC 7636 section 4.2.
        let challenge = Base64URL.encode(SHA256.hash(data: Array(verifier.utf8)))
        let query =
            "response_type=code&client_id=app&redirect_uri=http%3A%2F%2F127.0.0.1%2F&scope=openid%20read&nonce=n"
            + "&state=s&code_challenge=\(challenge)&code_challenge_method=S256&g_continue="
        let redirect = try await call("GET", "/api/oidc/auth?\(query)", nil, session: cookie)
        guard let code = redirect.headers["location"]?.split(separator: "code=").last?.prefix(while: { $0 != "&" })
        else { throw ExpectationFailure("a code") }
        var form = FormParameters()
        form.append("client_id", Self.client)
        form.append("code", String(code))
        form.append("redirect_uri", "http://127.0.0.1/")
        form.append("code_verifier", verifier)
        return try await TokenEndpoint(issuer + "/token", transport: transport)
            .send(.authorizationCode, form, now: Int64(Date().timeIntervalSince1970)).response
    }

    /// Goes to the address that a login opened, as a user who is signed in there and has agreed.
    func visit(_ start: String) async throws {
        // A browser is given an address of the listener, which leads on to the page.
        let led = try await transport.send(HTTPRequest("GET", start), limits: .issuer)
        guard let address = led.headers["location"] else { throw ExpectationFailure("the way to the page") }
        let cookie = try await session("dev", "devpassword")
        try await call("PUT", "/api/auth/grant/\(Self.client)", ["scope": "openid read"], session: cookie)
        let path = address.dropFirst(base.count) + "&g_continue="
        let answer = try await call("GET", String(path), nil, session: cookie)
        guard let next = answer.headers["location"] else { throw ExpectationFailure("a redirect") }
        _ = try await transport.send(HTTPRequest("GET", next), limits: .issuer)
    }

    /// The cookie of a user who gave a password; the server may still be starting.
    private func session(_ user: String, _ password: String) async throws -> String {
        let body: JSONValue = ["username": .string(user), "password": .string(password)]
        for _ in 0..<2_400 {
            do {
                let response = try await call("POST", "/api/auth/", body, session: "")
                guard let cookie = response.headers["set-cookie"] else { throw ExpectationFailure("a cookie") }
                return String(cookie.prefix { $0 != ";" })
            } catch is HTTPTransportError {
                try await Task.sleep(for: .milliseconds(25))
            }
        }
        throw ExpectationFailure("an answer of glewlwyd")
    }

    @discardableResult
    private func call(_ method: String, _ path: String, _ body: JSONValue?, session: String) async throws
        -> HTTPResponse
    {
        var request = HTTPRequest(method, base + path, headers: ["content-type": "application/json"])
        if !session.isEmpty { request.headers["cookie"] = session }
        request.body = body.map { Secret($0.serialized) }
        let response = try await transport.send(request, limits: .issuer)
        guard response.status < 400 else { throw ExpectationFailure("success at \(path), not \(response.status)") }
        return response
    }
}
