import Database
import OAuth
import Sealing

/// What a restore does, or has done.
package struct StoreRestore: Sendable {
    /// The backup.
    package let backup: StoreBackup

    /// The accounts of the backup, by name: the first of them, of a trial all.
    package let accounts: [String]

    /// The accounts of the store that is replaced, and how many there are; nil if there is no store.
    package let replaced: (names: [String], count: Int)?

    /// The log that is left of a store whose database is missing, which gets another name; nil if there is none.
    package let orphanedLog: String?

    /// The copy that was kept of the store that was replaced, or the log that was left of one that is missing.
    package fileprivate(set) var keptCopy: String?
}

extension TokenStore {
    /// What ``restore(from:to:options:progress:)`` would do; a trial opens the backup with its key, too.
    ///
    /// - Throws: ``TokenStoreError`` if the backup cannot be read, or what is in the place of the store may not be
    ///   replaced.
    package static func planRestore(
        from file: String,
        to path: StorePath,
        options: StoreOptions = StoreOptions(),
        isTrial: Bool = false
    ) throws -> StoreRestore {
        try TokenStoreError.translating(at: path) {
            let shown = isTrial ? Int.max : Restoration.shownNames
            let restoration = Restoration(file: file, path: path, options: options, names: shown, progress: nil)
            let plan = try restoration.plan()
            try restoration.checkPlace()
            if isTrial { try restoration.requireKey() }
            return plan
        }
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
    static let shownNames = 20

    let file: String
    let path: StorePath
    let options: StoreOptions

    /// How many accounts are named.
    var names = Self.shownNames

    let progress: TokenStore.ProgressHandler?

    private var source: StorePath { StorePath(file) }
    private var target: StoreFile { StoreFile(path: path, timeout: options.busyTimeout) }
    private var isReplacing: Bool { get throws { try FileStatus.ifPresent(path.database) != nil } }

    func plan() throws -> StoreRestore {
        try readingBackup { backup in
            try check(backup.connection)
            let plan = StoreRestore(
                backup: try StoreBackup(backup.connection, at: source, orElse: options.keySource),
                accounts: try backup.connection.accountNames(limit: names),
                replaced: try replaced(),
                orphanedLog: FileStatus.isAbsent(path.database) && path.hasLog ? path.log : nil
            )
            try backup.requireCurrent()
            return plan
        }
    }

    /// Opens the backup with the key that the restored store would have, and looks at all of it.
    func requireKey() throws {
        try readingBackup { backup in
            // That of a store that was emptied has no keys, and gets some when it is restored.
            guard try !backup.connection.wrappedDataKeys().isEmpty else { return }
            let session = try StoreConnection.unlocked(backup.connection, at: path, options: options)
            let header = try StoreHeader(backup.connection, at: source)
            if try options.schema.pending(header, forWriting: true).isEmpty {
                // The restored store says where the key comes from that has opened the backup.
                try refuse(session.problems(nil).filter { $0 != .unnamedKeySource })
            }
            try backup.requireCurrent()
        }
    }

    func run() throws -> StoreRestore {
        var restore = try plan()
        if FileStatus.isAbsent(path.directory) { try StoreOpener(path: path, options: options).createDirectory() }
        try FilePermissions(path: path, isInspection: false).checkDirectory(mayBeEmpty: true)
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        try checkPlace()
        guard try isReplacing else {
            try makeFresh()
            restore.keptCopy = try target.takeName(keeping: "replaced", at: options.seconds)
            return restore
        }
        // What another connection committed while its file is being replaced would be lost.
        let access = try ExclusiveAccess.wait(for: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(access) {} }
        try makeFresh()
        restore.keptCopy = try target.replaceDatabase(keeping: "replaced", at: options.seconds)
        return restore
    }

    /// Requires that what is in the place of the store may be replaced: a store, however damaged, or an empty file.
    func checkPlace() throws {
        guard !FileStatus.isAbsent(path.directory) else { return }
        let permissions = FilePermissions(path: path, isInspection: false)
        try permissions.checkDirectory(mayBeEmpty: true)
        try StoreFiles(path).requireOwnLeftovers()
        guard try isReplacing else { return }
        try permissions.checkDatabase(mayBeEmpty: true)
        guard let size = FileStatus(path.database)?.size, size > 0 else { return }
        try StoreFiles(path, source: options.keySource).requireOwnDatabase()
    }

    /// Copies the backup to where a new database is made, opens it there, and looks at all of it.
    private func makeFresh() throws {
        try readingBackup { backup in
            try target.create(as: path.unfinished) { fresh in
                try backup.connection.read {
                    _ = try StoreHeader(backup.connection, at: source)
                    try backup.connection.copyPages(to: fresh) { done, total in
                        try progress?(TokenStore.Progress(done: done, total: total, unit: "pages"))
                    }
                }
                // No prompt for the key of a copy that is torn.
                try backup.requireCurrent()
                try openFresh(fresh)
            }
        }
    }

    /// Opens the copy with its key, and makes sure that it is a sound store.
    private func openFresh(_ fresh: Connection) throws {
        let header = try StoreHeader(fresh, at: path)
        let isCurrent = try options.schema.pending(header, forWriting: true).isEmpty
        let session = try StoreConnection.unlocked(fresh, at: path, options: options)
        try session.connection.write { try session.nameKeySource() }
        // The values of an older store can be looked at once it is migrated, which opening it does.
        let problems = try isCurrent ? session.problems(progress) : shapeProblems(session)
        try refuse(problems)
        // An older store gets its entry by no migration, and does without.
        if isCurrent { try session.connection.write { try session.record(.restore) } }
    }

    /// A backup that is open.
    private struct Source {
        let connection: Connection
        let path: StorePath

        /// What stood beside it before; nil where it is read with locks.
        let beside: LogState?

        /// Requires that what was read without locks is of one moment.
        func requireCurrent() throws(OutdatedRead) {
            if let beside, beside != LogState(path) { throw OutdatedRead() }
        }
    }

    /// Runs `body` with the backup; again where another program wrote to it meanwhile, until the time is up.
    ///
    /// A backup may be anywhere, also where others can read, and it may be a store that is in use.
    private func readingBackup<Result>(_ body: (Source) throws -> Result) throws -> Result {
        try requireBackup()
        do {
            return try readingFile(body)
        } catch let error as SQLiteError where [.corrupt, .notADatabase].contains(error.code.primary) {
            throw damaged(error.message)
        } catch let error as SealingError where TokenStoreError.key(error).code == .damaged {
            throw damaged(error.problem)
        } catch let error as TokenStoreError where error.remedy == .nameKeySource {
            throw TokenStoreError.damaged(
                "the backup \(source.database) does not say where its key comes from",
                .changeKey("name the source of its key")
            )
        } catch let error as TokenStoreError where [.repair, .check].contains(error.remedy?.code) {
            // What helps a store is said, and a backup is none yet.
            throw damaged(error.problem)
        } catch let error as TokenStoreError where error.code == .moved {
            throw TokenStoreError.file(
                "the backup \(source.database) is of a store that had been moved to another place",
                Remedy(.checkSource, "name a backup that was made before, or of the new place")
            )
        }
    }

    private func readingFile<Result>(_ body: (Source) throws -> Result) throws -> Result {
        var attempts = UnlockedAttempts(at: source, within: options.busyTimeout)
        while true {
            LogState.awaitFirstPage(at: source, within: options.busyTimeout)
            let before = LogState(source)
            var mode: Connection.Mode?
            do {
                let opened = try StoreFile(path: source, timeout: options.busyTimeout).openForInspection()
                mode = opened.mode
                let beside = opened.mode == .readOnly ? nil : before
                return try body(Source(connection: opened.connection, path: source, beside: beside))
            } catch let error where UnlockedAttempts.mayBeTorn(error) {
                guard mode != .readOnly, before != LogState(source) else { throw error }
                try attempts.next()
            }
        }
    }

    /// Requires a file that a backup may be in.
    private func requireBackup() throws {
        for place in [source, path] { try place.requireFile() }
        try path.requireShortName()
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
    }

    /// Looks at every page of the backup and at its schema, for which no key is needed.
    private func check(_ connection: Connection) throws {
        let header = try StoreHeader(connection, at: source)
        _ = try options.schema.pending(header, forWriting: true)
        let session = StoreConnection(connection, at: StoreLocation(source), header: header, options: options)
        try refuse(shapeProblems(session))
    }

    /// What is wrong with the pages and, where those are sound, with the schema.
    private func shapeProblems(_ session: StoreConnection) throws -> [StoreProblem] {
        let pages = try session.connection.integrityProblems(quick: false)
        guard pages.isEmpty else { return pages.map { StoreProblem(location: "file", problem: $0) } }
        return try session.schemaProblems()
    }

    private func refuse(_ problems: [StoreProblem]) throws {
        if let problem = problems.first { throw damaged("\(problem.location): \(problem.problem)") }
    }

    private func damaged(_ reason: String) -> TokenStoreError {
        .damaged("the backup \(source.database) is damaged (\(reason))", .chooseBackup)
    }

    /// The accounts of the store that is there, as far as it can be read: it may be restored because it cannot.
    private func replaced() throws -> (names: [String], count: Int)? {
        guard let status = FileStatus(path.database) else { return nil }
        // To open a pipe would wait for ever for another program.
        guard status.kind == .regular else {
            try FilePermissions(path: path, isInspection: false).checkDatabase()
            return ([], 0)
        }
        do {
            let connection = try target.openForInspection().connection
            return (try connection.accountNames(limit: names), try connection.accountCount())
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
