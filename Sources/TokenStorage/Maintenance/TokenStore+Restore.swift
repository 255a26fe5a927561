import Database
import OAuth
import Sealing

/// What a restore does, or has done.
package struct StoreRestore: Sendable {
    /// The backup.
    package let backup: StoreBackup

    /// The accounts of the backup, by name, the first of them.
    package let accounts: [String]

    /// The accounts of the store that is replaced, and how many there are; nil if there is no store.
    package let replaced: (names: [String], count: Int)?

    /// The copy that was kept of the store that was replaced.
    package fileprivate(set) var keptCopy: String?
}

extension TokenStore {
    /// What ``restore(from:to:options:progress:)`` would do.
    ///
    /// - Throws: ``TokenStoreError`` if the backup cannot be read.
    package static func planRestore(
        from file: String,
        to path: StorePath,
        options: StoreOptions = StoreOptions()
    ) throws -> StoreRestore {
        try Restoration(file: file, path: path, options: options, progress: nil).plan()
    }

    /// Puts a backup in the place of the store, of which a copy is kept.
    ///
    /// The backup is checked, and opened with its key, before the store is touched.
    ///
    /// - Throws: ``TokenStoreError``.
    package static func restore(
        from file: String,
        to path: StorePath,
        options: StoreOptions = StoreOptions(),
        progress: ProgressHandler? = nil
    ) throws -> StoreRestore {
        try TokenStoreError.translating(at: path) {
            try Restoration(file: file, path: path, options: options, progress: progress).run()
        }
    }
}

/// Makes a store of a backup.
private struct Restoration {
    private static let shownNames = 20

    let file: String
    let path: StorePath
    let options: StoreOptions
    let progress: TokenStore.ProgressHandler?

    private var source: StorePath { StorePath(file) }
    private var target: StoreFile { StoreFile(path: path, timeout: options.busyTimeout) }
    private var isReplacing: Bool { FileStatus(path.database) != nil }

    func plan() throws -> StoreRestore {
        let connection = try openBackup()
        return StoreRestore(
            backup: try StoreBackup(connection, at: source),
            accounts: try connection.accountNames(limit: Self.shownNames),
            replaced: try replaced()
        )
    }

    func run() throws -> StoreRestore {
        var restore = try plan()
        if FileStatus(path.directory) == nil { try StoreOpener(path: path, options: options).createDirectory() }
        let permissions = FilePermissions(path: path, isInspection: false)
        try permissions.checkDirectory()
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        guard isReplacing else {
            try StoreOpener(path: path, options: options).refuseOrphanedLog()
            try makeFresh()
            try target.takeName()
            return restore
        }
        try permissions.checkDatabase()
        try StoreFiles(path, source: options.keySource).requireOwnDatabase()
        // What another connection committed while its file is being replaced would be lost.
        let access = try ExclusiveAccess.wait(for: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(access) {} }
        try makeFresh()
        restore.keptCopy = try target.replaceDatabase(keeping: "replaced", at: options.seconds)
        return restore
    }

    /// Copies the backup to where a new database is made, and opens it there.
    private func makeFresh() throws {
        let backup = try openBackup()
        try target.create(as: path.unfinished) { fresh in
            try backup.read {
                _ = try StoreHeader(backup, at: source)
                try backup.copyPages(to: fresh) { done, total in
                    try progress?(TokenStore.Progress(done: done, total: total, unit: "pages"))
                }
            }
            let header = try StoreHeader(fresh, at: path)
            let isCurrent = try options.schema.pending(header, forWriting: true).isEmpty
            let session = try StoreConnection.unlocked(fresh, at: path, options: options)
            // An older store gets its entry by no migration, and does without.
            if isCurrent { try session.connection.write { try session.record(.restore) } }
        }
    }

    /// The backup, looked at page by page; it may be anywhere, also where others can read.
    private func openBackup() throws -> Connection {
        guard !FileStatus.isAbsent(source.database) else {
            throw TokenStoreError.file("\(source.database) does not exist", .chooseBackup)
        }
        guard let status = FileStatus(source.database) else { throw StoreFile.failure("opened", source.database) }
        guard status.kind == .regular, FileSigns.namesProgram(source.database) else {
            throw TokenStoreError.damaged("\(source.database) is not a backup of a token store", .chooseBackup)
        }
        guard FileStatus(path.database)?.isSameFile(as: status) != true else {
            throw TokenStoreError.file("\(source.database) is the store itself", .chooseBackup)
        }
        let connection = try StoreFile(path: source, timeout: options.busyTimeout).openForInspection().connection
        _ = try options.schema.pending(StoreHeader(connection, at: source), forWriting: true)
        guard let problem = try connection.integrityProblems(quick: false).first else { return connection }
        throw TokenStoreError.damaged("the backup \(source.database) is damaged (\(problem))", .chooseBackup)
    }

    /// The accounts of the store that is there, as far as it can be read: it may be restored because it cannot.
    private func replaced() throws -> (names: [String], count: Int)? {
        guard isReplacing else { return nil }
        do {
            let connection = try target.openForInspection().connection
            return (try connection.accountNames(limit: Self.shownNames), try connection.accountCount())
        } catch is SQLiteError {
            return ([], 0)
        } catch is TokenStoreError {
            return ([], 0)
        }
    }
}

extension Remedy {
    fileprivate static let chooseBackup = Remedy(.checkSource, "name a file that a backup has made")
}
