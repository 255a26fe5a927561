public import Logging
public import OAuth
public import SignIn
public import TokenManagement

/// What a native app is registered as, and what it can do (MSAL's `MSALNativeAuthPublicClientApplicationConfig`).
public struct NativeAuthConfiguration: Sendable {
    public let clientID: String

    /// The tenant.
    public let authority: Authority

    /// How the app can ask people to prove who they are.
    public var challengeTypes: ChallengeTypes

    /// What the app can do beyond a first factor.
    public var capabilities: Capabilities = []

    /// Where the browser comes back to, for what cannot be done without one.
    public var redirectURI: RedirectURI?

    /// Whether several people may be signed in at once; otherwise a sign-in signs out the one before it.
    public var allowsSeveralAccounts = false

    /// The value of `dc`, for requests to one datacenter.
    public var datacenter: String?

    /// Adds headers to every request.
    public var interceptor: (any RequestInterceptor)?

    /// How tokens are handed out and refreshed, and the limits of each request.
    public var tokens = TokenManagerOptions()

    public var logger = Logger(label: "tokenstore.native")

    /// - Throws: `SignInError.invalidRequest(_:)` if the client id is none, or `authority` is no tenant.
    public init(
        clientID: String,
        authority: Authority,
        challengeTypes: ChallengeTypes = [.oob, .password]
    ) throws(SignInError) {
        _ = try PublicClientConfiguration(clientID: clientID, redirectURI: .anyPort, authority: authority)
        guard authority.issuer == nil, authority.policy == nil, !authority.isTenantless else {
            throw .invalidRequest("\(authority.url) is no tenant with native authentication; name one")
        }
        self.clientID = clientID
        self.authority = authority
        self.challengeTypes = challengeTypes
    }

    /// The tenant `tenantSubdomain.ciamlogin.com`.
    ///
    /// - Throws: `SignInError.invalidRequest(_:)`.
    public init(
        clientID: String,
        tenantSubdomain: String,
        challengeTypes: ChallengeTypes = [.oob, .password]
    ) throws(SignInError) {
        let place: Authority
        do {
            place = try Authority(parsing: "https://\(tenantSubdomain).ciamlogin.com")
        } catch {
            throw .invalidRequest(error.description)
        }
        guard !tenantSubdomain.isEmpty, !tenantSubdomain.contains(where: { ".:/".contains($0) }) else {
            throw .invalidRequest("'\(tenantSubdomain)' is no subdomain; give the part before .ciamlogin.com")
        }
        try self.init(clientID: clientID, authority: place, challengeTypes: challengeTypes)
    }
}
