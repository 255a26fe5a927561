import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import TestSupport
import TokenManagement
import TokenStorage

/// A provider and an empty store, whose time moves only while a sign-in waits.
struct DeviceScene: Sendable {
    static let transport = AsyncHTTPTransport()
    static let client = "b2c-app"
    static let toDo: Scope = "api://todolist/ToDoList.Read"
    private static let tenant = "5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"

    let provider: LocalIdentityProvider
    let store: TokenStore
    let pauses: Pauses
    private let directory: TemporaryDirectory

    static func open(_ body: (DeviceScene) async throws -> Void) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.clock = ProviderClock { Date(timeIntervalSince1970: 1_790_000_000) }
        try await LocalIdentityProvider.running(configuration) { provider in try await body(DeviceScene(provider)) }
    }

    private init(_ provider: LocalIdentityProvider) throws {
        self.provider = provider
        pauses = Pauses(provider.clock)
        directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.now = { [clock = provider.clock] in clock.now }
        options.program = "tests"
        store = try TokenStore.open(at: StorePath(directory.file("tokenstore.db")), options: options)
    }

    /// The tenant as Microsoft's are asked.
    var tenant: Authority { get throws { try Authority(parsing: "\(provider.baseURL)/fabrikvine.onmicrosoft.com") } }

    /// The same issuer as any OpenID provider.
    var openID: Authority { get throws { try Authority(issuer: "\(provider.baseURL)/\(Self.tenant)/v2.0") } }

    /// A sign-in that has its codes, and waits for a person.
    func begin(
        _ client: String = client,
        scope: Scope = toDo,
        at authority: Authority? = nil,
        by transport: any HTTPTransport = transport,
        within timeLimit: Duration? = nil,
        patience: Duration = .zero,
        capabilities: [String] = [],
        parameters: [String: String] = [:]
    ) async throws -> PendingDevice {
        var flow = DeviceCodeFlow(clientID: client, transport: transport)
        flow.extraParameters = parameters
        flow.patience = patience
        flow.clientCapabilities = capabilities
        flow.timeLimit = timeLimit
        flow.now = store.options.now
        flow.pause = { [pauses] in try await pauses.pause($0) }
        flow.instant = { [pauses, start = ContinuousClock.now] in start + pauses.all.reduce(.zero, +) }
        // The machine that runs the tests may be busy with others.
        flow.limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)
        return try await flow.begin(scope, at: try authority ?? tenant)
    }

    /// Signs a person in who approves during the first pause.
    func approved(
        at authority: Authority? = nil,
        by transport: any HTTPTransport = transport,
        capabilities: [String] = []
    ) async throws -> AuthenticationResult {
        let device = try await begin(at: authority, by: transport, capabilities: capabilities)
        pauses.during(1) { try await Approver(Self.transport).approve(device) }
        return try await signedIn(device)
    }

    /// Waits for the person and stores the tokens.
    func signedIn(_ device: PendingDevice) async throws -> AuthenticationResult {
        let tokens = try await device.tokens()
        return try await store.save(tokens)
    }

    /// The error of a sign-in that fails.
    func failure(_ body: () async throws -> AuthenticationResult) async throws -> SignInError {
        do {
            _ = try await body()
        } catch let error as SignInError {
            return error
        }
        throw ExpectationFailure("a failure")
    }

    /// Whether a sign-in that failed left anything of an account behind.
    var isEmpty: Bool {
        get throws {
            let rows = try ["Account", "AccessToken", "RefreshToken", "IdToken"].map { try store.rows($0).count }
            return rows.allSatisfy { $0 == 0 }
        }
    }

    func manager() -> TokenManager {
        var options = TokenManagerOptions()
        options.limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)
        return TokenManager(store: store, clientID: Self.client, transport: Self.transport, options: options)
    }
}
