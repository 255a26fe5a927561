/// What a purge deleted, or would delete.
public struct PurgeCounts: Hashable, Sendable {
    public var accounts = 0
    public var accessTokens = 0
    public var refreshTokens = 0
    public var idTokens = 0

    /// Files that were removed: copies of the store, and a store too damaged to be read.
    public var removedFiles: [String] = []

    /// Files that have the name of a copy and were left alone, for they do not show that they are one.
    public var keptFiles: [String] = []

    public init() {}
}
