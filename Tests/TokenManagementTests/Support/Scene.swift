import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import TestSupport
import TokenManagement
import TokenStorage

/// A provider, a store and a person signed in, all of whose time stands still unless a test moves it.
struct Scene: Sendable {
    static let start = Date(timeIntervalSince1970: 1_790_000_000)
    static let client = "pwd-app"
    static let toDo: Scope = "api://todolist/ToDoList.Read"
    static let demo: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.read"
    static let transport = AsyncHTTPTransport()

    /// What the answer to the sign-in says beside `expires_in`.
    struct Lifetimes {
        var refreshIn: Duration?
        var extendedExpiresIn: Duration?
    }

    let provider: LocalIdentityProvider
    let directory: TemporaryDirectory
    let store: TokenStore
    let account: Account.ID

    var clock: ProviderClock { provider.clock }
    var authority: Authority {
        get throws { try Authority(parsing: provider.baseURL + "/fabrikvine.onmicrosoft.com") }
    }

    /// The number of requests to the token endpoint since the sign-in.
    var tokenRequestCount: Int { provider.audit.count(of: "token") }

    /// Runs `body` with a person signed in, whose access token for ``toDo`` ends in an hour.
    static func open(
        grace: TimeInterval = 0,
        answering lifetimes: Lifetimes = Lifetimes(),
        _ body: (Scene) async throws -> Void
    ) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.clock = ProviderClock { start }
        configuration.refreshGrace = grace
        try await LocalIdentityProvider.running(configuration) { provider in try await body(Scene(provider, lifetimes))
        }
    }

    private init(_ provider: LocalIdentityProvider, _ lifetimes: Lifetimes) async throws {
        self.provider = provider
        directory = try TemporaryDirectory()
        store = try Self.openStore(directory, provider.clock)
        let login = Login(provider: provider, transport: Self.transport)
        account = try await login.signIn(to: store, client: Self.client, scope: Self.toDo) {
            $0.refreshIn = lifetimes.refreshIn
            $0.extendedExpiresIn = lifetimes.extendedExpiresIn
        }
        provider.audit.reset()
    }

    private static func openStore(
        _ directory: TemporaryDirectory,
        _ clock: ProviderClock,
        at location: StoreLocation? = nil
    ) throws -> TokenStore {
        var options = StoreOptions()
        options.now = { clock.now }
        options.followsServerClock = false
        options.program = "tests"
        // What another process of the test has written is to be seen at once.
        options.staleness = .zero
        guard let location else { return try StoreEngine.current.open(in: directory, options: options) }
        return try TokenStore.open(at: location, options: options)
    }

    /// The same store by other connections, as in another process.
    func openAgain() throws -> TokenStore { try Self.openStore(directory, clock, at: store.location) }

    /// A manager with its own store connection, as in another process.
    func manager(
        client: String = client,
        _ change: (inout TokenManagerOptions) -> Void = { _ in },
        transport: any HTTPTransport = transport
    ) throws -> TokenManager {
        var options = TokenManagerOptions()
        options.pause = { _ in }
        // The machine that runs the tests may be busy with others.
        options.limits.head = .seconds(60)
        options.limits.total = .seconds(60)
        change(&options)
        return TokenManager(store: try openAgain(), clientID: client, transport: transport, options: options)
    }

    func request(_ scope: Scope = toDo, _ change: (inout SilentRequest) -> Void = { _ in }) -> SilentRequest {
        var request = SilentRequest(account: account, scope: scope)
        // A test that runs beside all others may have to wait for its turn.
        request.timeout = .seconds(300)
        change(&request)
        return request
    }

    /// Moves the time past the end of the access token.
    func expire() { clock.advance(by: 3_601) }

    func refuse(_ error: String, suberror: String? = nil, numbers: String = "[]", status: Int = 400, times: Int? = 1) {
        let member = suberror.map { #","suberror":"\#($0)""# } ?? ""
        let body = #"{"error":"\#(error)"\#(member),"error_codes":\#(numbers),"error_description":"No."}"#
        provider.faults.add(.answer(status: status, body: body, at: "token", times: times))
    }

    func answer(_ body: String, times: Int? = 1) {
        provider.faults.add(.answer(body: body, at: "token", times: times))
    }

    var refreshTokens: [StoredRefreshToken] {
        get throws { try store.refreshTokens(of: account, client: Self.client) }
    }
}
