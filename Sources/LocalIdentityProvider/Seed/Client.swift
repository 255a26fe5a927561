package struct Client: Codable, Sendable {
    /// How people of a client prove who they are first.
    package enum SignUpMethod: String, Omittable, Sendable {
        case code
        case password

        package init() { self = .password }
    }

    /// When a client asks for a second factor.
    package enum SecondFactorRule: String, Omittable, Sendable {
        case never
        case always
        /// Only when a claims request names `acrs`.
        case onClaim

        package init() { self = .never }

        /// Whether the rule asks for one where `contexts` are claimed.
        func applies(to contexts: [String]) -> Bool { self == .always || self == .onClaim && !contexts.isEmpty }
    }

    package var id: String
    package var name: String?
    /// Present only for a confidential client.
    package var secret: String?
    @Defaulted package var isNativeEnabled: Bool
    @Defaulted package var signUpMethod: SignUpMethod
    @Defaulted package var secondFactor: SecondFactorRule
    /// Exact, except that a loopback URI matches on every port.
    @Defaulted package var redirectURIs: [String]
    /// Where a logout may return to; nil means the redirect URIs.
    package var postLogoutRedirectURIs: [String]?
    @Defaulted package var attributePages: [[FlowAttribute]]
    package var claimsProvider: ClaimsProvider?

    var displayName: String { name ?? id }
    var isPublic: Bool { secret == nil }

    /// Whether `uri` is registered (RFC 8252 section 7.3 for the port).
    func allowsRedirect(to uri: String) -> Bool { Self.allows(uri, redirectURIs) }

    /// Whether `uri` is registered for the way back from a logout.
    func allowsPostLogoutRedirect(to uri: String) -> Bool { Self.allows(uri, postLogoutRedirectURIs ?? redirectURIs) }

    private static func allows(_ uri: String, _ registered: [String]) -> Bool {
        guard !uri.contains("#") else { return false }
        return registered.contains { $0 == uri || withoutLoopbackPort($0) == withoutLoopbackPort(uri) }
    }

    private static func withoutLoopbackPort(_ uri: String) -> String {
        guard let match = uri.wholeMatch(of: /(https?:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]+)?(\/.*)?/)
        else {
            return uri
        }
        let path = match.2.map(String.init) ?? ""
        return String(match.1) + (path.isEmpty ? "/" : path)
    }
}

/// A web service that adds claims before a token is signed.
package struct ClaimsProvider: Codable, Sendable {
    package enum FailureRule: String, Omittable, Sendable {
        case refuse
        case omit

        package init() { self = .refuse }
    }

    package var url: String
    package var timeoutMilliseconds: Int?
    @Defaulted package var onFailure: FailureRule
    /// The service's name of a claim, and the name in the token.
    @Defaulted package var claims: [String: String]
}

/// A web API that accepts access tokens.
package struct ProtectedResource: Codable, Sendable {
    /// One permission of an API.
    package struct Permission: Codable, Sendable {
        package var value: String
        @Defaulted package var needsConsent: Bool
    }

    /// The application ID URI that scopes begin with.
    package var identifier: String
    package var audience: String
    /// `api1` or `api2`: where this provider serves it.
    package var path: String
    /// The first one reads, the last one writes.
    package var scopes: [Permission]

    var scopeNames: [String] { scopes.map { "\(identifier)/\($0.value)" } }

    func needsConsent(toScope scope: String) -> Bool {
        scopes.contains { $0.needsConsent && "\(identifier)/\($0.value)" == scope }
    }
}
