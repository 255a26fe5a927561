/// What a purge deleted, or would delete.
public struct PurgeCounts: Hashable, Sendable {
    public var accounts = 0

    /// What people call the accounts, of the first five.
    public var accountNames: [String] = []
    public var accessTokens = 0
    public var refreshTokens = 0
    public var idTokens = 0

    /// Files that were removed: copies of the store, and a store too damaged to be read.
    public var removedFiles: [String] = []

    /// Files that have the name of a copy and were left alone, for they do not show that they are one.
    public var keptFiles: [String] = []

    public init() {}

    /// How many accounts are named.
    static let namedAccounts = 5

    /// What people call an account: by its username or else its id, and its user flow.
    static func name(_ username: String, _ homeAccountID: String, _ policy: String) -> String {
        (username.isEmpty ? homeAccountID : username) + (policy.isEmpty ? "" : " (\(policy))")
    }
}
