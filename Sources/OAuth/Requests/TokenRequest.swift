#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What was asked of a token endpoint, as far as it decides where the answer is stored.
public struct TokenRequest: Sendable {
    /// The client that asks.
    public let clientID: String

    /// The authority that is asked.
    public let authority: Authority

    /// The scope that is asked for.
    public let scope: Scope

    /// What the client shows for the tokens.
    public let grant: Grant

    /// The scope that the caller wants, where ``scope`` names more besides; nil: all of it.
    public var askedScope: Scope?

    /// The name a person typed, used where no claim gives a better one.
    public var username: String?

    /// The `claims` parameter ([OpenID Connect Core
    /// §5.5](https://openid.net/specs/openid-connect-core-1_0.html#ClaimsParameter)).
    public var claims: JSONValue?

    /// The API that the tokens are for ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)); stored with a refresh
    /// token, as some issuers give a token for another API where a refresh does not name it.
    package var resource: String?

    /// The key a proof-of-possession token is bound to.
    public var keyID: String?

    /// The new key that a sign-in binds its tokens to; stored with them.
    package var newKey: BoundKey? {
        didSet { if let newKey { keyID = newKey.thumbprint } }
    }

    /// A request of a client at an authority.
    public init(clientID: String, authority: Authority, scope: Scope, grant: Grant) {
        self.clientID = clientID
        self.authority = authority
        self.scope = scope
        self.grant = grant
    }
}

/// A private key that tokens are bound to ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
package struct BoundKey: Equatable, Sendable {
    /// SHA-256 of the public key in base64url ([RFC 7638](https://www.rfc-editor.org/rfc/rfc7638)).
    package let thumbprint: String

    /// The number of a P-256 key, 32 bytes.
    package let secret: Secret

    package init(thumbprint: String, secret: Secret) {
        self.thumbprint = thumbprint
        self.secret = secret
    }
}

/// What a token request offers in exchange; extensions add their own, so this is an open set.
public struct Grant: RawRepresentable, Hashable, Sendable {
    /// The value of `grant_type`.
    public let rawValue: String

    /// A grant by the name of its `grant_type`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// [RFC 6749 §4.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1).
    public static let authorizationCode = Grant(rawValue: "authorization_code")
    /// [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4).
    public static let clientCredentials = Grant(rawValue: "client_credentials")
    /// [RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6).
    public static let refreshToken = Grant(rawValue: "refresh_token")
    /// [RFC 8628 §3.4](https://www.rfc-editor.org/rfc/rfc8628#section-3.4).
    public static let deviceCode = Grant(rawValue: "urn:ietf:params:oauth:grant-type:device_code")
}

/// A successful answer of a token endpoint ([RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1)).
public struct TokenResponse: Equatable, Sendable {
    /// The access token; nil if the issuer sent none.
    public var accessToken: Secret?

    /// How the access token is to be used, such as `Bearer`; nil: `Bearer`.
    public var tokenType: String?

    /// How long the access token is good from now on; without it and ``expiresOn``, the store takes ten minutes.
    public var expiresIn: Duration?
    /// When the access token expires, which some issuers send instead.
    public var expiresOn: Date?
    /// How long the access token may be used from now on while the issuer cannot be reached.
    public var extendedExpiresIn: Duration?
    /// After how long the access token is worth refreshing.
    public var refreshIn: Duration?

    /// The new refresh token; nil: the one before stays good.
    public var refreshToken: Secret?

    /// How long the refresh token is good from now on, which some issuers tell; zero is for ever.
    public var refreshTokenExpiresIn: Duration?

    /// The granted scope; nil means what was asked for.
    public var scope: Scope?

    /// The ID token, as it came.
    public var idToken: Secret?
    /// Microsoft's `client_info`, base64url.
    public var clientInfo: String?
    /// Microsoft's `foci`: the family of clients that may share the refresh token.
    public var familyID: String?

    /// The fields with a text that RFC 6749 does not allow, such as an `access_token` with a line break in it; they are
    /// left out.
    public private(set) var malformedFields: [String] = []

