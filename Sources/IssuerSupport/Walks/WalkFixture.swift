import HTTPTransport
import LocalIdentityProvider
import Logging
import NativeAuthentication
import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A provider and a store for some walks, whose time stands still unless a caller waits.
struct WalkFixture {
    static let clients = ["otp-app", "pwd-app", "mfa-app"]

    let provider: LocalIdentityProvider
    let store: TokenStore
    let apps: [NativeAuthPublicClientApplication]

    init(directory: String) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.clock = ProviderClock { Date(timeIntervalSince1970: 1_790_000_000) }
        let provider = try await LocalIdentityProvider.start(configuration)
        self.provider = provider
        var options = StoreOptions()
        options.now = { [clock = provider.clock] in clock.now }
        options.program = "walks"
        let store = try await TokenStore.open(at: StorePath(directory + "/"), options: options)
        self.store = store
        let transport = AsyncHTTPTransport()
        apps = try Self.clients.map { client in
            let authority = try Authority(parsing: provider.baseURL + "/fabrikvine.onmicrosoft.com")
            var configuration = try NativeAuthConfiguration(clientID: client, authority: authority)
            configuration.capabilities = [.mfaRequired, .registrationRequired]
            // Failures here are intended.
            configuration.logger = Logger(label: "walks") { _ in SwiftLogNoOpLogHandler() }
            configuration.tokenOptions.logger = configuration.logger
            configuration.tokenOptions.pause = { [clock = provider.clock] pause in
                clock.advance(by: TimeInterval(pause.components.seconds) + 0.5)
            }
            configuration.tokenOptions.limits = HTTPLimits(head: .seconds(30), total: .seconds(30), bodySize: 1 << 20)
            return NativeAuthPublicClientApplication(configuration, store: store, transport: transport)
        }
    }

    /// The parts of the store that would show a half stored account.
    var stock: Stock {
        get throws {
            let status = try store.status()
            return Stock(
                accounts: status.accounts,
                accessTokens: status.accessTokens,
                refreshTokens: status.refreshTokens,
                idTokens: status.idTokens
            )
        }
    }

    struct Stock: Equatable {
        let accounts: Int
        let accessTokens: Int
        let refreshTokens: Int
        let idTokens: Int
    }

    /// What the account of a completed sign-in lacks; nil where it is whole.
    func flaw(of account: NativeAuthUserAccount, _ client: String) throws -> String? {
        let id = account.account.id
        guard try store.accounts().contains(where: { $0.id == id }) else { return "no account" }
        if try store.refreshTokens(of: id, client: client).isEmpty { return "no refresh token" }
        if try store.idTokens(of: id, client: client).isEmpty { return "no ID token" }
        return try stock.accessTokens == 0 ? "no access token" : nil
    }
}
