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

/// A copy of a store in one file, sealed as the store is.
package struct StoreBackup: Sendable {
    /// The file.
    package let path: String

    /// How many accounts it has.
    package let accounts: Int

    /// Where the key comes from that opens it.
    package let keySource: KeySource

    /// The id of that key; nil where nothing is sealed.
    package let keyID: String?

    /// Reads what a database says of itself, or where its key comes from that says nothing of that.
    init(_ connection: Connection, at path: StorePath, orElse given: @autoclosure () throws -> KeySource?) throws {
        self.path = path.database
        let header = try StoreHeader(connection, at: path)
        guard let source = try header.namesKeySource ? KeySource(parsing: header.keySource) : given() else {
            throw TokenStoreError.unnamedKeySource(of: StoreLocation(path))
        }
        keySource = source
        keyID = try connection.keyEncryptionKeyIDs().first?.id
        accounts = try connection.accountCount()
    }
}

extension StoreReading {
    /// Writes a copy of the store into `file`, which takes its name when it is whole.
    ///
    /// Programs may use the store meanwhile: the copy is the store as it was at one moment. A backup of the same store
    /// that has the name already is replaced.
    ///
    /// - Throws: ``TokenStoreError``.
    package func backUp(
        to file: String,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> StoreBackup {
        try read { session in
            try TokenStoreError.translating(at: session.path) {
                // The backup of a store that was moved could not be restored.
                try session.requireNotMoved()
                let writer = try BackupWriter(file, of: session)
                return try session.connection.read { try writer.write(progress) }
            }
        }
    }

    /// What a backup of this name would be, and whether there is one already.
    ///
    /// - Throws: ``TokenStoreError`` if a backup must not take the name.
    package func planBackup(to file: String) throws -> (backup: StoreBackup, isReplacing: Bool) {
        try read { session in
            try TokenStoreError.translating(at: session.path) {
                try session.requireNotMoved()
                let writer = try BackupWriter(file, of: session)
                return (backup: try writer.described(session.connection), isReplacing: writer.isTaken)
            }
        }
    }
}

/// Copies a store into a file that is whole or not there.
private struct BackupWriter {
    let target: StorePath
    private let session: StoreConnection
    private var file: StoreFile { StoreFile(path: target, timeout: .zero) }

    var isTaken: Bool { !FileStatus.isAbsent(target.database) }

    init(_ file: String, of session: StoreConnection) throws {
        self.session = session
        guard FileStatus(following: file)?.kind != .directory, !PathParts.endsInSlash(file) else {
            throw TokenStoreError.file("\(file) is a directory", .correct("name a file in it"))
        }
        target = StorePath(file)
        try target.requireFile()
        guard !FileStatus.isAbsent(target.directory) else {
            let directory = target.directory
            throw TokenStoreError.file("the directory \(directory) is missing", .createDirectory(directory))
        }
        try target.requireShortName(leaving: BackupDraft.suffixLength)
        guard !BackupDraft.isDraft(target.database) else {
            throw TokenStoreError.file("\(file) has the name of an unfinished backup", .correct("name another file"))
        }
        try requireReplaceable()
    }

    /// A name must be free, or that of an older backup of this store: nothing else is lost to a mistyped name.
    private func requireReplaceable() throws {
        let (name, remedy) = (target.database, Remedy.correct("name another file"))
        guard !StoreFiles(session.path, source: try session.keySource()).isOwn(name) else {
            throw TokenStoreError.file("\(name) is a file of the store itself", remedy)
        }
        guard isTaken else { return }
        guard StoreFiles(target).isOurs(name) else {
            throw TokenStoreError.file("\(name) is there and shows no sign of being a backup", remedy)
        }
        guard FileStatus(target.lock) == nil, (FileStatus(target.log)?.size ?? 0) == 0 else {
            throw TokenStoreError.file("\(name) is a store in use", remedy)
        }
        let connection = try file.openForInspection().connection
        guard try StoreHeader(connection, at: target).storeID == session.header.storeID else {
            throw TokenStoreError.file("\(name) is a backup of another store", remedy)
        }
    }

    /// What a copy of the store in `connection` says of itself.
    func described(_ connection: Connection) throws -> StoreBackup {
        try StoreBackup(connection, at: target, orElse: session.keySource())
    }

    /// Copies the pages, in the read transaction that the connection is in.
    func write(_ progress: TokenStore.ProgressHandler?) throws -> StoreBackup {
        // The transaction sees one moment from its first read on.
        let accounts = try session.connection.accountCount()
        BackupDraft.removeAbandoned(in: target.directory, of: target)
        let draft = try BackupDraft(for: target)
        defer { withExtendedLifetime(draft) {} }
        do {
            try copyPages(to: draft.name, progress)
            let backup = try checked(draft.name, accounts)
            try file.synchronize(draft.name)
            // An older backup is replaced by nothing less. A program that comes after this makes the copy be made once
            // more, and takes nothing from this one.
            try session.requireCurrent()
            guard rename(draft.name, target.database) == 0 else {
                throw StoreFile.failure("created", target.database)
            }
            try file.synchronize(target.directory)
            return backup
        } catch {
            file.remove(draft.name)
            throw error
        }
    }

