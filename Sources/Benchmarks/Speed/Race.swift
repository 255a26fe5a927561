import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TokenStorage

/// An issuer with reuse detection, and a store with one session of it.
struct Race: Sendable {
    static let scope: Scope = "api://todolist/ToDoList.Read"

    let provider: LocalIdentityProvider

    init(_ path: StorePath) async throws {
        var configuration = LocalIdentityProvider.Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.refreshGrace = 0
        provider = try await LocalIdentityProvider.start(configuration)
        let login = Login(provider: provider, transport: AsyncHTTPTransport())
        let response = try await login.response(client: "pwd-app", scope: Self.scope)
        let request = TokenRequest(
            clientID: "pwd-app",
            authority: try Authority(parsing: provider.baseURL + "/fabrikvine.onmicrosoft.com"),
            scope: Self.scope,
            grant: Grant(rawValue: "password")
        )
        try TokenStore.open(at: path).save(response, for: request)
    }

    /// How many requests the token endpoint has had.
    var requests: Int { provider.audit.count(of: "token") }
}
