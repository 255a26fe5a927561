import Database
public import OAuth
import Sealing

extension TokenStore {
    /// Signs an account out of a client: its tokens of this client go from every host and tenant, and the sign-out is
    /// remembered, so that neither a refresh under way nor a sibling's refresh token restores it.
    ///
    /// The account itself goes when no client has a token of it any more. Doing it twice is not an error.
    @discardableResult
    public func removeAccount(_ account: Account.ID, client: String) throws -> Erasure {
        try signOut(account, clients: [client]).erasure
    }

    /// Removes an account with the tokens and claims of every client, and marks it signed out everywhere.
    @discardableResult
    public func removeAccount(_ account: Account.ID) throws -> Erasure { try signOut(account, clients: nil).erasure }

    /// Signs an account out of `clients`, or of all there are, in one commit.
    ///
    /// - Returns: the refresh tokens that it deleted, where the key is at hand to read them.
    package func signOut(
        _ account: Account.ID,
        clients: [String]?
    ) throws -> (deleted: [StoredRefreshToken], erasure: Erasure) {
        try erasing { session in
            guard let clients else { return try session.wipe(account) }
            return try clients.flatMap { try session.remove(account, client: $0) }
        }
    }

    /// Removes an account whose issuer says that it is gone, unless it has another refresh token than the one that
    /// was answered so: that belongs to a newer session, about which the issuer has not said anything.
    package func removeAccount(_ account: Account.ID, client: String, refused token: StoredRefreshToken) throws {
        _ = try erasing { session in
            guard try session.confirmedAccountRow(account) != nil, try session.isCurrent(token) else { return }
            _ = try session.remove(account, client: client)
        }
    }

    /// Deletes access tokens that have ended, and nothing else; needs no key.
    public func purgeExpired() throws -> PurgeCounts {
        try removing(takesIn: false) { session in
            var counts = PurgeCounts()
            counts.accessTokens = try session.withLongStatements { try session.deleteExpiredAccessTokens() }
            if counts.accessTokens > 0 { try session.record(.purge, outcome: "expired") }
            return counts
        }
    }

    /// Deletes the accounts that `policy` leaves with all their tokens and claims.
    ///
    /// In a file all of them go in one commit, or none. On a server they go some hundred at a time, so that sign-ins
    /// need not wait for the rest; each is looked at again once nothing else can change it, and one that does not fit
    /// any more stays.
    public func purge(
        _ policy: AccountPolicy,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> PurgeCounts {
        guard location.path == nil else { return try purgeAtOnce(policy, progress) }
        let found = try read { session in try session.connection.read { try session.found(policy) } }
        guard !found.rows.isEmpty else { return PurgeCounts() }
        let accounts = RowProgress(progress, total: found.rows.count, unit: "accounts")
        try accounts.start()
        return try TokenStoreError.inSteps { done in
            var counts = PurgeCounts()
            for rows in found.rows.pages {
                let page = try removing { session in
                    try session.lockForManyAccounts()
                    return try session.purge(session.locked(rows, meeting: found.alternative))
                }
                counts += page
                done = "\(counts.accounts) of \(found.rows.count) accounts were deleted before"
                try accounts.advance(by: page.accounts)
            }
            try accounts.end()
            return counts
        }
    }

    private func purgeAtOnce(_ policy: AccountPolicy, _ progress: TokenStore.ProgressHandler?) throws -> PurgeCounts {
        try removing { session in
            let rows = try session.sound(session.accountRows(matching: policy))
            guard !rows.isEmpty else { return PurgeCounts() }
            let accounts = RowProgress(progress, total: rows.count, unit: "accounts")
            try accounts.start()
            let counts = try session.purge(rows) { try accounts.advance() }
            try accounts.end()
            return counts
        }
    }

    /// Runs `body` in a write transaction and then empties the log, so that what was deleted is in no file.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` if another process reads an older state for longer than the time limit;
    ///   the rows are deleted all the same.
    @discardableResult
    package func removing<Result: Sendable>(
        takesIn: Bool = true,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        let (result, erasure) = try erasing(takesIn: takesIn, body)
        if case .unfinished(let error) = erasure { throw error }
        return result
    }

    /// Runs `body` in a write transaction and then empties the log, as far as other processes let it within the limit.
    ///
    /// What waits in files goes into the store first, so that it is deleted with the rest and does not come back.
    private func erasing<Result: Sendable>(
        takesIn: Bool = true,
        _ body: (StoreConnection) throws -> Result
    ) throws -> (Result, Erasure) {
        if takesIn { try takeInAnswers() }
        var (result, erasure) = try withWriter { session in
            // What is deleted here only would go on at the new place, or come there by a move that goes on.
            try session.requireNotMoved()
            let result = try session.write {
                try session.requireStillNotMoved()
                return try body(session)
            }
            return (result, try session.erasure(within: .zero))
        }
        guard let path = location.path else { return (result, erasure) }
        // A reader keeps the log from being emptied, and others may write meanwhile.
        let end = ContinuousClock.now + options.busyTimeout
        var patience = StoreConnection.shortestTry
        while erasure == .unfinished(.logIsRead(at: path)), ContinuousClock.now < end {
            Pauses.wait(patience * Double.random(in: 0.5...1))
            patience = StoreConnection.longerTry(than: patience)
            do {
                erasure = try withWriter { [patience] in try $0.erasureOfLog(within: .zero, patience: patience) }
            } catch let error as TokenStoreError {
                // The change is made all the same.
                return (result, .unfinished(error))
            }
        }
        return (result, erasure)
    }
}

extension StoreReading {
    /// What `TokenStore.purgeExpired()` would delete.
    public func previewPurgeExpired() throws -> PurgeCounts { try read { try $0.expired() } }

