/// What a purge deleted, or would delete.
public struct PurgeCounts: Hashable, Sendable {
    public var accounts = 0
    public var accessTokens = 0
    public var refreshTokens = 0
    public var idTokens = 0

    public init() {}
}
