import Database
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

/// Opens a store: checks the files, creates or migrates the database, fetches the key.
struct StoreOpener {
    let path: StorePath
    let options: StoreOptions

    private var schema: Schema { options.schema }
    private var file: StoreFile { StoreFile(path: path, timeout: options.busyTimeout) }

    /// Opens the store for writing, creating it first if there is none.
    func open() throws -> StoreConnection {
        try TokenStoreError.translating(at: path) {
            try path.requireFile()
            if FileStatus.isAbsent(path.directory) { try createDirectory() }
            let files = FilePermissions(path: path, isInspection: false)
            try files.checkDirectory()
            let (connection, identity, newKey) = try openDatabase(files)
            var header = try StoreHeader(connection, at: path)
            if !(try schema.pending(header, forWriting: true)).isEmpty {
                header = try migrate(connection)
            }
            let session = try session(connection, identity, header, key: newKey)
            if session.keyRing != nil, schema.format == .bound { try session.bindValues() }
            try session.resumeErasure()
            return session
        }
    }

    /// Opens the file that has the name now: a repair may replace it while this waits for its locks.
    ///
    /// - Returns: with the key, if the store is new.
    private func openDatabase(
        _ files: FilePermissions
    ) throws -> (Connection, FileStatus.Identity?, KeyEncryptionKey?) {
        while true {
            let newKey = try FileStatus.ifPresent(path.database) == nil ? create() : nil
            try files.checkDatabase()
            let identity = FileStatus(path.database)?.identity
            do {
                let connection = try file.openForWriting()
                if isUnderName(connection, identity) { return (connection, identity, newKey) }
            } catch {
                // The file that had the name before, with the log of the one that has it now, looks damaged.
                guard FileStatus(path.database)?.identity != identity else { throw error }
            }
        }
    }

    /// Whether the file that was opened is the one that had the name before, and still has it.
    private func isUnderName(_ connection: Connection, _ identity: FileStatus.Identity?) -> Bool {
        !connection.hasMoved && FileStatus(path.database)?.identity == identity
    }

    /// Opens the store without writing; nil if there is none.
    ///
    /// - Throws: ``OutdatedRead`` if it was opened without locks while another program wrote to it.
    func inspect() throws -> StoreConnection? {
        LogState.awaitFirstPage(at: path, within: options.busyTimeout)
        let before = LogState(path)
        var mode: Connection.Mode?
        do {
            return try TokenStoreError.translating(at: path) { try inspect(&mode) }
        } catch let error where UnlockedAttempts.mayBeTorn(error) {
            guard mode != .readOnly, before != LogState(path) else { throw error }
            throw OutdatedRead()
        }
    }

    /// Opens the store as it is at this moment, and says in `used` how, once it knows.
    private func inspect(_ used: inout Connection.Mode?) throws -> StoreConnection? {
        try path.requireFile()
        guard !FileStatus.isAbsent(path.database) else {
            try refuseOrphanedLog()
            return nil
        }
        let files = FilePermissions(path: path, isInspection: true)
        try files.checkDirectory()
        try files.checkDatabase()
        let identity = FileStatus(path.database)?.identity
        let (connection, mode, beside) = try file.openForInspection()
        used = mode
        let header = try StoreHeader(connection, at: path)
        guard try schema.pending(header, forWriting: false).isEmpty else {
            throw TokenStoreError.olderStore(version: header.userVersion, current: schema.version)
        }
        return try session(connection, identity, header, mode: mode, beside: mode == .readOnly ? nil : beside)
    }

    private func session(
        _ connection: Connection,
        _ identity: FileStatus.Identity?,
        _ header: StoreHeader,
        key: KeyEncryptionKey? = nil,
        mode: Connection.Mode = .readWrite,
        beside: LogState? = nil
    ) throws -> StoreConnection {
        let session = StoreConnection(connection, at: StoreLocation(path), header: header, options: options)
        session.mode = mode
        session.beside = beside
        session.file = identity
        session.log = FileStatus(path.log)?.identity
        // Another process may have emptied the new store meanwhile, or moved it to another key.
        if let key, case let wrapped = try connection.wrappedDataKeys(), wrapped.contains(where: { $0.keyID == key.id })
        {
            session.keyRing = try KeyRing(key, storeID: header.storeID, unwrapping: wrapped)
        } else if options.unlocks {
            _ = try session.keys()
        }
        return session
    }

    /// Makes a new store; of several processes that come at once the first does, and the others find it.
    ///
    /// - Returns: the new store's key, for which a person then is not asked again; nil if another process was first.
    private func create() throws -> KeyEncryptionKey? {
        try path.requireShortName()
        // Asked before there is a lock file, which would make the log of another program look like ours, and before
        // there is a key for a store that cannot be made.
        try refuseOrphanedLog()
        try file.refuseUnknownFileSystem()
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        guard try FileStatus.ifPresent(path.database) == nil else { return nil }
        try refuseOrphanedLog()
        try StoreFiles(path).removeLeftovers()
        let source = options.keySource ?? .file
        try StoreFiles(path).requireSeparateKeyFile(source)
        return try NewStore.make(source, in: path.directory, options) { store in
            try file.create(as: path.unfinished) { connection in
                try schema.apply(schema.migrations[...], to: connection)
                try connection.insertHeader(of: store, schema, at: options.seconds)
            }
            store.use.begin()
            try file.takeName()
            return store.key
        }
    }

