package import Database
import OAuth
import SQL
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection to a store with the keys to read it; the SQL of each noun is an extension of it.
///
/// Like its connection it belongs to the one caller that holds it, and is not `Sendable`.
package final class StoreConnection {
    /// On a server another takes its place where it was lost.
    ///
    /// Swift's check for overlapping access is off: every statement would pay for it, and one caller at a time has a
    /// session.
    @exclusivity(unchecked)
    package internal(set) var connection: Connection
    let location: StoreLocation
    let options: StoreOptions
    var header: StoreHeader { didSet { hasNews = true } }
    var keyRing: KeyRing? { didSet { hasNews = true } }

    /// The key of the marks of accounts, once it was needed.
    var markKey: MarkKey? { didSet { hasNews = true } }

    /// Whether it has read what the next connection to a server need not read again.
    var hasNews = false

    var mode = Connection.Mode.readWrite

    /// Who reads the same moment of a file on another thread.
    var second: SecondReader?

    /// What stood beside a file that is read without locks, when it was opened.
    var beside: LogState?

    /// The file that was opened; nil for one that is being made.
    var file: FileStatus.Identity?

    /// The log that belongs to the file.
    var log: FileStatus.Identity?

    /// When it is to be looked whether the file still has its name, by the coarse clock.
    private var nextLook: Int64

    /// The columns that the value is bound to which is sealed or opened at the moment.
    let clearValues = CanonicalValues()

    /// The account whose mark was asked for last in this transaction.
    var latestMark: (id: Account.ID, mark: [UInt8])?

    /// The account whose rows were written last in this transaction, as their values are bound to it.
    var latestOwner: (row: Int64, values: [Value])?

    /// The accounts whose rows were made in this transaction.
    var newAccounts: Set<Int64> = []

    /// The account that a sign-in on a server has made and that nothing else in the store belongs to, so that nothing
    /// is asked about it.
    var bareAccount: Int64?

    /// The rows of accounts that this transaction has locked on a server.
    var lockedRows: [Account.ID: Int64] = [:]

    /// The refresh token whose fingerprint was asked for last in this transaction.
    var latestFingerprint: (refreshToken: Secret, bytes: [UInt8])?

    /// Where the commits of the connection that writes to a file are noted.
    var ownCommits: OwnCommits?

    /// How many entries the connection has made in the record of use.
    var entryCount = 0

    /// Makes another connection to the server; nil on a file.
    var reconnects: (() throws -> Connection)?

    /// Is told after what a transaction on a server waits, to be tried again.
    var willRetry: ((PostgreSQLError) -> Void)?

    /// Is told what a transaction on a server has changed.
    var didChange: (([ServerChange]) -> Void)?

    /// What sign-ins on a server have shown; nil on a file.
    var experience: SignInExperience?

    /// What the sign-in that is being written takes for granted; nil where it has asked.
    var presumption: Presumption?

    /// What the transaction that is open says of itself in the record of use, and whose rows it has locked.
    var witness = CommitWitness()

    /// Whether it is the owner who makes a store on a server.
    var makesServerKeys = false
    /// Whether a transaction that writes to a server is open.
    var isWriting = false

    /// Whether the transaction that is open may have happened before: the answer to its commit was lost, and it left
    /// nothing that tells.
    var mayHaveHappened = false
    /// Whether the answer of an issuer is written, which is not to be had again.
    var isStoringAnswer = false
    /// Until when what is written to a server is tried again; nil: as long as another process is waited for.
    var deadline: ContinuousClock.Instant?

    init(_ connection: Connection, at location: StoreLocation, header: StoreHeader, options: StoreOptions) {
        self.connection = connection
        self.location = location
        self.header = header
        self.options = options
        nextLook = CoarseClock.now + options.replacementLookInterval.nanoseconds
    }

    /// The file and what is beside it, for what only a file has.
    var path: StorePath { location.file }

    /// When the answer that is being stored was received, if that was earlier; Unix seconds.
    var answerTime: Int64?

    /// Whether a store that is older than such an answer took the place of the one that asked: a backup was restored.
    var isOlderThanAnswer = false

    /// The last entry of the record of use before such an answer was asked for; nil where that is not known.
    var entryBeforeRequest: Int64?

    /// Unix seconds.
    package var now: Int64 { answerTime ?? options.seconds }

    static var processID: Int64 { Int64(getpid()) }

    /// Whether a program may have written to a file that is read without locks.
    var isOutdated: Bool { beside.map { $0 != LogState(path) } ?? false }

    /// Requires that what was read without locks is of one moment.
    func requireCurrent() throws(OutdatedRead) {
        if isOutdated { throw OutdatedRead() }
    }

    /// Whether the connection may stay open while it is not used.
    ///
    /// One that must not write to the index of the log would keep every other connection of this process from it, and
    /// the end of one with an index of its own would take their locks.
    var mayWait: Bool { mode == .readWrite || mode == .immutable || options.keepsInspectionOpen }

    /// Requires that the file is still the one of its name.
    func requireName() throws {
        if try isReplaced() { throw ReplacedFile(log: log) }
    }

    /// The same for one that only reads, which looks now and then.
    func requireNameNowAndThen() throws {
        guard CoarseClock.now >= nextLook else { return }
        try requireName()
    }

    /// Whether another file has the name of the one that was opened.
    ///
    /// - Throws: ``TokenStoreError/Code/file`` if none has: a removed store is not to be made anew unasked.
    func isReplaced() throws(TokenStoreError) -> Bool {
        guard let file else { return false }
        nextLook = CoarseClock.now + options.replacementLookInterval.nanoseconds
        if FileStatus(path.database)?.identity == file { return false }
        guard !FileStatus.isAbsent(path.database) else {
            throw .file(
                "\(path.database) was removed while it was open",
                Remedy(.restore, "restore it, or open the store anew")
            )
        }
        return true
    }

    /// The data keys, fetched at the first need.
    ///
    /// While a key is being fetched, a rekey may move the data keys under another one; then that is fetched. A source
    /// is asked again only if the keys did move.
    func keys() throws -> KeyRing {
        if let keyRing { return keyRing }
        var attempts = 0
        while true {
            let wrapped = try connection.read {
                header = try StoreHeader(connection, at: location)
                return try connection.wrappedDataKeys()
            }
            // A purge of everything leaves none.
            guard !wrapped.isEmpty else {
                guard let ring = mode == .readWrite ? try makeKeys() : .openingNothing else { continue }
                keyRing = ring
                return ring
            }
            let isMoved = mode == .readWrite && !connection.isServer && wrapped.contains(where: \.isFrozen)
            do {
                let key = try keySource().load(keyContext(header.keyParameters))
                let ring = try KeyRing(key, storeID: header.storeID, unwrapping: wrapped, salvaging: options.isSalvage)
                if isMoved { throw TokenStoreError.moved(from: location, to: try newPlace(under: ring)) }
                keyRing = ring
                return ring
            } catch let found as SealingError {
                let error = try explained(found)
                attempts += 1
                let found = try connection.wrappedDataKeys()
                guard attempts < Self.keyAttempts, Set(found.map(\.keyID)) != Set(wrapped.map(\.keyID)) else {
                    // Another key may be given, such as a passphrase that is typed again.
                    if error.code == .otherKey { Passphrase.forget(of: header.storeID) }
                    guard isMoved, error.code != .otherKey else { throw error }
                    throw TokenStoreError.unprovedMove(from: location, error.problem)
                }
            }
        }
    }

    /// More rekeys than this in a row, each during the opening of one store, are not to be expected.
    static let keyAttempts = 5

    /// A key that a passphrase makes is never damaged or misplaced: another one is a wrong passphrase.
    private func explained(_ error: SealingError) throws -> SealingError {
        guard error.code == .otherKey, try keySource().kind == .passphrase else { return error }
        return .wrongPassphrase(wanted: error.wantedKeyID, found: error.foundKeyID)
    }

    /// The recorded source, or the given one if it is of the same kind or has the key, which may have been moved.
    func keySource() throws -> KeySource {
        let recorded = Result { try recordedKeySource() }
        guard let given = options.keySource, given != (try? recorded.get()) else { return try recorded.get() }
        // Whether the given one has the key is then found out with it alone.
        guard header.namesKeySource else { return given }
        let source = try recorded.get()
        guard try given.kind == source.kind || opensKeys(given) else {
            throw SealingError.keyElsewhere("the store's key", source.description, given)
        }
        return given
    }

    /// - Throws: ``TokenStoreError/Code/damaged`` where what is recorded names none.
    func recordedKeySource() throws -> KeySource {
        do {
            return try KeySource(parsing: header.keySource)
        } catch {
            throw TokenStoreError.unnamedKeySource(of: location)
        }
    }

    /// Whether a source that the store does not name has the key that the store is sealed under.
    private func opensKeys(_ source: KeySource) throws -> Bool {
        let wrapped = try connection.wrappedDataKeys()
        // Why it gives no key is not what is asked.
        guard source.kind != .passphrase, Set(wrapped.map(\.keyID)).count == 1,
            let key = try? source.load(keyContext([:]))
        else { return false }
        return (try? KeyRing(key, storeID: header.storeID, unwrapping: wrapped, salvaging: true)) != nil
    }

    /// Gives a store that holds nothing sealed a new data key, under a key from its source, or the one asked for.
    ///
    /// - Returns: nil if another process was first, or has named another source meanwhile.
    /// - Throws: ``TokenStoreError/Code/damaged`` if there are sealed values, which lost their keys.
    private func makeKeys() throws -> KeyRing? {
        guard !connection.isServer || makesServerKeys else { throw TokenStoreError.lostKeys(at: location) }
        let source = try options.keySource ?? recordedKeySource()
        return try source.create(keyContext([:])) { key, parameters, use in
            try connection.write {
                // What another process has made may be under a key from elsewhere.
                let isRecorded = try StoreHeader(connection, at: location).keySource == header.keySource
                guard try connection.dataKeyCount() == 0, isRecorded else { return nil }
                guard try connection.holdsNothingSealed() else { throw TokenStoreError.lostKeys(at: location) }
                try connection.forgetMoves()
                // A new id: a process that has not noticed the purge must not take it for the one it knows.
                try connection.insertDataKey(DataKey(id: DataKey.newID()), under: key, storeID: header.storeID, at: now)
                try setKeySource(source, parameters)
                header = try StoreHeader(connection, at: location)
                let ring = try KeyRing(key, storeID: header.storeID, from: connection)
                use.begin()
                return ring
            }
        }
    }

    func keyContext(_ parameters: [String: String]) -> KeySourceContext {
        let directory = location.path?.directory ?? ""
        var context = options.keyContext(directory: directory, storeID: header.storeID, parameters)
        // Where the store names none, no path is one that it names.
        context.recordedSource = try? recordedKeySource()
        return context
    }
}
