package import Foundation
package import HTTPTransport
package import LocalIdentityProvider
package import NativeAuthentication
package import OAuth
import TestSupport
import TokenManagement
package import TokenStorage

/// A provider and an empty store, all of whose time stands still unless a test or a pause moves it.
package struct NativeScene: Sendable {
    package static let start = Date(timeIntervalSince1970: 1_790_000_000)
    package static let transport = AsyncHTTPTransport()
    package static let ana = "ana.rojas@example.org"
    package static let anasPassword = Secret("Quinoa-7-Lunas")
    package static let bo = "bo@example.org"
    package static let cleo = "cleo@example.org"
    package static let cleosPassword = Secret("Marmol-4-Rios")
    package static let new = "eva.mora@example.org"
    package static let newPassword = Secret("Llanura-5-Viento")
    package static let toDo: Scope = "api://todolist/ToDoList.Read"
    package static let demo: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.read"

    package let provider: LocalIdentityProvider
    package let store: TokenStore
    package let pauses: Pauses
    private let directory: TemporaryDirectory

    package static func open(
        grace: TimeInterval = 10,
        seed: Seed? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (NativeScene) async throws -> Void
    ) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.clock = ProviderClock { start }
        configuration.refreshGrace = grace
        configuration.seed = seed
        try await LocalIdentityProvider.running(configuration) { provider in try await body(NativeScene(provider)) }
    }

    private init(_ provider: LocalIdentityProvider) throws {
        self.provider = provider
        pauses = Pauses(provider.clock)
        directory = try TemporaryDirectory()
        store = try Self.openStore(directory, provider.clock)
    }

    private static func openStore(_ directory: TemporaryDirectory, _ clock: ProviderClock) throws -> TokenStore {
        var options = StoreOptions()
        options.now = { clock.now }
        options.program = "tests"
        return try TokenStore.open(at: StorePath(directory.file("tokenstore.db")), options: options)
    }

    /// The same store, opened as another process would.
    package func reopened() throws -> TokenStore { try Self.openStore(directory, provider.clock) }

    /// An app of the tenant.
    package func app(
        _ client: String = "otp-app",
        transport: any HTTPTransport = transport,
        store: TokenStore? = nil,
        _ change: (inout NativeAuthConfiguration) throws -> Void = { _ in }
    ) throws -> NativeAuthPublicClientApplication {
        let authority = try Authority(parsing: provider.baseURL + "/fabrikvine.onmicrosoft.com")
        var configuration = try NativeAuthConfiguration(clientID: client, authority: authority)
        configuration.capabilities = [.mfaRequired, .registrationRequired]
        configuration.tokenOptions.pause = { [pauses] in try await pauses.pause($0) }
        // The machine that runs the tests may be busy with others.
        configuration.tokenOptions.limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)
        try change(&configuration)
        return NativeAuthPublicClientApplication(configuration, store: store ?? self.store, transport: transport)
    }

    /// The last code that was sent to an address.
    package func code(to recipient: String = bo) throws -> Secret {
        guard let code = provider.outbox.messages(to: recipient).last?.code else { throw ExpectationFailure("a code") }
        return Secret(code)
    }

    /// A code that is certainly not the one sent last.
    package func wrongCode(to recipient: String = bo) throws -> Secret {
        let digits = try code(to: recipient).reveal().compactMap(\.wholeNumberValue)
        return Secret(digits.map { "\(($0 + 1) % 10)" }.joined())
    }

    /// How many messages were sent.
    package var messages: Int { provider.outbox.messages().count }

    /// The requests so far, without those for metadata and keys.
    package var requests: [String: Int] { provider.audit.counts.filter { !["metadata", "keys"].contains($0.key) } }

    /// Whether no account is stored, and none is in the record of use.
    package var isUntouched: Bool { get throws { try store.accounts().isEmpty && store.events().isEmpty } }
}
