/// What an import took in, by kind.
public struct ImportReport: Hashable, Sendable {
    public var accounts = 0
    public var accessTokens = 0
    public var refreshTokens = 0
    public var idTokens = 0
    public var appMetadata = 0

    /// Entries of buckets not known here, which are kept as they are.
    public var other = 0

    /// Entries that the store had already, or had something newer for.
    public var unchanged = 0

    /// Entries that were not taken in; they are kept aside and come back out on export.
    public var rejected: [Rejection] = []

    /// An entry that was not taken in.
    public struct Rejection: Hashable, Sendable {
        public let bucket: String

        /// A clause without a full stop, never a secret.
        public let reason: String
    }

    public init() {}

    /// How many entries were added or changed.
    package var changes: Int { accounts + accessTokens + refreshTokens + idTokens + appMetadata + other }
}