    /// Takes the missing steps under the lock, keeping a copy before one that cannot be undone.
    private func migrate(_ connection: Connection) throws -> StoreHeader {
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        let header = try StoreHeader(connection, at: path)
        let steps = try schema.pending(header, forWriting: true)
        if steps.contains(where: \.isIrreversible) { try keepCopy(connection, version: header.userVersion) }
        try TokenStoreError.inSteps { done in
            try TokenStoreError.translating(at: path) {
                try schema.apply(steps, to: connection) { done = "the store has schema version \($0) now" }
            }
        }
        return try StoreHeader(connection, at: path)
    }

    private func keepCopy(_ connection: Connection, version: Int) throws {
        let copy = "\(path.database).v\(version)"
        guard FileStatus(copy) == nil else { return }
        let draft = copy + ".new"
        try StoreFiles(path, source: options.keySource).removeDraft(draft)
        try StoreFile.createEmpty(draft)
        try connection.prepare("VACUUM INTO ?1").run([.text(draft)])
        try file.enableLog(of: draft)
        try file.synchronize(draft)
        guard rename(draft, copy) == 0 else { throw StoreFile.failure("created", copy) }
        try file.synchronize(path.directory)
    }

    /// A log without its database does not mean "no store": the file that holds the accounts was removed.
    func refuseOrphanedLog() throws {
        guard let log = FileStatus(path.log), log.size > 0 else { return }
        throw TokenStoreError.damaged(
            "\(path.database) is missing while its log is there",
            Remedy(.startAnew, "restore the file, or delete what is left of the store")
        )
    }

    /// Makes sure, as far as it can be known, that a store can be made here, and makes nothing.
    func requireCreatable() throws {
        try TokenStoreError.translating(at: path) {
            try path.requireFile()
            try path.requireShortName()
            let (missing, place) = path.missingDirectories()
            if missing.isEmpty { try FilePermissions(path: path, isInspection: false).checkDirectory() }
            try requirePlace(place, for: missing)
            guard access(place, W_OK | X_OK) == 0 else { throw StoreFile.failure("written to", place) }
            guard FileSystem.hasRoom(for: Self.fileCount + missing.count, at: place) else {
                throw TokenStoreError.storage("there is no room for more files at \(place)", .freeSpace)
            }
            try refuseOrphanedLog()
            try StoreFiles(path).requireFreeNames()
            let source = options.keySource ?? .file
            try StoreFiles(path).requireSeparateKeyFile(source)
            try source.requireUsable(options.keyContext(directory: path.directory, storeID: NewStore.randomID(), [:]))
        }
    }

    /// Makes the directory of the store, and those above it that are missing.
    func createDirectory() throws {
        let (missing, place) = path.missingDirectories()
        try requirePlace(place, for: missing)
        for directory in missing.reversed() { try Self.makeDirectory(directory) }
    }

    /// The database, its log and the index of that, the file for locks, the key, and the answer that is kept.
    private static let fileCount = 6

    /// Requires a place where directories for a store can be made.
    ///
    /// Root makes none in one of another user, as under `sudo` with that user's HOME: they would be root's, and closed
    /// to the user.
    private func requirePlace(_ place: String, for missing: [String]) throws {
        try path.refuseUnknownFileSystem(at: place)
        if let link = missing.first(where: { FileStatus($0)?.kind == .symbolicLink && FileStatus(following: $0) == nil }
        ) {
            throw TokenStoreError.file("\(link) is a symbolic link that leads nowhere", .choosePath)
        }
        guard geteuid() == 0, !missing.isEmpty, let owner = FileStatus(following: place)?.owner, owner != 0 else {
            return
        }
        throw TokenStoreError.belongsToOther(place, owner)
    }

    /// Makes a directory that its owner alone may use, and can; one that is there stays as it is.
    private static func makeDirectory(_ name: String) throws {
        guard mkdir(name, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw StoreFile.failure("created", name)
        }
        // The umask may have denied the owner too; then the file cannot be opened to use its descriptor.
        guard let status = FileStatus(name), status.permissions & 0o700 != 0o700 else { return }
        guard fchmodat(AT_FDCWD, name, 0o700, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw StoreFile.failure("protected", name)
        }
    }
}

extension StorePath {
    /// The directories that are yet to be made for the store, the lowest first, and the one that they are made in.
    func missingDirectories() -> (missing: [String], place: String) {
        var missing: [String] = []
        var place = directory
        while place != "/", FileStatus(following: place) == nil {
            missing.append(place)
            place = PathParts(place).directory
        }
        return (missing, place)
    }
}