    private func copyPages(to draft: String, _ progress: TokenStore.ProgressHandler?) throws {
        let copy = try TokenStoreError.translating(at: target) {
            let copy = try Connection(path: draft, mode: .readWrite, busyTimeout: .zero)
            // A draft that is cut off is written anew: it needs no journal, which a stick might not have room for.
            try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            return copy
        }
        do {
            try session.connection.copyPages(to: copy) { done, total in
                try progress?(TokenStore.Progress(done: done, total: total, unit: "pages"))
            }
        } catch let error as SQLiteError where Self.isOfDraft(error) {
            throw TokenStoreError(error, at: target)
        }
    }

    /// Whether copying failed at the file that is written, and not at the store.
    private static func isOfDraft(_ error: SQLiteError) -> Bool {
        let codes: [SQLiteError.Code] = [.diskFull, .readOnly, .cannotOpen, .permission]
        return codes.contains(error.code.primary)
    }

    /// What the draft says of itself, once every page of it was looked at.
    private func checked(_ draft: String, _ accounts: Int) throws -> StoreBackup {
        do {
            let copy = try Connection(path: draft, mode: .immutable, busyTimeout: .zero)
            let backup = try described(copy)
            guard try copy.integrityProblems(quick: true).isEmpty, backup.accounts == accounts else {
                throw unsound
            }
            return backup
        } catch let error as SQLiteError {
            let codes: [SQLiteError.Code] = [.corrupt, .notADatabase, .generic]
            throw codes.contains(error.code.primary) ? unsound : TokenStoreError(error, at: target)
        }
    }

    private var unsound: TokenStoreError {
        .damaged("the copy of \(session.path.database) is not sound", .check)
    }
}

/// The file that becomes a backup, under a name that no other program gives its own.
///
/// It stays locked for as long as this lives, so that the next backup can tell a draft at work from one that was left.
final class BackupDraft {
    let name: String
    private let descriptor: Int32

    /// How many bytes its name has more than that of the backup.
    static let suffixLength = ".new-".utf8.count + digitCount

    init(for target: StorePath) throws { (name, descriptor) = try Self.make(beside: target) }

    deinit { close(descriptor) }

    private static func make(beside target: StorePath) throws -> (name: String, descriptor: Int32) {
        while true {
            let name = target.draftPrefix + UInt64.random(in: 0 ... .max).sixteenDigits
            // Where this fails, what has the name is another program's.
            try StoreFile.createEmpty(name)
            let descriptor = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            if descriptor >= 0, isKept(descriptor, name) { return (name, descriptor) }
            // Another backup took it for one that was left, as it was not locked yet.
            guard descriptor >= 0 || errno == ENOENT else { throw StoreFile.failure("opened", name) }
            if descriptor >= 0 { close(descriptor) }
        }
    }

    /// Locks the draft; false if another backup was about to remove it.
    private static func isKept(_ descriptor: Int32, _ name: String) -> Bool {
        // Where the file system has no locks, no process removes a draft either.
        guard lock(descriptor) || errno != EAGAIN && errno != EACCES else { return false }
        let identity = FileStatus(descriptor: descriptor)?.identity
        return identity != nil && FileStatus(name)?.identity == identity
    }

    /// Locks a byte that SQLite leaves alone.
    private static func lock(_ descriptor: Int32) -> Bool {
        KernelLock.tryLock(descriptor, start: 0x4000_0400, count: 1)
    }

    private static let digitCount = 16

    /// Removes what backups into a directory have left that were killed: no program has one of these locked.
    ///
    /// What does not show that it is ours stays. An empty file, or one of zeros, may be any program's, and goes only
    /// where it has the name of a draft of `target`.
    static func removeAbandoned(in directory: String, of target: StorePath? = nil) {
        for name in StoreFiles.files(in: directory) where isDraft(name) {
            guard FileStatus(name)?.kind == .regular else { continue }
            let descriptor = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            let files = StoreFiles(StorePath(name))
            let isOfTarget = target.map { name.droppingPrefix($0.draftPrefix) != nil } ?? false
            if lock(descriptor), isOfTarget || files.isOurs(name) { try? files.removeDraft(name) }
        }
    }

    /// Whether a file has a name as drafts have it.
    static func isDraft(_ name: String) -> Bool {
        let end = name.suffix(suffixLength)
        let digits = end.dropFirst(suffixLength - digitCount)
        return end.hasPrefix(".new-") && digits.utf8.count == digitCount && digits.allSatisfy(\.isHexDigit)
    }
}

extension StorePath {
    /// How the names of backups begin that are not finished.
    fileprivate var draftPrefix: String { unfinished + "-" }
}