    /// What `TokenStore.purge(_:)` would delete.
    public func previewPurge(_ policy: AccountPolicy) throws -> PurgeCounts {
        try read { session in
            try session.connection.read { try session.counts(of: session.sound(session.accountRows(matching: policy))) }
        }
    }
}

extension StoreConnection {
    fileprivate func expired() throws -> PurgeCounts {
        var counts = PurgeCounts()
        counts.accessTokens = try endedAccessTokenCount()
        return counts
    }

    fileprivate func counts(of rows: [Int64]) throws -> PurgeCounts {
        var counts = PurgeCounts()
        for page in rows.pages {
            for row in page { try askAheadForCount(row) }
            for row in page { try count(row, in: &counts) }
        }
        return counts
    }

    /// Deletes accounts, and says in the record of use how many.
    fileprivate func purge(_ rows: [Int64], afterEach: () throws -> Void = {}) throws -> PurgeCounts {
        let counts = try counts(of: rows)
        guard !rows.isEmpty else { return counts }
        try requireAllTokensFound(of: rows)
        for row in rows { try askAheadForAccountID(row) }
        try deleteUnrecognizedEntries(of: rows.compactMap { try accountID($0) })
        for row in rows {
            try deleteAccount(row)
            try afterEach()
        }
        try record(.purge, outcome: "\(counts.accounts) accounts")
        return counts
    }
}

extension StoreConnection {
    /// Signs an account out of one client.
    ///
    /// - Returns: the refresh tokens that went.
    fileprivate func remove(_ account: Account.ID, client: String) throws -> [StoredRefreshToken] {
        guard let row = try confirmedAccountRow(account) else {
            try keepSignOut(of: account, client: client)
            try deleteUnrecognizedEntries(of: [account], client: client)
            return []
        }
        try requireAllTokensFound(of: [row])
        let tokens = try deletedTokens(account, clients: [client])
        try setSignInState(.signedOut, of: row, client: client)
        try deleteTokens(of: row, client: client)
        let isGone = try deleteAccountWithoutTokens(row, account)
        try deleteUnrecognizedEntries(of: [account], client: isGone ? nil : client)
        try record(.signOut, account: account, client: client)
        return tokens
    }

    /// Signs an account out of every client.
    ///
    /// - Returns: the refresh tokens that went.
    fileprivate func wipe(_ account: Account.ID) throws -> [StoredRefreshToken] {
        guard let row = try confirmedAccountRow(account) else {
            // An import may have kept tokens aside of one that it could not store.
            try deleteUnrecognizedEntries(of: [account])
            return []
        }
        try requireAllTokensFound(of: [row])
        let clients = try clientIDs(row)
        let tokens = try deletedTokens(account, clients: clients)
        for client in try clients + signedInClients(row) { try setSignInState(.signedOut, of: row, client: client) }
        try keepSignOuts(of: account, row: row)
        try deleteAccount(row)
        try deleteUnrecognizedEntries(of: [account])
        try record(.signOut, account: account)
        return tokens
    }

    /// What can be revoked of what is about to be deleted: a token that does not open is deleted all the same.
    private func deletedTokens(_ account: Account.ID, clients: [String]) throws -> [StoredRefreshToken] {
        guard keyRing != nil else { return [] }
        do {
            return try revocableTokens(of: account, clients: clients).tokens
        } catch is SealingError {
            return []
        }
    }

    fileprivate func deleteTokens(of account: Int64, client: String) throws {
        try deleteAccessTokens(of: account, client: client)
        try deleteRefreshTokens(of: account, client: client)
        try deleteIDTokens(of: account, client: client)
        try deleteBoundKey(of: account, client: client)
    }

    /// Deletes an account that no client has a token of, but for its sign-outs.
    ///
    /// - Returns: whether it was one.
    fileprivate func deleteAccountWithoutTokens(_ row: Int64, _ id: Account.ID) throws -> Bool {
        guard try !hasTokens(row) else { return false }
        try keepSignOuts(of: id, row: row)
        try deleteAccount(row)
        return true
    }
}

/// What a purge deleted, or would delete.
public struct PurgeCounts: Hashable, Sendable {
    /// Accounts that were removed.
    public var accounts = 0

    /// What people call the accounts, of the first five.
    public var accountNames: [String] = []

    /// Access tokens that were removed.
    public var accessTokens = 0

    /// Refresh tokens that were removed.
    public var refreshTokens = 0

    /// ID tokens that were removed.
    public var idTokens = 0

    /// Files that were removed: copies of the store, a store too damaged to be read, and answers of issuers that waited
    /// beside it.
    public var removedFiles: [String] = []

    /// Files that have the name of a copy and were left alone, for they do not show that they are one.
    public var keptFiles: [String] = []

    /// Nothing removed.
    public init() {}

    /// How many accounts are named.
    static let namedAccounts = 5

    static func += (counts: inout PurgeCounts, more: PurgeCounts) {
        counts.accounts += more.accounts
        counts.accountNames = Array((counts.accountNames + more.accountNames).prefix(namedAccounts))
        counts.accessTokens += more.accessTokens
        counts.refreshTokens += more.refreshTokens
        counts.idTokens += more.idTokens
        counts.removedFiles += more.removedFiles
        counts.keptFiles += more.keptFiles
    }

    /// What people call an account: by its username or else its id, and its user flow.
    static func name(_ username: String, _ homeAccountID: String, _ policy: String) -> String {
        (username.isEmpty ? homeAccountID : username) + (policy.isEmpty ? "" : " (\(policy))")
    }
}
