public import Logging
public import OAuth
public import SignIn
public import TokenManagement

/// What a native app is registered as, and what it can do (MSAL's `MSALNativeAuthPublicClientApplicationConfig`).
public struct NativeAuthConfiguration: Sendable {
    /// The client's id, as it was registered.
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
    public var tokenOptions = TokenManagerOptions()

    /// How long tokens that may be on their way are waited for when a sign-in is cancelled.
    package var patience = Duration.seconds(2)

    /// Where the flows say what they did, without any secret.
    public var logger = Logger(label: "tokenstore.native")

    /// A client that is registered for native authentication in a tenant.
    ///
    /// - Throws: `SignInError.Code.invalidRequest` if the client id is invalid, or `authority` is not a tenant.
    public init(
        clientID: String,
        authority: Authority,
        challengeTypes: ChallengeTypes = [.oob, .password]
    ) throws(SignInError) {
        _ = try PublicClientConfiguration(clientID: clientID, redirectURI: .anyPort, authority: authority)
        guard authority.issuer == nil, authority.userFlow == nil, !authority.isTenantless else {
            throw .invalidRequest(
                "\(authority.url) is not a tenant with native authentication",
                .correct("give a tenant, such as https://NAME.ciamlogin.com")
            )
        }
        self.clientID = clientID
        self.authority = authority
        self.challengeTypes = challengeTypes
    }

    /// The tenant `tenantSubdomain.ciamlogin.com`.
    ///
    /// - Throws: `SignInError.Code.invalidRequest`.
    public init(
        clientID: String,
        tenantSubdomain: String,
        challengeTypes: ChallengeTypes = [.oob, .password]
    ) throws(SignInError) {
        let place: Authority
        do {
            place = try Authority(parsing: "https://\(tenantSubdomain).ciamlogin.com")
        } catch {
            throw .invalidRequest(error)
        }
        guard !tenantSubdomain.isEmpty, !tenantSubdomain.contains(where: { ".:/".contains($0) }) else {
            throw .invalidRequest(
                "'\(tenantSubdomain)' is not a subdomain",
                .correct("give the part before .ciamlogin.com")
            )
        }
        try self.init(clientID: clientID, authority: place, challengeTypes: challengeTypes)
    }
}

/// What the app can do beyond a first factor (MSAL's `MSALNativeAuthCapabilities`).
///
/// Where one is needed that was not announced, the issuer sends the person to the browser.
public struct Capabilities: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// The set of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The application can ask for a second factor.
    public static let mfaRequired = Capabilities(rawValue: 1)

    /// The application can have a strong authentication method registered.
    public static let registrationRequired = Capabilities(rawValue: 2)

    /// The value of the `capabilities` parameter; nil leaves it out.
    var text: String? {
        let words = [(Self.mfaRequired, "mfa_required"), (Self.registrationRequired, "registration_required")]
        let announced = words.filter { contains($0.0) }.map(\.1).joined(separator: " ")
        return announced.isEmpty ? nil : announced
    }
}

/// How the app can ask people to prove who they are (MSAL's `MSALNativeAuthChallengeTypes`).
public struct ChallengeTypes: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// The set of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A code by e-mail or text message.
    public static let oob = ChallengeTypes(rawValue: 1)

    /// A password.
    public static let password = ChallengeTypes(rawValue: 2)

    /// The value of the `challenge_type` parameter; the browser is always a way out.
    var text: String {
        let words = [(Self.oob, "oob"), (Self.password, "password")].filter { contains($0.0) }.map(\.1)
        return (words + ["redirect"]).joined(separator: " ")
    }
}

/// Adds headers to the requests of native authentication (MSAL's `MSALNativeAuthRequestInterceptor`).
public protocol RequestInterceptor: Sendable {
    /// The headers to add to a request to `url`.
    ///
    /// Names begin with `x-`, and not with `x-ms-`, `x-client-`, `x-broker-` or `x-app-`; others are left out with a
    /// warning in the log.
    func headers(for url: String) async -> [String: String]
}

/// The names of headers that an app may add.
enum RequestHeaderName {
    private static let reserved = ["x-ms-", "x-client-", "x-broker-", "x-app-"]

    static func isAllowed(_ name: String) -> Bool {
        let folded = name.lowercased()
        let isToken = folded.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
        return isToken && folded.count > 2 && folded.hasPrefix("x-") && !reserved.contains { folded.hasPrefix($0) }
    }
}
