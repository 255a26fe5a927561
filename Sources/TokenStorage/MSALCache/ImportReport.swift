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

        /// The entry's key in the bucket; nil where it is about the bucket as a whole.
        public let key: String?

        /// A clause without a full stop, never a secret.
        public let reason: String

        init(_ place: ForeignEntry.Place, reason: String) {
            bucket = place.bucket
            // Half of a character is shown as it was written.
            key = place.rawKey.map { String($0.dropFirst().dropLast()) } ?? place.key
            self.reason = reason
        }
    }

    public init() {}

    /// How many entries were added or changed.
    package var changes: Int { accounts + accessTokens + refreshTokens + idTokens + appMetadata + other }
}
