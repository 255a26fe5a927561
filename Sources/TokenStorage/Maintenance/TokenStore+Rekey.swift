import Database
import OAuth
public import Sealing

extension TokenStore {
    /// Seals everything anew under a new data key, or, given a `source`, wraps the data keys under a key from there.
    ///
    /// Killed at any moment, every value stays readable, and the next call finishes the work. Others may read and
    /// write meanwhile. When it returns, the store's own files hold nothing that is sealed under the old data key;
    /// copies beside the store and backups still do.
    ///
    /// A stolen copy of the store and its key also opens what is sealed later, unless both keys change: that is
    /// `afterLeak`, which needs a `source` with another key. What is in the stolen copy can still be read.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` if another process is rekeying.
    public func rekey(
        to source: KeySource? = nil,
        afterLeak: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> RekeyReport {
        // Readers that wait were given the old key; a new one takes the writer's.
        defer { if source != nil { connections.closeReaders() } }
        return try TokenStoreError.inSteps { done in
            try withWriter { session in
                // On a server two at once do the same work twice, and the last one that ends has seen it done.
                let lock = try location.path.map { try KernelLock(.rekey, of: $0, timeout: options.busyTimeout) }
                defer { withExtendedLifetime(lock) {} }
                if let source, !afterLeak {
                    let note = try session.changeSource(to: source, afterLeak: false, done: &done)
                    return RekeyReport(
                        resealed: 0,
                        altered: 0,
                        keySource: source.description,
                        resumed: false,
                        note: note
                    )
                }
                let (note, isResumed) = try session.beginRekey(to: source, afterLeak: afterLeak, done: &done)
                done = "a rekey has begun under the key from '\(session.header.keySource)'"
                // Later ones, and all where the key was in its place before, are of programs that have it.
                let start = try source != nil || isResumed || session.hasJustMovedKey() ? session.now : nil
                let outcome = try finishRekey(by: session, awaitingRefreshesUntil: start, progress)
                done = "the rekey is done"
                try session.removeOldPages()
                let notes = [outcome.isComplete ? nil : Self.adviceOnRefreshes, note].compactMap(\.self)
                return RekeyReport(
                    resealed: outcome.resealed,
                    altered: outcome.altered,
                    keySource: session.header.keySource,
                    resumed: isResumed,
                    note: notes.isEmpty ? nil : notes.joined(separator: "; ")
                )
            }
        }
    }

    private static let adviceOnRefreshes =
        "a refresh that began before has not ended, and if its program still runs and cannot get the new key, it cannot "
        + "store the tokens, and the account has to sign in again"

    /// Seals everything anew under the current data key, and takes the older ones away.
    ///
    /// Refreshes that began until `start`, where that is given, are waited for first.
    ///
    /// - Returns: how many values were sealed anew, how many rows had been altered, and whether all of those refreshes
    ///   ended.
    private func finishRekey(
        by session: StoreConnection,
        awaitingRefreshesUntil start: Int64?,
        _ progress: TokenStore.ProgressHandler?
    ) throws -> (resealed: Int, altered: Int, isComplete: Bool) {
        var (resealed, altered) = (0, 0)
        while true {
            let key = try session.write { try session.keys().currentID }
            let done = try session.connection.withCache(of: 128) { try session.resealEverything(progress) }
            resealed += done.values
            altered += done.altered
            let isComplete = try start.map { try awaitAnswers(toRefreshesBegunBy: $0, session) } ?? true
            // What waits in files is sealed under the old key, and so is what another process puts into one until it
            // sees the new key, which it reads under this lock.
            let pending = try location.path.map {
                try KernelLock(.pendingAnswers, of: $0, timeout: options.busyTimeout)
            }
            defer { withExtendedLifetime(pending) {} }
            if pending != nil { _ = try session.takeInAnswers() }
            if try session.write({ try session.finishRekey(to: key, altered: altered) }) {
                return (resealed, altered, isComplete)
            }
        }
    }

    /// Waits for the answers to refreshes whose programs may not have the key from its new source: such a program puts
    /// the answer into a file under the old data key.
    ///
    /// A server has no files beside it.
    ///
    /// - Returns: whether all of them were stored in time.
    private func awaitAnswers(toRefreshesBegunBy start: Int64, _ session: StoreConnection) throws -> Bool {
        let end = ContinuousClock.now + options.busyTimeout
        var pauses = Pauses()
        while location.path != nil, try session.refreshesUnderWay(begunBy: start) > 0 {
            guard ContinuousClock.now < end else { return false }
            pauses.next(until: end)
            // That ends the refresh whose answer it is.
            try session.takeInAnswersIfUnlocked()
        }
        return true
    }
}

extension StoreConnection {
    /// Seals anew what an older version has sealed, which bound it to its place alone, unless another process does.
    ///
    /// Killed at any moment, the next opening goes on with it; others read and write meanwhile.
    func bindValues() throws {
        guard try keys().hasUnbound else { return }
        let lock = try KernelLock(of: path)
        guard try lock.tryLock(.rekey, of: path) else { return }
        defer { withExtendedLifetime(lock) {} }
        // An older version may have left an unfinished rekey, which is finished first.
        while try currentKeys().hasUnbound {
            let key = try write {
                try markEvents()
                _ = try startRekey()
                return try keys().currentID
            }
            let altered = try resealEverything(nil).altered
            // The caller may be taking answers in; then the next opening goes on here.
            let pending = try KernelLock(of: path)
            guard try pending.tryLock(.pendingAnswers, of: path) else { return }
            defer { withExtendedLifetime(pending) {} }
            _ = try takeInAnswers()
            _ = try write { try finishRekey(to: key, altered: altered) }
        }
        // Opening does not wait for who reads older pages; the next deletion empties the log.
        _ = try connection.withBusyTimeout(.zero) { try connection.checkpointTruncating() }
    }

