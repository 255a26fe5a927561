import Database
import OAuth
import Sealing

extension TokenStore {
    /// Deletes everything: accounts, tokens, claims, states, what imports left, the data keys and copies of the store;
    /// needs no key.
    ///
    /// A file too damaged to be read is overwritten and removed, if it shows that it was a token store. The key stays;
    /// where it is gone, the next sign-in makes a new one.
    ///
    /// - Returns: what was deleted; zeros where the file could not be read.
    /// - Throws: ``TokenStoreError/Code/damaged`` for a file that does not show that it is a token store,
    ///   ``TokenStoreError/Code/moved`` for a store that is being moved.
    public static func purgeAll(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> PurgeCounts {
        var options = options
        options.unlocks = false
        var counts = PurgeCounts()
        do {
            // Of a store that is gone the copies may be left, which hold what it held.
            if let found = try totals(at: path, options: options) {
                counts = found
                if !dryRun { counts.removedFiles = try open(at: path, options: options).deleteEverything(progress) }
            }
        } catch let error as TokenStoreError where error.code == .damaged {
            counts = PurgeCounts()
            counts.removedFiles = try destroy(path, options: options, dryRun: dryRun)
        }
        let copies = try removeCopies(at: path, options: options, dryRun: dryRun)
        counts.removedFiles += copies.removed
        counts.keptFiles = copies.kept
        return counts
    }

    /// Deletes everything in the store on a server, or in the file, at `location`; needs no key.
    ///
    /// Of a server the data keys stay, as programs may not make new ones there; what its log and its backups keep of
    /// the rows opens with them alone.
    ///
    /// - Returns: what was deleted.
    public static func purgeAll(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> PurgeCounts {
        if let path = location.path {
            return try purgeAll(at: path, options: options, dryRun: dryRun, progress: progress)
        }
        var options = options
        (options.unlocks, options.mayReadStandby) = (false, false)
        guard let store = try inspect(at: location, options: options) else { return PurgeCounts() }
        let counts = try store.read { session in
            try session.requireFinishedMove()
            try session.requireWritableSchema()
            return try session.totals()
        }
        guard !dryRun else { return counts }
        let writer = try open(at: location, options: options)
        defer { writer.close() }
        try writer.deleteEverything(progress)
        return counts
    }

    /// How much the store holds, also one of an older version; nil if there is none.
    ///
    /// - Throws: ``TokenStoreError/Code/moved`` if it is being moved.
    private static func totals(at path: StorePath, options: StoreOptions) throws -> PurgeCounts? {
        do {
            return try inspect(at: path, options: options)?.read { session in
                try session.requireFinishedMove()
                try session.requireWritableSchema()
                var counts = try session.totals()
                counts.removedFiles = try session.ownAnswers().map(\.name)
                return counts
            }
        } catch let error as TokenStoreError where error.code == .olderStore {
            let file = StoreFile(path: path, timeout: options.busyTimeout)
            let connection = try file.openForInspection().connection
            var counts = try PurgeCounts(of: connection)
            let storeID = try StoreHeader(connection, at: path).storeID
            counts.removedFiles = try PendingFile.all(of: path, for: storeID).map(\.name)
            return counts
        }
    }

    /// - Returns: the files with answers that were waiting beside the store, which went too.
    @discardableResult
    private func deleteEverything(_ progress: TokenStore.ProgressHandler?) throws -> [String] {
        let lock = try location.path.map { try KernelLock(.pendingAnswers, of: $0, timeout: options.busyTimeout) }
        defer { withExtendedLifetime(lock) {} }
        let (erasure, answers) = try TokenStoreError.inSteps { done in
            if location.path == nil { try deleteAccountsInPages(progress, done: &done) }
            return try withWriter { session in
                // As no row is left, none can lose the row that it refers to, which would be looked for row by row.
                try session.connection.withoutReferences {
                    try session.withLongStatements { try session.write { try session.deleteEverything(progress) } }
                }
                // What waits in files is sealed under keys that are gone.
                let answers = try session.ownAnswers()
                for file in answers { try file.destroy() }
                return (try session.erasure(within: options.busyTimeout), answers.map(\.name))
            }
        }
        if case .unfinished(let error) = erasure { throw error }
        return answers
    }

    /// Deletes the accounts of a server, so many at a time that nobody who signs in waits for long; those that come
    /// meanwhile are left for the end.
    private func deleteAccountsInPages(_ progress: TokenStore.ProgressHandler?, done: inout String?) throws {
        let rows = try read { session in try session.connection.read { try session.accountRows(matching: .all) } }
        guard !rows.isEmpty else { return }
        let accounts = RowProgress(progress, total: rows.count, unit: "accounts")
        try accounts.start()
        var deleted = 0
        for page in rows.pages {
            try withWriter { session in
                try session.write {
                    try session.lockForManyAccounts()
                    for row in page { try session.deleteAccount(row) }
                    try session.record(.purge, outcome: "\(page.count) accounts")
                }
            }
            deleted += page.count
            done = "\(deleted) of \(rows.count) accounts were deleted before"
            try accounts.advance(by: page.count)
        }
        try accounts.end()
    }

    /// Overwrites and removes the files of a store that cannot be read.
    ///
    /// - Returns: the database, or the log that was left of it, and the answers that waited beside it.
    private static func destroy(_ path: StorePath, options: StoreOptions, dryRun: Bool) throws -> [String] {
        let files = StoreFiles(path, source: options.keySource)
        try FilePermissions(path: path, isInspection: false).checkDirectory()
        // Before anything is locked, which would leave a lock file beside another program's file.
        try files.requireOwnDatabase()
        let isFile = FileStatus(path.database) != nil
        let removed = [isFile ? path.database : path.log]
        // Whose answers they are is told by what is left of the database.
        func answers() throws -> [PendingFile] {
            try PendingFile.all(of: path).filter { $0.storeID.map { files.holdStoreID($0) } ?? false }
        }
        if dryRun { return try removed + answers().map(\.name) }
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        let access = isFile ? try ExclusiveAccess.wait(for: path, timeout: options.busyTimeout) : nil
        defer { withExtendedLifetime(access) {} }
        try files.requireOwnDatabase()
        let waiting = try answers()
        try files.eraseDatabase()
        for file in waiting { try file.destroy() }
        try StoreFile(path: path, timeout: options.busyTimeout).synchronize(path.directory)
        return removed + waiting.map(\.name)
    }

    /// Overwrites and removes the copies of a store beside it that show that they are ours.
    public static func removeCopies(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) throws -> StoreCopies {
        let files = StoreFiles(path, source: options.keySource)
        let copies = files.copies
        let result = StoreCopies(
            removed: copies.filter(\.isRecognized).map(\.path),
            kept: copies.filter { !$0.isRecognized }.map(\.path)
        )
        guard !dryRun, !result.removed.isEmpty else { return result }
        // A migration or a repair may be making one.
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        for copy in copies { try files.erase(copy) }
        try StoreFile(path: path, timeout: options.busyTimeout).synchronize(path.directory)
        return result
    }
}

/// The copies of a store beside it, by their paths.
public struct StoreCopies: Hashable, Sendable {
    /// Those that were removed, or would be.
    public let removed: [String]

    /// Those that were left alone, as they do not show that they are of this library.
    public let kept: [String]

    package init(removed: [String] = [], kept: [String] = []) {
        self.removed = removed
        self.kept = kept
    }
}

extension StoreConnection {
    /// Every table but those of the store itself, those that others refer to last.
    private static let contents =
        ["claim_index"] + SealedTable.all.reversed().filter { $0 !== SealedTable.event }.map(\.name)

    /// Empties the tables, with the keys of what was in them.
    fileprivate func deleteEverything(_ progress: TokenStore.ProgressHandler?) throws {
        // A sign-in locks its account first, and so waits until everything is gone.
        if connection.isServer { try connection.execute("LOCK TABLE account IN EXCLUSIVE MODE") }
        let counts = try Self.contents.map(connection.rowCount)
        let rows = RowProgress(progress, total: counts.reduce(0, +), unit: "rows")
        try rows.start()
        try connection.withoutOverwriting {
            for (table, count) in zip(Self.contents, counts) {
                try connection.execute("DELETE FROM \(table)")
                try rows.advance(by: count)
            }
        }
        try deleteRecordOfUse()
        try rows.end()
    }

    /// One entry stays, which says so, and in a file until then another, that it is not erased yet.
    private func deleteRecordOfUse() throws {
        guard !connection.isServer else {
            // Another node's entry may have the greater id. That all was moved is known on.
            try connection.run("DELETE FROM event WHERE NOT (kind = 'move' AND outcome LIKE 'all %')")
            return try record(.purge, outcome: "everything")
        }
        // The ids go on rising: who waits for changes knows the last one.
        try record(.purge, outcome: "everything")
        try deleteEventsButTheLast()
        try recordErasure()
        // Nothing is sealed under them any more, and the key that opens them may be lost. Without them nothing opens
        // of the pages that were not overwritten.
        try connection.deleteDataKeys()
    }

    /// How much the store holds.
    func totals() throws -> PurgeCounts { try PurgeCounts(of: connection) }
}
