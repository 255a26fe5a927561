import OAuth
import SQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Accounts, claims and tokens that last, sealed: in an SQLite file that any number of processes share, or on a
/// PostgreSQL server that any number of machines do.
///
/// Its methods may be called from any thread. They block for as long as a disk write takes, or another process holds
/// the store. Asynchronous code gets forms of the same names that do not block, except of what an operator does with
/// a server, such as ``create(at:options:granting:isDistributed:)``. What they throw is a ``TokenStoreError``, or comes
/// from a closure of the caller's; an asynchronous form also throws `CancellationError`.
///
/// ```swift
/// let store = try TokenStore.open(at: StoreLocation.standard(environment: ProcessInfo.processInfo.environment))
/// try store.save(response, for: request)
/// let accounts = try store.accounts(matching: .userFlow("B2C_1_SignIn"))
/// ```
public final class TokenStore: StoreReading {
    /// The version of this package.
    public static let version = "0.2.0"

    /// The connections that it reads and writes by; for the library itself.
    public let connections: StoreConnections
    let cache: AccessTokenCache
    let unfinishedAnswers = UnfinishedAnswers()
    let changeReader = ChangeReader()

    private init(_ connections: StoreConnections) {
        self.connections = connections
        cache = connections.cache
    }

    /// Opens the store on a server, or the file, at `location`; a file is made if there is none.
    ///
    /// A store on a server is made by ``create(at:options:granting:isDistributed:)``, once and with a role that may.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func open(at location: StoreLocation, options: StoreOptions = StoreOptions()) throws -> TokenStore {
        let store = deferred(at: location, options: options)
        try store.withWriter { _ in }
        return store
    }

    /// Opens the store, creating it with a new key if there is none, and migrating an older one.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func open(at path: StorePath, options: StoreOptions = StoreOptions()) throws -> TokenStore {
        try open(at: StoreLocation(path), options: options)
    }

    /// Has a process that does nothing but use stores use SQLite for itself alone; before the first store is opened.
    package static func ownSQLite() { SQLite.Connection.leaveMemoryUncounted() }

    /// Makes sure, as far as it can be known, that a store can be made where none is; nothing is made.
    ///
    /// - Throws: ``TokenStoreError``.
    package static func requireCreatable(at path: StorePath, options: StoreOptions = StoreOptions()) throws {
        try StoreOpener(path: path, options: options).requireCreatable()
    }

    /// Makes sure that the directory of a store that is yet to be made, where it is there, is for this user alone.
    package static func requireOwnDirectory(of path: StorePath) throws(TokenStoreError) {
        guard !FileStatus.isAbsent(path.directory) else { return }
        try FilePermissions(path: path, isInspection: false).checkDirectory()
    }

    /// Makes sure, as far as it can be known, that a server would store a sign-in now: what a save would meet is
    /// thrown, and nothing is written.
    ///
    /// - Throws: ``TokenStoreError``.
    package func requireSavable() throws {
        guard connections.location.path == nil else { return }
        try connections.write { try $0.rehearseSignIn() }
    }

    /// The store as it will be opened, or created, by the first call that needs it.
    package static func deferred(at path: StorePath, options: StoreOptions = StoreOptions()) -> TokenStore {
        deferred(at: StoreLocation(path), options: options)
    }

    package static func deferred(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions()
    ) -> TokenStore {
        TokenStore(StoreConnections(at: location, options: options, isInspection: false))
    }

    /// Opens the store for reading only: nothing is written, not even a lock or a log.
    ///
    /// - Returns: nil if there is no store.
    /// - Throws: ``TokenStoreError``.
    public static func inspect(
        at path: StorePath,
        options: StoreOptions = StoreOptions()
    ) throws -> StoreInspection? {
        try inspect(at: StoreLocation(path), options: options)
    }

    /// Opens the store on a server, or the file, for reading only.
    ///
    /// - Returns: nil if there is no store.
    /// - Throws: ``TokenStoreError``.
    public static func inspect(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions()
    ) throws -> StoreInspection? {
        try StoreConnections.inspecting(location, options: options).map { StoreInspection(connections: $0) }
    }
}

extension TokenStore {
    /// Runs `body` in a write transaction.
    package func write<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try connections.write(body)
    }

    /// Runs `body` with the writing connection, outside a transaction.
    package func withWriter<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try connections.withWriter(body)
    }

    /// As ``withWriter(_:)``; nil if another thread has the connection all that time, and no longer waiting for others.
    func withWriter<Result: Sendable>(
        within limit: Duration,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result? {
        try connections.withWriter(within: limit, body)
    }

    /// Makes sure that it is not the store which keeps a caller waiting whose time is up.
    ///
    /// - Throws: ``TokenStoreError/Code/busy``; on a server ``TokenStoreError/Code/unreachable`` too.
    package func requireNoHolder(trying: Bool = true) throws { try connections.requireNoHolder(trying: trying) }

    /// Closes the connections that are not in use; the next call that needs one opens it again.
    ///
    /// - Returns: whether none is in use.
    @discardableResult
    package func close() -> Bool { connections.close() }
}
