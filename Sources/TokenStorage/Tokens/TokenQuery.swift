public import OAuth

/// An access token that is wanted from the store.
public struct TokenQuery: Hashable, Sendable {
    /// Whose token is wanted.
    public let account: Account.ID

    /// The client that the token was issued to.
    public let clientID: String

    /// Every token of it must have been granted; reserved tokens such as `openid` take no part beside others.
    public let scope: Scope

    /// Where the token is to be from; nil or a tenant such as `common`: the tenant the account is at home in.
    public var authority: Authority?

    /// How the token is to be used.
    public var tokenType = "Bearer"

    /// The key a proof-of-possession token must be bound to.
    public var keyID: String?

    /// Whether a token has to be bound to the DPoP key of the account and client; otherwise it may be.
    package var requiresDPoP = false

    /// A token minted for exactly these claims; nil: for none.
    public var requestedClaims: JSONValue?

    /// How long before it expires a token is not handed out any more.
    public var buffer = ExpiryBuffer.standard

    /// Whether a token serves that the issuer gave for just this scope, although it did not grant all of it.
    public var acceptsDeclined = false

    /// A query for a token of an account that covers this scope.
    public init(account: Account.ID, clientID: String, scope: Scope) {
        self.account = account
        self.clientID = clientID
        self.scope = scope
    }
}

/// What the store has for a ``TokenQuery``.
public enum CachedToken: Sendable {
    /// A token that is good to use, though it may be worth refreshing (`isAging`).
    case usable(AccessToken, isAging: Bool)

    /// No token is good to use; these refresh tokens may get one, in this order, and the last token that did may serve
    /// while the issuer cannot be reached.
    case refreshable([StoredRefreshToken], extended: AccessToken?)

    /// The user has to sign in.
    case signInRequired(Reason)

    /// Why the user has to sign in.
    public enum Reason: Sendable {
        case signedOut
        /// The account is not one of the authority that was asked.
        case otherAuthority
        case noRefreshToken
    }
}

/// How long before it expires an access token is no longer returned.
public struct ExpiryBuffer: Hashable, Sendable {
    private let seconds: Int64
    private let minimumSeconds: Int64

    /// A buffer in whole seconds, rounded up.
    public init(_ longest: Duration, minimum: Duration = .zero) {
        seconds = longest.secondsRoundedUp
        minimumSeconds = minimum.secondsRoundedUp
    }

    /// The longest it can be; a short-lived token gets less, a third of its lifetime.
    public var longest: Duration { .seconds(seconds) }

    /// The shortest it can be, however short the token's lifetime.
    public var minimum: Duration { .seconds(minimumSeconds) }

    /// Five minutes, as in MSAL.
    public static let standard = ExpiryBuffer(.seconds(300))

    /// The buffer of one token.
    func seconds(cachedAt: Int64?, expiresOn: Int64) -> Int64 {
        guard let cachedAt, expiresOn > cachedAt else { return max(seconds, minimumSeconds) }
        // In a damaged file a time can be any number.
        let (lifetime, isOverflow) = expiresOn.subtractingReportingOverflow(cachedAt)
        return max(isOverflow ? seconds : min(seconds, lifetime / 3), minimumSeconds)
    }

    /// Whether a token is good, and will be until its buffer has passed.
    func isBehind(_ now: Int64, cachedAt: Int64?, expiresOn: Int64) -> Bool {
        let (end, isOverflow) = now.addingReportingOverflow(seconds(cachedAt: cachedAt, expiresOn: expiresOn))
        return !isOverflow && expiresOn > now && expiresOn >= end
    }
}

/// How fresh an access token is.
public enum TokenState: String, Sendable {
    case valid
    /// Good, but worth refreshing: its refresh time has passed, or it ends too soon to start something with it.
    case aging
    /// Past its end, or from a clock that ran ahead, so that its end is not known.
    case expired

    /// How many seconds two clocks may differ before a token counts as stored in the future.
    static let clockTolerance: Int64 = 60

    /// Whether a token was stored more than a minute after a moment, by a clock that ran ahead: its end is not known.
    package static func isFromTheFuture(cachedAt: Int64?, at now: Int64) -> Bool {
        cachedAt.map { $0 > now + clockTolerance } ?? false
    }

    /// The state of a token at a moment; all times are Unix seconds.
    init(expiresOn: Int64, cachedAt: Int64?, refreshOn: Int64?, at now: Int64) {
        if expiresOn <= now || Self.isFromTheFuture(cachedAt: cachedAt, at: now) {
            self = .expired
        } else if refreshOn.map({ $0 < now }) ?? false
            || !ExpiryBuffer.standard.isBehind(now, cachedAt: cachedAt, expiresOn: expiresOn)
        {
            self = .aging
        } else {
            self = .valid
        }
    }
}
