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

    init(_ connection: Connection, at path: StorePath) throws {
        self.path = path.database
        keySource = try KeySource(parsing: StoreHeader(connection, at: path).keySource)
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
                let writer = try BackupWriter(file, of: session)
                return try session.connection.read { try writer.write(progress) }
            }
        }
    }

    /// Whether a backup has this name already.
    ///
    /// - Throws: ``TokenStoreError`` if a backup must not take the name.
    package func hasBackup(at file: String) throws -> Bool {
        try read { session in
            try TokenStoreError.translating(at: session.path) { try BackupWriter(file, of: session).isTaken }
        }
    }
}

/// Copies a store into a file that is whole or not there.
private struct BackupWriter {
    private let target: StorePath
    private let session: StoreConnection
    private var draft: String { target.unfinished }
    private var file: StoreFile { StoreFile(path: target, timeout: .zero) }

    var isTaken: Bool { !FileStatus.isAbsent(target.database) }

    init(_ file: String, of session: StoreConnection) throws {
        self.session = session
        guard FileStatus(following: file)?.kind != .directory, !PathParts.endsInSlash(file) else {
            throw TokenStoreError.file("\(file) is a directory", .correct("name a file in it"))
        }
        target = StorePath(file)
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

    /// Copies the pages, in the read transaction that the connection is in.
    func write(_ progress: TokenStore.ProgressHandler?) throws -> StoreBackup {
        // The transaction sees one moment from its first read on.
        let accounts = try session.connection.accountCount()
        try StoreFiles(target).removeDraft(draft)
        // Where this fails, what has the name is another program's.
        try StoreFile.createEmpty(draft)
        do {
            try copyPages(progress)
            let backup = try checked(accounts)
            try file.synchronize(draft)
            // An older backup is replaced by nothing less. A program that comes after this makes the copy be made once
            // more, and takes nothing from this one.
            try session.requireCurrent()
            guard rename(draft, target.database) == 0 else { throw StoreFile.failure("created", target.database) }
            try file.synchronize(target.directory)
            return backup
        } catch {
            file.remove(draft)
            throw error
        }
    }

    private func copyPages(_ progress: TokenStore.ProgressHandler?) throws {
        let copy = try Connection(path: draft, mode: .readWrite, busyTimeout: .zero)
        // A draft that is cut off is written anew: it needs no journal, which a stick might not have room for.
        try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        try session.connection.copyPages(to: copy) { done, total in
            try progress?(TokenStore.Progress(done: done, total: total, unit: "pages"))
        }
    }

    /// What the draft says of itself, once every page of it was looked at.
    private func checked(_ accounts: Int) throws -> StoreBackup {
        let copy = try Connection(path: draft, mode: .immutable, busyTimeout: .zero)
        let backup = try StoreBackup(copy, at: target)
        guard try copy.integrityProblems(quick: true).isEmpty, backup.accounts == accounts else {
            throw TokenStoreError.damaged("the copy of \(session.path.database) is not sound", .check)
        }
        return backup
    }
}
