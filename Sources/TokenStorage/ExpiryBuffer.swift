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
        // In a damaged file a time can be any number.
        let (lifetime, isOverflow) = expiresOn.subtractingReportingOverflow(cachedAt)
        return max(isOverflow ? seconds : min(seconds, lifetime / 3), minimum)
    }

    /// Whether a token is good for longer than its buffer.
    func isBehind(_ now: Int64, cachedAt: Int64?, expiresOn: Int64) -> Bool {
        let (end, isOverflow) = now.addingReportingOverflow(seconds(cachedAt: cachedAt, expiresOn: expiresOn))
        return !isOverflow && expiresOn >= end
    }
}
