public import OAuth
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// The forms of reading that asynchronous code gets: a read waits for no write, but where another process repairs or
// recovers the file. None is begun after its task was cancelled.

extension StoreReading {
    /// The accounts that `policy` leaves, off the threads of Swift concurrency.
    public func accounts(matching policy: AccountPolicy = .all) async throws -> [Account] {
        try await reading { try $0.accounts(matching: policy) }
    }

    /// The one account that `policy` leaves; nil where it leaves none.
    ///
    /// - Throws: ``TokenStoreError/Code/ambiguousAccount`` where it leaves several.
    public func account(matching policy: AccountPolicy) async throws -> Account? {
        try await reading { try $0.account(matching: policy) }
    }

    /// The account of an id, such as one that an app remembers; nil where it is not stored.
    public func account(_ id: Account.ID) async throws -> Account? { try await reading { try $0.account(id) } }

    /// How many accounts `policy` leaves.
    public func accountCount(matching policy: AccountPolicy = .all) async throws -> Int {
        try await reading { try $0.accountCount(matching: policy) }
    }

    /// What `policy` selects, with the reason for each account that was looked at.
    public func select(_ policy: AccountPolicy) async throws -> AccountSelection {
        try await reading { try $0.select(policy) }
    }

    /// The one account with a username, compared without regard to case.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if it is blank, ``TokenStoreError/Code/ambiguousAccount`` if
    ///   several accounts have it.
    public func account(username: String) async throws -> Account? {
        try await reading { try $0.account(username: username) }
    }

    /// Calls `body` with a summary of each account that `policy` leaves, all of it read from one moment.
    ///
    /// Memory does not grow with their number. `body` is called off the threads of Swift concurrency, for one account
    /// after the other, and no more once the task is cancelled.
    public func forEachAccount(
        matching policy: AccountPolicy = .all,
        sortedBy order: AccountOrder = .username,
        limit: Int? = nil,
        withTokens: Bool = false,
        _ body: @escaping @Sendable (AccountSummary) throws -> Void
    ) async throws {
        try await connections.reading.runWhileWanted { isWanted in
            try self.forEachAccount(matching: policy, sortedBy: order, limit: limit, withTokens: withTokens) {
                try isWanted()
                try body($0)
            }
        }
    }

    /// The account of an id with what a list says of it; nil where it is not stored.
    public func summary(of account: Account.ID, withTokens: Bool = false) async throws -> AccountSummary? {
        try await reading { try $0.summary(of: account, withTokens: withTokens) }
    }

    /// The ID tokens of an account, with their claims, newest first.
    public func idTokens(of account: Account.ID, client: String? = nil) async throws -> [StoredIDToken] {
        try await reading { try $0.idTokens(of: account, client: client) }
    }

    /// Looks at everything, until the task is cancelled; a look at the pages of a file goes to its end.
    ///
    /// - Returns: what is wrong; empty if the store is sound.
    public func check(
        progress: (@Sendable (TokenStore.Progress) throws -> Void)? = nil
    ) async throws -> [StoreProblem] {
        try await connections.reading.runWhileWanted(telling: progress) { try self.check(progress: $0) }
    }

    /// Everything as an MSAL unified cache, with every token in the clear, unless the task is cancelled before its end.
    public func exportMSALCache() async throws -> Data {
        let document = LockedValue(Data())
        try await exportMSALCache { piece in document.withLock { $0.append(contentsOf: piece) } }
        return document.withLock(\.self)
    }

    /// The same in pieces, off the threads of Swift concurrency; a piece is good until `write` returns, and none comes
    /// once the task is cancelled.
    public func exportMSALCache(
        progress: (@Sendable (TokenStore.Progress) throws -> Void)? = nil,
        write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws {
        try await connections.reading.runWhileWanted { isWanted in
            try self.exportMSALCache(progress: progress) {
                try isWanted()
                try write($0)
            }
        }
    }

    /// The accounts that are signed in to `client`: with a refresh token it may use, or marked as signed in, and never
    /// signed out.
    public func signedInAccounts(client: String) async throws -> [Account] {
        try await reading { try $0.signedInAccounts(client: client) }
    }

    /// The sign-in state of an account at a client.
    public func signInState(of account: Account.ID, client: String) async throws -> SignInState {
        try await reading { try $0.signInState(of: account, client: client) }
    }

    /// The tags of an account.
    public func tags(of account: Account.ID) async throws -> [String: String] {
        try await reading { try $0.tags(of: account) }
    }

    /// The refresh tokens of an account that `client` may use, its own before its family's, newest first.
    public func refreshTokens(
        of account: Account.ID,
        client: String,
        family: String? = nil
    ) async throws -> [StoredRefreshToken] {
        try await reading { try $0.refreshTokens(of: account, client: client, family: family) }
    }

    /// The newest entries of the record of use, newest first.
    public func events(limit: Int = 100) async throws -> [StoreEvent] {
        try await reading { try $0.events(limit: limit) }
    }

    /// The last entries that concern an account, newest first; also of one that is gone.
    public func events(of account: Account.ID, limit: Int = 100) async throws -> [StoreEvent] {
        try await reading { try $0.events(of: account, limit: limit) }
    }

    /// The last entries that concern a refresh token, newest first.
    public func events(of token: StoredRefreshToken, limit: Int = 10) async throws -> [StoreEvent] {
        try await reading { try $0.events(of: token, limit: limit) }
    }

    /// What the store is and what it holds.
    public func status() async throws -> StoreStatus { try await reading { try $0.status() } }

    /// What `TokenStore.purgeExpired()` would delete.
    public func previewPurgeExpired() async throws -> PurgeCounts { try await reading { try $0.previewPurgeExpired() } }

    /// What `TokenStore.purge(_:)` would delete.
    public func previewPurge(_ policy: AccountPolicy) async throws -> PurgeCounts {
        try await reading { try $0.previewPurge(policy) }
    }

    /// What the store has for `query`: a usable token, refresh tokens to get one with, or neither.
    public func cachedToken(for query: TokenQuery) async throws -> CachedToken {
        try await reading { try $0.cachedToken(for: query) }
    }

    private func reading<Result: Sendable>(
        _ body: @escaping @Sendable (Self) throws -> Result
    ) async throws -> Result {
        try await connections.reading.runUnlessCancelled { try body(self) }
    }
}

extension TokenStore {
    /// What the store has for `query`; a token that is in memory is returned at once.
    public func cachedToken(for query: TokenQuery) async throws -> CachedToken {
        try query.requireScope()
        if let token = tokenInMemory(for: query) { return .usable(token, isAging: false) }
        return try await connections.reading.runUnlessCancelled { try self.cachedToken(for: query) }
    }
}
