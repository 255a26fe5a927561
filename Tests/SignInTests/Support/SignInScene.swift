import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import TestSupport
import TokenManagement
import TokenStorage

/// A provider with pages, an empty store, and an app; all of their time stands still unless a test moves it.
struct SignInScene: Sendable {
    static let start = Date(timeIntervalSince1970: 1_790_000_000)
    static let toDo: Scope = "api://todolist/ToDoList.Read"
    static let demo: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.read"
    static let signUpOrSignIn = "b2c_1_susi"
    static let editProfile = "b2c_1_edit"
    static let resetPassword = "b2c_1_reset"
    static let forwarding = "b2c_1_signin"
    static let transport = AsyncHTTPTransport()

    let provider: LocalIdentityProvider
    let store: TokenStore
    private let directory: TemporaryDirectory

    /// The number of requests to the token endpoint.
    var tokenRequestCount: Int { provider.audit.count(of: "token") }

    static func open(_ body: (SignInScene) async throws -> Void) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.clock = ProviderClock { start }
        configuration.refreshGrace = 0
        try await LocalIdentityProvider.running(configuration) { provider in try await body(SignInScene(provider)) }
    }

    private init(_ provider: LocalIdentityProvider) throws {
        self.provider = provider
        directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.now = { [clock = provider.clock] in clock.now }
        options.program = "tests"
        options.followsServerClock = false
        store = try StoreEngine.current.open(in: directory, options: options)
    }

    func authority(_ policy: String = signUpOrSignIn) throws -> Authority {
        let host = String(provider.baseURL.dropFirst("http://".count))
        return try Authority(host: host, tenant: "fabrikvine.onmicrosoft.com", userFlow: policy, scheme: "http")
    }

    /// An app that knows the four user flows, and whose person is at `userAgent`.
    func application(
        _ userAgent: any UserAgent,
        redirectURI: String = "http://127.0.0.1/",
        transport: any HTTPTransport = transport,
        store: TokenStore? = nil,
        _ change: (inout PublicClientConfiguration) -> Void = { _ in }
    ) throws -> PublicClientApplication {
        var configuration = try PublicClientConfiguration(
            clientID: "b2c-app",
            redirectURI: try RedirectURI(redirectURI),
            authority: try authority()
        )
        let userFlows = [Self.signUpOrSignIn, Self.editProfile, Self.resetPassword, Self.forwarding]
        configuration.knownAuthorities = try userFlows.map(authority)
        configuration.tokenOptions.pause = { _ in }
        configuration.tokenOptions.limits.head = .seconds(60)
        configuration.tokenOptions.limits.total = .seconds(60)
        change(&configuration)
        return try PublicClientApplication(
            configuration,
            store: store ?? self.store,
            transport: transport,
            userAgent: userAgent
        )
    }

    /// Signs Ana in.
    func signIn(
        _ scope: Scope = toDo,
        policy: String = signUpOrSignIn,
        in visitor: ScriptedBrowser? = nil
    ) async throws -> AuthenticationResult {
        var request = InteractiveRequest(scope: scope)
        request.authority = try authority(policy)
        let agent = try ScriptedUser(visitor) { visitor in
            if await visitor.heading == "Sign in" { try await visitor.signIn(Self.ana, Self.anasPassword) }
            if await visitor.heading == "Edit profile" { try await visitor.press("save") }
        }
        return try await application(agent).acquireToken(request)
    }

    static let ana = "ana.rojas@example.org"
    static let anasPassword = "Quinoa-7-Lunas"
    static let cleo = "cleo@example.org"
    static let cleosPassword = "Marmol-4-Rios"

    /// Whether no user was signed in: no account, and none in the record of use.
    var isUntouched: Bool {
        get throws { try store.accounts().isEmpty && store.events().isEmpty }
    }

    /// The last code that was sent to an address.
    func code(to recipient: String) throws -> String {
        guard let code = provider.outbox.messages(to: recipient).last?.code else { throw ExpectationFailure("a code") }
        return code
    }
}
