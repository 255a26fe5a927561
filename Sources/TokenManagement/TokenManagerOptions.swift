public import HTTPTransport
public import Logging
public import TokenStorage

/// How a ``TokenManager`` behaves.
public struct TokenManagerOptions: Sendable {
    /// How long before its end a token is no longer handed out.
    public var buffer = ExpiryBuffer.standard

    /// Whether a token past its end may serve while the issuer cannot be reached, where the issuer allows it.
    public var allowsExtendedLifetime = false

    /// Whether refresh tokens of the client's family are used (Microsoft's `foci`).
    public var usesFamilyTokens = false

    /// Microsoft's `xms_cc`: what the client can do, such as `CP1`.
    public var clientCapabilities: [String] = []

    /// The limits of each request to the issuer.
    public var limits = HTTPLimits.issuer

    public var logger = Logger(label: "tokenstore.manager")

    /// How long to wait before a request is repeated.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// How long all the requests of one refresh may take together; nil: enough for one that hangs and its repetition.
    package var refreshLimit: Duration?

    public init() {}

    var longestRefresh: Duration { min(refreshLimit ?? limits.total * 2, Self.longestRefresh) }

    /// No process refreshes for longer, whatever its limits, as the others go on without one that does.
    private static let longestRefresh = Duration.seconds(20)

    /// How long the holder of the refresh lock is waited for before it counts as stopped.
    ///
    /// Longer than any may take, its commit included. A caller in a hurry gives up before that, and does not spend a
    /// token that is being used.
    static let patience = longestRefresh + .seconds(2)
}
