import Foundation
package import HTTPTransport
import OAuth
package import SignIn
package import TokenManagement
package import TokenStorage

/// What a client is registered as, and whom it trusts.
///
/// An application keeps what the configuration says when it is made.
public class MSALPublicClientApplicationConfig {
    /// The id that the app is registered with.
    public var clientId: String

    /// Where the issuer sends the browser; nil: `msauth.BUNDLE-ID://auth`, or any free port of this machine for a
    /// program that has no bundle.
    public var redirectUri: String?

    /// Where users sign in unless a request says otherwise.
    public var authority: MSALAuthority

    /// The other authorities that may be used; list every user flow here.
    public var knownAuthorities: [MSALAuthority] = []

    /// Whether a token past its end may serve while the issuer cannot be reached, where the issuer allows it.
    public var extendedLifetimeEnabled = false

    /// What the client can do, such as `CP1`.
    public var clientApplicationCapabilities: [String]?

    /// How many seconds before its end a token is not returned any more.
    public var tokenExpirationBuffer: Double = 300

    /// The path of the store, or the address of a server; nil: the usual one, where the command line keeps its accounts
    /// too.
    public var storePath: String?

    /// A client of `authority`; nil: of any tenant of Microsoft Entra ID.
    public init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {
        self.clientId = clientId
        self.redirectUri = redirectUri
        self.authority = authority ?? .anyTenant
    }

    /// A client of any tenant of Microsoft Entra ID.
    public convenience init(clientId: String) { self.init(clientId: clientId, redirectUri: nil, authority: nil) }

    /// `redirectUri`, or what stands for it.
    package var address: String {
        redirectUri ?? Bundle.main.bundleIdentifier.map { "msauth.\($0)://auth" } ?? RedirectURI.anyPort.text
    }

    package var tokenOptions: TokenManagerOptions {
        var options = Surroundings.current.tokenOptions
        options.allowsExtendedLifetime = extendedLifetimeEnabled
        options.clientCapabilities = clientApplicationCapabilities ?? []
        options.buffer = ExpiryBuffer(.seconds(Int64(exactly: tokenExpirationBuffer.rounded()) ?? 300))
        return options
    }

    /// The client that the issuer's pages are opened for.
    package func client() throws -> PublicClientConfiguration {
        var client = try PublicClientConfiguration(
            clientID: clientId,
            redirectURI: try RedirectURI(address),
            authority: authority.authority
        )
        client.knownAuthorities = knownAuthorities.map(\.authority)
        client.tokenOptions = tokenOptions
        return client
    }

    /// Opens the store.
    package func openStore() throws -> TokenStore {
        let usual = Surroundings.current
        let location = try storePath.map { try StoreLocation($0) } ?? usual.storeLocation()
        return try TokenStore.open(at: location, options: usual.storeOptions)
    }
}

/// What an application takes from where it runs.
package struct Surroundings: Sendable {
    package var storePath: StorePath?
    package var storeOptions = StoreOptions()
    package var tokenOptions = TokenManagerOptions()
    package var transport: any HTTPTransport = AsyncHTTPTransport()
    package var userAgent: any UserAgent = SystemBrowser()

    package init() {}

    /// The usual store.
    fileprivate func storeLocation() throws -> StoreLocation {
        try storePath.map { StoreLocation($0) } ?? .standard(environment: ProcessInfo.processInfo.environment)
    }

    /// What applications that are made now take.
    @TaskLocal package static var current = Surroundings()
}
