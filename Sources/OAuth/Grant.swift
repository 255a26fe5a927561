/// What a token request offers in exchange; extensions add their own, so this is an open set.
public struct Grant: RawRepresentable, Hashable, Sendable {
    /// The value of `grant_type`.
    public let rawValue: String

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
