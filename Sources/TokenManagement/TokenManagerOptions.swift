public import HTTPTransport
public import Logging
package import OAuth
public import OpenIDConnect
public import TokenStorage

/// How a ``TokenManager`` behaves.
public struct TokenManagerOptions: Sendable {
    /// How long before its expiry a token is not returned any more.
    public var buffer = ExpiryBuffer.standard

    /// Whether a token past its end may serve while the issuer cannot be reached, where the issuer allows it.
    public var allowsExtendedLifetime = false

    /// How long after a person signed in tokens are handed out without a person; nil: for as long as the issuer goes
    /// on.
    ///
    /// It counts from the sign-in that this store recorded, not from refreshes, and a clock that was set back does not
    /// make it longer. After that, ``AcquisitionError`` asks for a sign-in and the refresh token is not spent. A token
    /// that the issuer gave for longer is said to end with the session; the issuer itself is not told of it. Of an
    /// imported account the sign-in is not known, so that it has to sign in first.
    public var maximumSessionAge: Duration?

    /// Whether refresh tokens of the client's family are used (Microsoft's `foci`).
    public var usesFamilyTokens = false

    /// Whether a sign-in binds its tokens to a key of this store ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)),
    /// and whether tokens are handed out that are not bound.
    public var dpop = DPoPPolicy.off

    /// Microsoft's `xms_cc`: what the client can do, such as `CP1`; sent with sign-ins and refreshes.
    public var clientCapabilities: [String] = []

    /// The limits of each request to the issuer.
    ///
    /// All requests of one refresh together take no longer than 20 seconds, whatever these and the caller allow: other
    /// processes go on without one that does. What is cut off then may have spent the refresh token.
    public var limits = HTTPLimits.issuer

    /// Where it says what it did, without any secret.
    public var logger = Logger(label: "tokenstore.manager")

    /// The tenant of a request that names none, for the accounts of its cloud; nil: the account says it.
    package var tenant: Authority?

    /// How long to wait before a request is repeated.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// How long all the requests of one refresh may take together; nil: enough for one that hangs and its repetition.
    package var refreshLimit: Duration?

    /// How many refreshes are under way at one issuer at most; the others wait.
    ///
    /// Each has files open, of which a process may have few.
    package var refreshesAtOnce = 64

    /// How long the holder of the refresh lock is waited for before it counts as stopped.
    ///
    /// Longer than any may take, its commit included. A caller in a hurry gives up before that, and does not spend a
    /// token that is being used.
    package var patience = Self.longestRefresh + .seconds(2)

    /// The usual options.
    public init() {}

    var longestRefresh: Duration { min(refreshLimit ?? limits.total * 2, Self.longestRefresh) }

    /// No refresh takes longer, whatever the limits: other processes go on without one that does.
    private static let longestRefresh = Duration.seconds(20)
}
