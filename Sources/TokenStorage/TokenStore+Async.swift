public import OAuth
public import Sealing

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// The forms that asynchronous code gets of what blocks. Swift prefers them there (SE-0296), so that a task never waits
// for the disk or for another process on a thread that other tasks need.

extension TokenStore {
    /// Runs `body` where this store's writes run, away from the threads of Swift concurrency: those of a file one after
    /// the other, those of a server up to ``StoreOptions/poolSize`` at once.
    ///
    /// It runs even if the task is cancelled.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await connections.writing.run { try body(self) }
    }

    /// Runs `body`, which deletes rows, away from the threads of Swift concurrency; it keeps no other write waiting
    /// while it waits for who reads them.
    ///
    /// It runs even if the task is cancelled.
    package func performRemoval<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await connections.removing.run { try body(self) }
    }

    /// Runs `body`, which only reads, away from the threads of Swift concurrency; it waits for no write.
    package func performRead<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await connections.reading.run { try body(self) }
    }

    /// Makes sure that it is not the store which keeps a caller waiting whose time is up; who tries to write may wait for
    /// a moment.
    package func requireNoHolder() async throws {
        guard location.path != nil else { return try requireNoHolder(trying: false) }
        try await connections.filing.run { try self.requireNoHolder() }
    }

    /// Stores a whole token response in one commit, even if the task is cancelled: a rotated token is nowhere else.
    ///
    /// - Throws: ``TokenStoreError/Code/notStored`` with the response, if neither the store nor a file beside it
    ///   could take it.
    @discardableResult
    public func save(_ response: TokenResponse, for request: TokenRequest) async throws -> SavedTokens {
        try await save(response, for: request, in: nil)
    }

    /// Stores the answer to a refresh with `used` in one commit, even if the task is cancelled.
    ///
    /// A server that cannot take it now is tried for five minutes.
    ///
    /// - Throws: ``TokenStoreError/Code/notStored`` with the response, if it could not be stored at all,
    ///   ``TokenStoreError/Code/otherAccount`` if it names another account.
    @discardableResult
    public func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: StoredRefreshToken
    ) async throws -> SavedTokens {
        try await save(response, for: request, refreshing: used, in: nil)
    }

    /// Stores a response in room that was taken before its request was sent.
    ///
    /// Answers have a queue of their own: they do not wait behind a rekey or a purge, and one that the store cannot
    /// take leaves the queue for a file.
    @discardableResult
    package func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: StoredRefreshToken? = nil,
        in space: AnswerSpace?
    ) async throws -> SavedTokens {
        let answer = PendingAnswer(response, for: request, refreshing: used, at: options.seconds)
        let start = ContinuousClock.now
        var waiter: WaitingCallers.Waiter?
        while true {
            let (begin, limit) = (ContinuousClock.now, waiter == nil ? answerLimit : repeatedAnswerLimit)
            do {
                return try await connections.answering.run {
                    try self.commit(answer, in: space, since: begin, within: limit)
                }
            } catch let error as UncommittedAnswer where isTriedAgain(answer, after: error, since: start) {
                waiter = waiter ?? connections.newWaiter()
                waiter?.note(error.cause)
                // In a task of its own, as the end of this one is not that of the answer.
                _ = await Task { try await Task.sleep(for: .seconds(1)) }.result
            } catch let error as UncommittedAnswer {
                return try await connections.filing.run {
                    try self.setAside(answer, in: space, because: error.cause, since: start)
                }
            }
        }
    }

    /// Signs an account out of a client, unless the task is cancelled before it is its turn.
    @discardableResult
    public func removeAccount(_ account: Account.ID, client: String) async throws -> Erasure {
        try await removing { try $0.removeAccount(account, client: client) }
    }

    /// Removes an account with the tokens and claims of every client, unless the task is cancelled before its turn.
    @discardableResult
    public func removeAccount(_ account: Account.ID) async throws -> Erasure {
        try await removing { try $0.removeAccount(account) }
    }

    /// Removes exactly `token`, as the issuer has refused it, unless the task is cancelled before its turn.
    ///
    /// - Returns: false if another one is in its place by now, which stays.
    @discardableResult
    public func removeRefreshToken(_ token: StoredRefreshToken) async throws -> Bool {
        try await removing { try $0.removeRefreshToken(token) }
    }

    /// Deletes access tokens that have ended, unless the task is cancelled before its turn.
    public func purgeExpired() async throws -> PurgeCounts { try await removing { try $0.purgeExpired() } }

    /// Deletes the accounts that `policy` leaves; cancelled before its end, it deletes none of a file, some of a server.
    public func purge(_ policy: AccountPolicy) async throws -> PurgeCounts {
        try await connections.removing.runWhileWanted(telling: nil) { try self.purge(policy, progress: $0) }
    }

    /// Takes in an MSAL unified cache, in one commit; nothing of it if the task is cancelled before that.
    ///
    /// - Throws: ``TokenStoreError/Code/notAnMSALCache``.
    public func importMSALCache(
        _ document: Data,
        isKnownFormat: Bool = false,
        progress: (@Sendable (TokenStore.Progress) throws -> Void)? = nil
    ) async throws -> ImportReport {
        try await connections.writing.runWhileWanted(telling: progress) {
            try self.importMSALCache(document, isKnownFormat: isKnownFormat, progress: $0)
        }
    }

    /// Seals everything anew, or wraps the data keys under another key; the next call finishes what a cancelled one began.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` if another process is rekeying.
    public func rekey(
        to source: KeySource? = nil,
        afterLeak: Bool = false,
        progress: (@Sendable (TokenStore.Progress) throws -> Void)? = nil
    ) async throws -> RekeyReport {
        try await connections.writing.runWhileWanted(telling: progress) {
            try self.rekey(to: source, afterLeak: afterLeak, progress: $0)
        }
    }

    /// Gives an account these tags and no others, unless the task is cancelled before its turn.
    public func setTags(_ tags: [String: String], of account: Account.ID) async throws {
        try await writing { try $0.setTags(tags, of: account) }
    }

    /// Changes the tags of an account in one commit, unless the task is cancelled before its turn.
    ///
    /// - Returns: the tags that it has now.
    @discardableResult
    public func changeTags(
        of account: Account.ID,
        _ body: @escaping @Sendable (inout [String: String]) -> Void
    ) async throws -> [String: String] {
        try await writing { try $0.changeTags(of: account, body) }
    }

    /// What commits of this process and of others change from now on; `for await` gives the task's thread back
    /// between them.
    public func changes() async throws -> AsyncStream<StoreChange> { try await changes(about: nil) }

    /// The same of one account.
    package func changes(about account: Account.ID?) async throws -> AsyncStream<StoreChange> {
        try await connections.reading.runUnlessCancelled { try self.changes(about: account) }
    }

    private func removing<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await connections.removing.runUnlessCancelled { try body(self) }
    }

    private func writing<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await connections.writing.runUnlessCancelled { try body(self) }
    }
}

