/// How long before its end an access token is no longer handed out.
public struct ExpiryBuffer: Hashable, Sendable {
    /// The most seconds it can be; a short-lived token gets less, a third of its lifetime.
    public let seconds: Int64

    /// The least seconds it can be, however short the token's lifetime.
    public let minimum: Int64

    public init(seconds: Int64, minimum: Int64 = 0) {
        self.seconds = seconds
        self.minimum = minimum
    }

    /// Five minutes, as in MSAL.
    public static let standard = ExpiryBuffer(seconds: 300)

    /// The buffer of one token.
    func seconds(cachedAt: Int64?, expiresOn: Int64) -> Int64 {
        guard let cachedAt, expiresOn > cachedAt else { return max(seconds, minimum) }
        return max(min(seconds, (expiresOn - cachedAt) / 3), minimum)
    }
}