    /// A response, whose other fields are set afterwards.
    public init(accessToken: Secret? = nil, expiresIn: Duration? = nil) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
    }

    /// Reads the members of a response body.
    ///
    /// A fault in one field does not affect the others: a refresh token that was rotated is nowhere else.
    public init(_ object: JSONValue.Object) {
        accessToken = token(object, "access_token")
        tokenType = object["token_type"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        if let type = tokenType, !AccessToken.isType(type) {
            tokenType = nil
            malformedFields.append("token_type")
        }
        expiresIn = object["expires_in"]?.duration
        expiresOn = object["expires_on"]?.seconds.map { Date(unixSeconds: $0) }
        extendedExpiresIn = object["ext_expires_in"]?.duration
        refreshIn = object["refresh_in"]?.duration
        refreshToken = token(object, "refresh_token")
        refreshTokenExpiresIn = (object["refresh_token_expires_in"] ?? object["refresh_expires_in"])?.duration
        scope = object["scope"].flatMap { Scope(granted: $0) }
        idToken = token(object, "id_token")
        clientInfo = object["client_info"]?.text
        familyID = object["foci"]?.text.flatMap { $0.isEmpty || $0.hasControlCharacters ? nil : $0 }
    }

    /// Leaves out an empty token, and a refresh token that RFC 6749 does not allow, as reading an answer does: a
    /// program has set them, and they would take the place of good ones.
    package mutating func removeUnfitTokens() {
        if accessToken?.count == 0 { accessToken = nil }
        if idToken?.count == 0 { idToken = nil }
        guard let token = refreshToken, !token.isTokenText else { return }
        refreshToken = nil
        if token.count > 0 { malformedFields.append("refresh_token") }
    }

    /// The token under `name`, if there is one that may be.
    private mutating func token(_ object: JSONValue.Object, _ name: String) -> Secret? {
        guard let text = object[name]?.text, !text.isEmpty else { return nil }
        let token = Secret(text)
        if token.isTokenText { return token }
        malformedFields.append(name)
        return nil
    }

    /// How long the access token is good for, in seconds: `expires_in`, else until `expires_on`, else 600; never
    /// negative.
    package func lifetime(at now: Int64) -> Int64 {
        max(0, expiresIn?.secondsRoundedUp ?? expiresOn.map { $0.unixSeconds - now } ?? 600)
    }

    /// When the access token is worth refreshing although it is good, in seconds; nil: not before its end is near.
    ///
    /// A refresh token that ends no later than the access token is of no use then, so it is used at half its time.
    /// An issuer that says of each token that it is worth it at once says nothing: every use of one would cost a refresh
    /// token.
    package func refreshDelay(at now: Int64) -> Int64? {
        if let delay = refreshIn?.secondsRoundedUp, delay > 0 { return delay }
        guard let end = refreshTokenExpiresIn?.secondsRoundedUp, end > 0, end <= lifetime(at: now) else { return nil }
        return end / 2
    }
}

extension Scope {
    /// Reads the `scope` of an answer; nil if it is none, which as without the field means what was asked for.
    ///
    /// An empty one grants nothing, as of a GitHub token that may only read what is public.
    /// Some issuers write a list of texts, and some, GitHub among them, commas where RFC 6749 §3.3 has spaces.
    fileprivate init?(granted value: JSONValue) {
        let tokens: [String]
        switch value {
        case .array(let elements):
            let texts = elements.compactMap(\.text)
            guard elements.isEmpty || !texts.isEmpty else { return nil }
            tokens = texts.flatMap { Scope($0).tokens }
        case .string(let text): tokens = Self.split(Scope(text).tokens)
        default: return nil
        }
        self.init(tokens.filter { !$0.hasControlCharacters })
    }

    /// The tokens between the commas of a text without a space, if that is what it is; else `tokens`.
    ///
    /// A comma may be part of a scope token, and such a token that is granted alone is taken apart wrongly: the token
    /// is stored, but not found for that scope, so it is refreshed each time. No issuer is known whose scopes have
    /// commas, but several that write commas between them, whose tokens would never be found otherwise.
    private static func split(_ tokens: [String]) -> [String] {
        guard tokens.count == 1, let token = tokens.first else { return tokens }
        let parts = token.split(separator: ",", omittingEmptySubsequences: false)
        return parts.allSatisfy { isToken($0) } ? parts.map { String($0) } : tokens
    }

    /// Whether RFC 6749 §3.3 allows `text` as a scope token.
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}