// What concerns the files of a store that is not open.
extension TokenStore {
    /// Opens the store, creating or migrating it first where needed, unless the task is cancelled before its turn.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func open(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions()
    ) async throws -> TokenStore {
        try await StoreConnections.opening.runUnlessCancelled { try open(at: location, options: options) }
    }

    /// Opens the store that is a file, without blocking the threads of Swift concurrency.
    ///
    /// - Throws: ``TokenStoreError``; `CancellationError` if the task is cancelled before its turn.
    public static func open(at path: StorePath, options: StoreOptions = StoreOptions()) async throws -> TokenStore {
        try await StoreConnections.opening.runUnlessCancelled { try open(at: path, options: options) }
    }

    /// Opens the store on a server, or the file, for reading only, unless the task is cancelled before its turn; nil if
    /// there is no store.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func inspect(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions()
    ) async throws -> StoreInspection? {
        try await StoreConnections.opening.runUnlessCancelled { try inspect(at: location, options: options) }
    }

    /// Opens the store for reading only, unless the task is cancelled before its turn; nil if there is no store.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func inspect(
        at path: StorePath,
        options: StoreOptions = StoreOptions()
    ) async throws -> StoreInspection? {
        try await StoreConnections.opening.runUnlessCancelled { try inspect(at: path, options: options) }
    }

    /// Puts what can be read of a damaged store into a new file, which takes its place unless the task is cancelled
    /// before.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` if not even the data keys can be read.
    public static func repair(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        progress: (@Sendable (TokenStore.Progress) throws -> Void)? = nil
    ) async throws -> RepairReport {
        try await StoreConnections.opening.runWhileWanted(telling: progress) {
            try repair(at: path, options: options, progress: $0)
        }
    }

    /// Deletes everything but the key, unless the task is cancelled before the commit.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` for a file that does not show that it is a token store.
    public static func purgeAll(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) async throws -> PurgeCounts {
        try await StoreConnections.opening.runWhileWanted(telling: nil) {
            try purgeAll(at: path, options: options, dryRun: dryRun, progress: $0)
        }
    }

    /// Deletes everything in the store on a server, or in the file, until the task is cancelled: then nothing of a file
    /// is gone, and some accounts of a server.
    public static func purgeAll(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) async throws -> PurgeCounts {
        try await StoreConnections.opening.runWhileWanted(telling: nil) {
            try purgeAll(at: location, options: options, dryRun: dryRun, progress: $0)
        }
    }

    /// Brings the store to the schema of this version, unless the task is cancelled before its turn.
    ///
    /// - Throws: ``TokenStoreError``.
    @discardableResult
    public static func migrate(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) async throws -> MigrationReport {
        try await StoreConnections.opening.runUnlessCancelled {
            try migrate(at: location, options: options, dryRun: dryRun)
        }
    }

    /// Overwrites and removes the copies of a store beside it, unless the task is cancelled before its turn.
    public static func removeCopies(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) async throws -> StoreCopies {
        try await StoreConnections.opening.runUnlessCancelled {
            try removeCopies(at: path, options: options, dryRun: dryRun)
        }
    }
}
