import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TokenStorage
import TokenStoreCLI

/// An issuer on loopback, and sessions of it in stores.
struct BenchIssuer: Sendable {
    static let client = "pwd-app"
    static let scope: Scope = "api://todolist/ToDoList.Read"

    let provider: LocalIdentityProvider

    /// Without `grace` a refresh token that is used twice ends its session.
    init(grace: Double = 0) async throws {
        var configuration = LocalIdentityProvider.Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.refreshGrace = grace
        provider = try await LocalIdentityProvider.start(configuration)
    }

    /// Signs in, with an access token that ends after some seconds.
    func signIn(_ path: StorePath, lifetime: Int64 = 3_600) async throws {
        try await signIn(to: TokenStore.open(at: path), lifetime: lifetime)
    }

    func signIn(to store: TokenStore, lifetime: Int64) async throws {
        let login = Login(provider: provider, transport: AsyncHTTPTransport())
        try await login.signIn(to: store, client: Self.client, scope: Self.scope) {
            $0.expiresIn = .seconds(lifetime)
        }
    }

    /// The address that its metadata names.
    var issuer: String { provider.baseURL + "/5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10/v2.0" }

    /// What the token endpoint answers to a new sign-in.
    func response() async throws -> TokenResponse {
        try await Login(provider: provider, transport: AsyncHTTPTransport())
            .response(client: Self.client, scope: Self.scope)
    }

    /// Ends it; a failure to close the listener cannot be reported.
    func stop() { try? AsynchronousWork.run { [provider] in await provider.stop() } }

    /// How many requests an endpoint has had.
    func requests(to route: String = "token") -> Int { provider.audit.count(of: route) }
}

extension Bench {
    /// `tokenstore token` for the session in a store.
    func token(_ path: StorePath, _ arguments: String...) throws -> ChildProcess {
        try tool(["token", "--scope", BenchIssuer.scope.text, "--store", path.database] + arguments)
    }
}
