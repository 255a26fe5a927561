#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Accounts, claims and tokens that last: a sealed SQLite file that any number of processes share.
///
/// Its methods may be called from any thread. They block for as long as a disk write takes, or another process holds
/// the store; asynchronous code calls those that write through ``perform(_:)``.
///
/// ```swift
/// let store = try TokenStore.open(at: .standard(environment: ProcessInfo.processInfo.environment))
/// try store.save(response, for: request)
/// let accounts = try store.accounts(matching: .userFlow("B2C_1_SignIn"))
/// ```
public final class TokenStore: Sendable {
    /// The version of this package.
    public static let version = "0.1.0"

    public let path: StorePath
    package let options: StoreOptions
    private let isInspection: Bool

    /// Reads and writes have a connection each, so that a read never waits for this process's own write.
    private let reader = GuardedSession()
    private let writer = GuardedSession()

    private init(path: StorePath, options: StoreOptions, isInspection: Bool) {
        self.path = path
        self.options = options
        self.isInspection = isInspection
    }

    /// Opens the store, creating it with a new key if there is none, and migrating an older one.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func open(at path: StorePath, options: StoreOptions = StoreOptions()) throws -> TokenStore {
        let store = TokenStore(path: path, options: options, isInspection: false)
        try store.withWriter { _ in }
        return store
    }

    /// Opens the store for reading only: nothing is written, not even a lock or a log.
    ///
    /// - Returns: nil if there is no store.
    /// - Throws: ``TokenStoreError``.
    public static func inspect(at path: StorePath, options: StoreOptions = StoreOptions()) throws -> TokenStore? {
        let store = TokenStore(path: path, options: options, isInspection: true)
        return try store.hasReader() ? store : nil
    }

    /// Runs `body` with the reading connection.
    package func read<Result: Sendable>(_ body: (StoreSession) throws -> Result) throws -> Result {
        guard try hasReader() else {
            throw TokenStoreError.file("\(path.database) is gone; import or sign in to make a new store")
        }
        return try reader.withLock { session in
            try TokenStoreError.translating(at: path) {
                guard let opened = session else { preconditionFailure("a reader was opened above") }
                let result = try body(opened)
                guard opened.isOutdated else { return result }
                session = nil
                throw TokenStoreError.busy("\(path.database) was opened for writing while it was read; try again")
            }
        }
    }

    /// Runs `body` in a write transaction.
    package func write<Result: Sendable>(_ body: (StoreSession) throws -> Result) throws -> Result {
        try withWriter { session in try session.write { try body(session) } }
    }

    /// Runs `body` with the writing connection, outside a transaction.
    package func withWriter<Result: Sendable>(_ body: (StoreSession) throws -> Result) throws -> Result {
        guard !isInspection else {
            throw TokenStoreError.invalidArgument("the store was opened for inspection; open it for writing")
        }
        return try writer.withLock { session in
            try TokenStoreError.translating(at: path) {
                let opened = try session ?? StoreOpener(path: path, options: options).open()
                session = opened
                return try body(opened)
            }
        }
    }

    /// Opens the reading connection if it is not open yet; false if there is no store.
    private func hasReader() throws -> Bool {
        try reader.withLock { session in
            if session != nil { return true }
            let opener = StoreOpener(path: path, options: options)
            session = isInspection ? try opener.inspect() : try opener.open()
            return session != nil
        }
    }
}