    /// Makes a new data key current, after a leak under a key of `source`, or goes on with a rekey that was cut off.
    fileprivate func beginRekey(to source: KeySource?, afterLeak: Bool, done: inout String?) throws -> (String?, Bool) {
        guard let source else {
            guard !afterLeak else {
                throw TokenStoreError.invalidArgument(
                    "a leaked key needs another one in its place",
                    .changeKey("name its source")
                )
            }
            return (nil, try commitNewKey())
        }
        try write { try reloadKeysAtHand() }
        if try isLeftUnfinished(movedTo: source) { return (Self.adviceOnLeak, true) }
        return (try changeSource(to: source, afterLeak: true, done: &done), false)
    }

    /// Makes a new data key current in one commit, unless a rekey is under way already; returns whether one is.
    ///
    /// A key that was not committed is forgotten: another program may give its number to a key of its own, and what was
    /// sealed here under that number then would never open.
    private func commitNewKey() throws -> Bool {
        let known = keyRing
        do {
            return try write { try startRekey() }
        } catch {
            keyRing = known
            throw error
        }
    }

    /// Makes a new data key current, unless a rekey is under way already; returns whether one is.
    private func startRekey() throws -> Bool {
        try lockKeys()
        // A new data key under a key that another process has left meanwhile could never be unwrapped again.
        try reloadKeysAtHand()
        guard try connection.dataKeyCount() == 1 else { return true }
        try addDataKey(under: keys().keyEncryptionKey)
        try keyRing?.reload(from: connection, at: location)
        try record(.rekey, outcome: "started")
        return false
    }

    func addDataKey(under key: KeyEncryptionKey) throws {
        let ids = try connection.dataKeyIDs()
        // The header of a sealed value names its key in four bytes. A file shows by its identity that it was put back.
        guard let id = connection.isServer ? DataKey.newID(besides: ids) : UInt32(exactly: 1 + Int64(ids.max() ?? 0))
        else {
            throw TokenStoreError.storage(
                "the store has used up its key ids",
                .moveStore("export it and import it into a new one")
            )
        }
        let dataKey = DataKey(id: id, replacesOlder: try keys().hasUnbound)
        try connection.insertDataKey(dataKey, under: key, storeID: header.storeID, at: now)
    }

    /// Takes the older data keys away, after everything was sealed under `key`.
    ///
    /// - Returns: false if it was not, as another rekey has begun meanwhile.
    fileprivate func finishRekey(to key: UInt32, altered: Int) throws -> Bool {
        try lockKeys()
        // Another node may have moved the keys under another one.
        try reloadKeysAtHand()
        guard try keys().currentID == key else { return false }
        try connection.deleteOldDataKeys()
        if let keyRing, try currentSealer().format == .bound {
            let wrapped = try keyRing.wrappedAlone(from: connection)
            try connection.rewrapCurrentDataKey(wrapped)
        }
        try keyRing?.reload(from: connection, at: location)
        try record(.rekey, outcome: altered == 0 ? "done" : "done, \(altered) altered rows left out")
        return true
    }

    /// Keeps others on a server from writing until the end of this transaction, which changes the keys.
    ///
    /// Each of them holds the table while it writes; where rows are spread it holds the row of the current key, for
    /// which new ones would overtake who waits for ever: for the table they queue.
    func lockKeys() throws {
        if connection.isServer { try connection.execute("LOCK TABLE data_key IN EXCLUSIVE MODE") }
    }
}
