import Database
import OAuth
package import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A copy of a store beside it: of a damaged file that was repaired, or of an older version that was migrated.
public struct StoreCopy: Hashable, Sendable {
    /// The path of the file.
    public let path: String

    /// Bytes of the file.
    public let size: Int64

    /// Whether the file shows that it is a token store of this user; no other one is removed.
    public let isRecognized: Bool
}

/// The files that belong to a store: which names they have, and which files show that they are ours.
///
/// Nothing is deleted, overwritten or replaced because of its name alone.
package struct StoreFiles {
    let path: StorePath

    private let source: KeySource

    /// The files of the store at `path`, whose key comes from `source`; nil if that is not known.
    package init(_ path: StorePath, source: KeySource? = nil) {
        self.path = path
        self.source = source ?? .file
    }

    /// Where the key file of the store is; nil if its key is in no file.
    private var keyFile: String? { source.filePath(directory: path.directory) }

    /// The id of the key in that file, by which a store names it in the clear; nil if there is none.
    private var keyID: String? { source.fileKeyID(directory: path.directory) }

    /// Whether `file` is one of the store's own files, or has the name of one, or is another token store or one of its.
    package func includes(_ file: String) -> Bool {
        isOwn(file) || FileSigns.namesProgram(file) || Self.isOfAnyStore(besides: file)
    }

    /// Whether a token store in the directory of `file` has that for its key, its lock, or another file of its own.
    private static func isOfAnyStore(besides file: String) -> Bool {
        let (name, size) = (PathParts(file).name, FileStatus(file)?.size)
        guard let directory = PathParts.resolved(PathParts(file).directory) else { return false }
        return files(in: directory).contains { database in
            let store = StoreFiles(StorePath(database))
            // Only what has the size of a key may be that of any store there.
            guard size == Int64(KeyEncryptionKey.byteCount) || store.owns(name) else { return false }
            guard !isCompanion(database), FileSigns.namesProgram(database) else { return false }
            return store.owns(name) || StoreFiles(store.path, source: store.recordedSource).isOwn(file)
        }
    }

    /// Where the key of the database comes from, as that says; nil where it cannot be read.
    private var recordedSource: KeySource? {
        let connection = try? StoreFile(path: path, timeout: .zero).openForInspection().connection
        let header = connection.flatMap { try? StoreHeader($0, at: path) }
        return header.flatMap { try? KeySource(parsing: $0.keySource) }
    }

    /// Whether `file` is one of the store's own files, or has the name of one.
    package func isOwn(_ file: String) -> Bool {
        let parts = PathParts(file)
        let isBeside = PathParts.resolved(parts.directory) == path.directory
        if isBeside, owns(parts.name) || keyFile == PathParts.join(path.directory, parts.name) { return true }
        guard let status = FileStatus(file) else { return false }
        let own = names + [keyFile].compactMap(\.self)
        return own.contains { FileStatus(following: $0)?.isSameFile(as: status) ?? false }
    }

    /// Requires that a key file stands under no name of the store's other files, which would replace it.
    func requireSeparateKeyFile(_ source: KeySource) throws(TokenStoreError) {
        guard let file = source.filePath(directory: path.directory) else { return }
        let parts = PathParts(file)
        let directory = PathParts.partlyResolved(parts.directory)
        let isDirectory = path.missingDirectories().missing.contains(PathParts.join(directory, parts.name))
        guard !isDirectory, !parts.name.isEmpty else {
            throw .invalidArgument("\(file) is a directory", .correct("name a file that keeps the key"))
        }
        guard directory != path.directory || !owns(parts.name) else {
            throw .invalidArgument(
                "\(file) is a name of the store's own files",
                .correct("keep the key under another one")
            )
        }
    }

    /// The copies of the store beside it, and what a repair or a migration that was cut off left.
    package var copies: [StoreCopy] {
        names.filter { name in
            guard let suffix = name.droppingPrefix(path.database), Self.isCopy(suffix) else { return false }
            // What SQLite keeps goes with its database; a log may be all that was left of a store.
            return !Self.companionsOfCopies.contains { suffix.hasSuffix($0) } || Self.isLogAlone(name)
        }
        .sorted()
        .map { name in
            let isRecognized = Self.isLogAlone(name) ? isOurLog(name) : isOurs(name) && !Self.isStore(name)
            return StoreCopy(path: name, size: FileStatus(name)?.size ?? 0, isRecognized: isRecognized)
        }
    }

    private static func isLogAlone(_ name: String) -> Bool {
        name.hasSuffix("-wal") && FileStatus.isAbsent(String(name.dropLast("-wal".count)))
    }

    /// Whether a database is in use as a store: then it has a lock file, which drafts and copies do not have.
    private static func isStore(_ database: String) -> Bool {
        !FileStatus.isAbsent(database) && !FileStatus.isAbsent(StorePath(database).lock)
    }

    /// The copies of damaged files that repairs have kept.
    var damagedCopies: [String] { copies.map(\.path).filter { $0.droppingPrefix(path.database + ".damaged-") != nil } }

    /// Whether the database shows that it is ours.
    var showsOwnDatabase: Bool { isOurs(path.database) }

    /// Requires that the database, or the log that is left of it, shows that it is ours.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged``, with what a person can do.
    package func requireOwnDatabase() throws(TokenStoreError) {
        let isThere = !FileStatus.isAbsent(path.database)
        let file = isThere ? path.database : path.log
        guard isThere ? isOurs(file) : isOurLog(file) else {
            throw .damaged(
                "\(file) does not show that it is a token store, and stays as it is",
                .setAside(path.database)
            )
        }
    }

    /// Overwrites and removes the database with what SQLite keeps beside it, after ``requireOwnDatabase()``.
    func eraseDatabase() throws(TokenStoreError) {
        for name in [path.database] + Self.companions.map({ path.database + $0 }) { try erase(name) }
    }

    /// Overwrites and removes a copy with what SQLite keeps beside it, if it shows that it is ours.
    func erase(_ copy: StoreCopy) throws(TokenStoreError) {
        guard copy.isRecognized else { return }
        for name in [copy.path] + Self.companionsOfCopies.map({ copy.path + $0 }) { try erase(name) }
    }

    /// Removes an unfinished database, with what SQLite keeps beside it.
    ///
    /// - Throws: ``TokenStoreError/Code/file`` if another file has one of the names.
    func removeDraft(_ name: String) throws(TokenStoreError) {
        try requireOwnDraft(name)
        for name in [name] + Self.companions.map({ name + $0 }) { unlink(name) }
    }

    /// Requires that what has the name of an unfinished database, if anything has, is one.
    func requireOwnDraft(_ name: String) throws(TokenStoreError) {
        guard !Self.isStore(name) else { throw Self.inTheWay(name) }
        guard !isOurs(name) else { return }
        // A draft is empty, or zeros, until SQLite has written its first page.
        if let status = FileStatus(name) {
            let isBlank = status.kind == .regular && FileSigns(of: name, keyID: keyID)?.isBlank ?? false
            guard isBlank else { throw Self.inTheWay(name) }
        }
        try requireCompanions(of: name)
    }

    /// The token stores beside the database and beside `keyFile`, copies included, whose keys are wrapped under this
    /// one.
    ///
    /// One that cannot be read may be sealed under it, and counts.
    func stores(sealedUnder keyID: String, besides keyFile: String) -> [String] {
        let directories = Set([path.directory, PathParts(keyFile).directory])
        // The directory of the key may be another name of the store's.
        let ownFiles = [path.database] + Self.companions.map { path.database + $0 }
        let own = Set(ownFiles.compactMap { FileStatus($0)?.identity })
        return directories.sorted().flatMap(Self.files).filter { file in
            guard let status = FileStatus(file), status.kind == .regular, status.size > 0,
                !own.contains(status.identity), !Self.isCompanion(file)
            else { return false }
            do {
                // Through SQLite: a descriptor of our own would take the locks of another store of this process.
                let connection = try StoreFile(path: StorePath(file), timeout: .zero).openForInspection().connection
                guard try connection.integer("PRAGMA application_id") == Int64(Schema.applicationID) else {
                    return false
                }
                return try connection.keyEncryptionKeyIDs().contains { $0.id == keyID }
            } catch let error as SQLiteError where error.code.primary == .notADatabase {
                return false
            } catch let error as TokenStoreError where error == StoreHeader.otherDatabase(StorePath(file)) {
                return false
            } catch {
                return true
            }
        }
    }

    // MARK: - Names

    /// What SQLite keeps beside a database.
    static let companions = ["-wal", "-shm", "-journal"]

    private static let companionsOfCopies = companions + [StoreFile.keptJournal]

    /// Whether SQLite keeps the file beside a database that is there; closing it would drop the locks of this process.
    private static func isCompanion(_ file: String) -> Bool {
        companions.contains { file.hasSuffix($0) && FileStatus(String(file.dropLast($0.count))) != nil }
    }

    /// Every file of the directory whose name belongs to the store.
    private var names: [String] { Self.files(in: path.directory).filter { owns(PathParts($0).name) } }

    /// Every file of a directory, by its path; none where it cannot be read.
    static func files(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var files: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            files.append(PathParts.join(directory, name))
        }
        return files
    }

    /// Whether a file of this name beside the database belongs to the store.
    private func owns(_ name: String) -> Bool {
        let file = PathParts.join(path.directory, name)
        guard file != path.lock, file.droppingPrefix(path.pendingPrefix) == nil else { return true }
        guard let suffix = file.droppingPrefix(path.database) else { return false }
        return suffix.isEmpty || Self.companions.contains(String(suffix)) || Self.isDraft(suffix) || Self.isCopy(suffix)
    }

    private static func isDraft(_ suffix: Substring) -> Bool { suffix.hasPrefix(".new") }

    private static func isCopy(_ suffix: Substring) -> Bool {
        let isOfVersion = suffix.hasPrefix(".v") && suffix.dropFirst(2).first?.isNumber ?? false
        return suffix.hasPrefix(".damaged-") || suffix.hasPrefix(".replaced-") || suffix.hasPrefix(".salvage")
            || isOfVersion
    }

    // MARK: - Signs

    /// Whether a file shows that it is a token store of this user.
    func isOurs(_ file: String) -> Bool {
        guard let status = FileStatus(file), status.kind == .regular, status.links == 1, status.owner == geteuid()
        else { return false }
        return FileSigns(of: file, keyID: keyID)?.isDatabase ?? false
    }

    /// A log names no program, unless a page of the schema is in it; our lock file says the rest.
    private func isOurLog(_ log: String) -> Bool {
        guard let status = FileStatus(log), status.kind == .regular, status.owner == geteuid() else { return false }
        guard let signs = FileSigns(of: log, keyID: keyID), signs.isLog else { return false }
        if signs.hasOwnPage || signs.tellsProgram { return signs.hasOwnPage }
        // Any program may have an empty lock file; beside our key it is ours. So is what has the name of a copy's log
        // beside our database: a restore kept it.
        guard keyID != nil || log != path.log && showsOwnDatabase else { return false }
        return FileStatus(path.lock).map { $0.kind == .regular && $0.size == 0 } ?? false
    }

    // MARK: - Erasing

    /// Overwrites what only this name leads to, and removes the name.
    private func erase(_ name: String) throws(TokenStoreError) {
        guard let status = FileStatus(name) else { return }
        guard status.kind != .directory else {
            throw .damaged(
                "\(name) is a directory",
                Remedy(.removeFile, "remove it yourself if nothing in it is needed")
            )
        }
        if status.kind == .regular, status.links == 1 { try overwrite(name, expecting: status) }
        guard unlink(name) == 0 else { throw StoreFile.failure("removed", name) }
    }

    private func overwrite(_ name: String, expecting status: FileStatus) throws(TokenStoreError) {
        let descriptor = StoreFile.openExisting(name)
        guard descriptor >= 0 else { throw StoreFile.failure("opened", name) }
        defer { close(descriptor) }
        guard FileStatus(descriptor: descriptor)?.isSameFile(as: status) ?? false else {
            throw .busy("\(name) was replaced by another file meanwhile", .retry)
        }
        try StoreFile.overwrite(descriptor, size: status.size, of: name)
    }
}
