import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TokenStorage

/// An issuer on loopback, and sessions of it in stores.
struct BenchIssuer: Sendable {
    static let scope: Scope = "api://todolist/ToDoList.Read"

    let provider: LocalIdentityProvider

    /// Without `grace` a refresh token that is used twice ends its session.
    init(grace: Double = 0) async throws {
        var configuration = LocalIdentityProvider.Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.refreshGrace = grace
        provider = try await LocalIdentityProvider.start(configuration)
    }

    /// Signs in, with an access token that ends or is worth refreshing after some seconds.
    func signIn(_ path: StorePath, lifetime: Int64 = 3_600, refreshIn: Int64? = nil) async throws {
        let login = Login(provider: provider, transport: AsyncHTTPTransport())
        try await login.signIn(to: TokenStore.open(at: path), client: "pwd-app", scope: Self.scope) {
            $0.expiresIn = lifetime
            $0.refreshIn = refreshIn
        }
    }

    /// How many requests an endpoint has had.
    func requests(to route: String = "token") -> Int { provider.audit.count(of: route) }
}

extension Bench {
    /// `tokenstore token` for the session in a store.
    func token(_ path: StorePath, _ arguments: String...) throws -> ChildProcess {
        try tool(["token", "--scope", BenchIssuer.scope.text, "--store", path.database] + arguments)
    }
}
