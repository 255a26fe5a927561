import SQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Opens the database file of a store with the settings that its promises need.
struct StoreFile {
    let path: StorePath
    let timeout: Duration

    /// Opens for reading and writing.
    func openForWriting() throws -> Connection {
        try refuseNetworkFileSystem()
        let connection = try Connection(path: path.database, mode: .readWrite, busyTimeout: timeout)
        connection.keepLogFiles()
        try Self.configure(connection)
        guard try connection.first("PRAGMA journal_mode", body: { $0.text(0) }) == "wal" else {
            throw TokenStoreError.damaged(
                "\(path.database) is in no write-ahead-log mode and so not as this program left it; "
                    + "run 'tokenstore check --repair'"
            )
        }
        return connection
    }

    /// Opens without ever writing, not even a log beside the file.
    ///
    /// Without a log and its index nobody has the store open, and the file is read as it stands. When they appear
    /// while it is read, somebody came: ``StoreSession/isOutdated`` says so.
    func openForInspection() throws -> (connection: Connection, mode: Connection.Mode) {
        let mode: Connection.Mode = isInUse ? .readOnly : .immutable
        guard mode == .immutable || FileStatus(path.sharedMemory) != nil else {
            throw TokenStoreError.file(
                "\(path.log) holds commits and \(path.sharedMemory) is missing; copy that file too, or open the store "
                    + "for writing once, such as with 'tokenstore purge'"
            )
        }
        let connection = try Connection(path: path.database, mode: mode, busyTimeout: timeout)
        try Self.configure(connection)
        return (connection, mode)
    }

    /// Whether the database may have to be read together with a log.
    var isInUse: Bool { FileStatus(path.sharedMemory) != nil || FileStatus(path.log).map { $0.size > 0 } ?? false }

    /// Makes `body`'s database a whole one under its final name, or leaves nothing.
    func create(_ body: (Connection) throws -> Void) throws {
        try create(as: path.unfinished, body)
        guard rename(path.unfinished, path.database) == 0 else { throw Self.failure("created", path.database) }
        try synchronize(path.directory)
    }

    /// Makes a whole database with the right settings, on disk, under another name.
    func create(as draft: String, _ body: (Connection) throws -> Void) throws {
        try refuseNetworkFileSystem()
        try StoreFiles(path).removeDraft(draft)
        do {
            try Self.createEmpty(draft)
            try fill(draft, body)
            try synchronize(draft)
        } catch {
            remove(draft)
            throw error
        }
    }

    private func fill(_ draft: String, _ body: (Connection) throws -> Void) throws {
        let connection = try Connection(path: draft, mode: .readWrite, busyTimeout: timeout)
        try Self.configure(connection)
        try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
        try body(connection)
        try enableLog(connection)
    }

    /// Puts a database that nobody else has open into the mode that every store is in.
    func enableLog(of name: String) throws {
        try enableLog(Connection(path: name, mode: .readWrite, busyTimeout: timeout))
    }

    private func enableLog(_ connection: Connection) throws {
        guard try connection.first("PRAGMA journal_mode = WAL", body: { $0.text(0) }) == "wal" else {
            throw TokenStoreError.unsupported(
                "the file system of \(path.directory) has no shared memory; keep the store on a local disk"
            )
        }
        // The switch itself is in the log, which the final name does not take along: on a full disk the closing
        // connection would leave it there without a word.
        guard try connection.checkpointTruncating() else {
            throw TokenStoreError.busy("another process holds a new store in \(path.directory); try again later")
        }
    }

    /// Removes a database that nobody has open, with what SQLite keeps beside it.
    func remove(_ name: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(name + suffix) }
    }

    /// Copies a file to a new one that only its owner may use.
    func copy(_ source: String, to target: String) throws {
        let input = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard input >= 0 else { throw Self.failure("opened", source) }
        defer { close(input) }
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard output >= 0 else { throw Self.failure("created", target) }
        defer { close(output) }
        guard fchmod(output, 0o600) == 0 else { throw Self.failure("protected", target) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(input, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("read", source) }
            if count == 0 { return }
            guard write(output, buffer.baseAddress, count) == count else { throw Self.failure("written", target) }
        }
    }

    /// Makes an empty file that only its owner may use, where there is none.
    static func createEmpty(_ name: String) throws {
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("created", name) }
        defer { close(descriptor) }
        // The umask may have taken from the owner as well; SQLite gives its log the mode of the database.
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("protected", name) }
    }

    /// A descriptor of an existing file for writing, or -1.
    static func openExisting(_ name: String) -> Int32 { open(name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }

    /// Forces a file or directory to the disk.
    func synchronize(_ name: String) throws {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("opened", name) }
        defer { close(descriptor) }
        // Some file systems cannot synchronize a directory, and say so with EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.failure("written", name) }
    }

    static func failure(_ verb: String, _ name: String) -> TokenStoreError {
        let reason = String(cString: strerror(errno)).lowercased()
        return .file("\(name) cannot be \(verb), \(reason); check permissions and free space of its directory")
    }

    private static func configure(_ connection: Connection) throws {
        try connection.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA foreign_keys = ON;
            PRAGMA secure_delete = ON;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA journal_size_limit = 0;
            """
        )
    }

    private func refuseNetworkFileSystem() throws {
        guard let name = FileSystem.networkName(of: path.directory) else { return }
        throw TokenStoreError.unsupported(
            "\(path.directory) is on a \(name) file system, whose locks and shared memory do not hold; "
                + "keep the store on a local disk, with --store or TOKENSTORE_PATH"
        )
    }
}
