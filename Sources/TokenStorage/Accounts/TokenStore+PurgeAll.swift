import OAuth
import SQLite
import Sealing

extension TokenStore {
    /// Deletes everything: accounts, tokens, claims, states, what imports left, the data keys and copies of the store;
    /// needs no key.
    ///
    /// A file too damaged to be read is overwritten and removed, if it shows that it was a token store. The key stays;
    /// where it is gone, the next sign-in makes a new one.
    ///
    /// - Returns: what was deleted; zeros where the file could not be read.
    /// - Throws: ``TokenStoreError/Code/damaged`` for a file that does not show that it is a token store.
    public static func purgeAll(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) throws -> PurgeCounts {
        var options = options
        options.unlocks = false
        var counts: PurgeCounts
        do {
            guard let found = try totals(at: path, options: options) else { return PurgeCounts() }
            counts = found
            if !dryRun { try open(at: path, options: options).deleteEverything() }
        } catch let error as TokenStoreError where error.code == .damaged {
            counts = PurgeCounts()
            counts.removedFiles = try destroy(path, options: options, dryRun: dryRun)
        }
        let copies = try removeCopies(at: path, options: options, dryRun: dryRun)
        counts.removedFiles += copies.removed
        counts.keptFiles = copies.kept
        return counts
    }

    /// How much the store holds, also one of an older version; nil if there is none.
    private static func totals(at path: StorePath, options: StoreOptions) throws -> PurgeCounts? {
        do {
            return try inspect(at: path, options: options)?.read { try $0.totals() }
        } catch let error as TokenStoreError where error.code == .olderStore {
            let file = StoreFile(path: path, timeout: options.busyTimeout)
            return try PurgeCounts(of: file.openForInspection().connection)
        }
    }

    private func deleteEverything() throws {
        let lock = try KernelLock(.pendingAnswers, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        for file in try PendingFile.all(of: path) where file.isOurs { try file.destroy() }
        try removing(takesIn: false) { session in
            // What spans all tables is not in `Tables`.
            for table in [
                "refresh_attempt", "throttle", "issuer_document", "dpop_key", "access_token", "refresh_token",
                "id_token",
                "tenant_profile", "account_tag", "account", "account_state", "authority_map", "sign_out",
                "app_metadata",
                "foreign_entry",
                "mark_key",
            ] {
                try session.connection.execute("DELETE FROM \(table)")
            }
            // One entry stays, so that the ids go on rising: who waits for changes knows the last one.
            try session.record(.purge, outcome: "everything")
            try session.deleteEventsButTheLast()
            // Nothing is sealed under them any more, and the key that opens them may be lost.
            try session.connection.deleteDataKeys()
        }
    }

    /// Overwrites and removes the files of a store that cannot be read.
    ///
    /// - Returns: the database, or the log that was left of it.
    private static func destroy(_ path: StorePath, options: StoreOptions, dryRun: Bool) throws -> [String] {
        let files = StoreFiles(path, source: options.keySource)
        try FilePermissions(path: path, isInspection: false).checkDirectory()
        // Before anything is locked, which would leave a lock file beside another program's file.
        try files.requireOwnDatabase()
        let isFile = FileStatus(path.database) != nil
        let removed = [isFile ? path.database : path.log]
        if dryRun { return removed }
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        let access = isFile ? try ExclusiveAccess.wait(for: path, timeout: options.busyTimeout) : nil
        defer { withExtendedLifetime(access) {} }
        try files.requireOwnDatabase()
        try files.eraseDatabase()
        for file in try PendingFile.all(of: path) where file.isOurs { try file.destroy() }
        try StoreFile(path: path, timeout: options.busyTimeout).synchronize(path.directory)
        return removed
    }

    /// Overwrites and removes the copies of a store beside it that show that they are ours.
    ///
    /// - Returns: the paths that were removed, or would be, and those that were left alone.
    public static func removeCopies(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) throws -> (removed: [String], kept: [String]) {
        let files = StoreFiles(path, source: options.keySource)
        let copies = files.copies
        let result = (copies.filter(\.isRecognized).map(\.path), copies.filter { !$0.isRecognized }.map(\.path))
        guard !dryRun, !result.0.isEmpty else { return result }
        // A migration or a repair may be making one.
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        for copy in copies { try files.erase(copy) }
        try StoreFile(path: path, timeout: options.busyTimeout).synchronize(path.directory)
        return result
    }
}

extension StoreConnection {
    /// How much the store holds.
    func totals() throws -> PurgeCounts { try PurgeCounts(of: connection) }
}
