import Database
import OAuth
import Sealing
import Synchronization

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
        try refuseUnknownFileSystem()
        try LogState.requireRegularFiles(at: path)
        let connection = try Connection(path: path.database, mode: .readWrite, busyTimeout: timeout)
        try refuseOther(connection)
        if path.hasJournal { throw journalRefusal(connection) }
        prepareIndex(of: path.database)
        connection.keepLogFiles()
        try Self.configure(connection)
        // With SQLite's 2 MB of pages, a store of a thousand accounts is read from the kernel at every lookup. An
        // inspection ends soon, and keeps to them.
        try connection.execute("PRAGMA cache_size = -16384")
        guard try connection.first("PRAGMA journal_mode", body: { $0.text(0) }) == "wal" else {
            // The database of another program is not offered for a repair.
            try StoreHeader.requireApplicationID(connection, at: path)
            throw TokenStoreError.withoutLogMode(path)
        }
        return connection
    }

    /// Opens without ever writing, not even a log or its index beside the file.
    ///
    /// Where no other program can be trusted to keep the files together, such as in a copy, they are read as they
    /// stand. When they change while they are read, a program came: ``StoreConnection/isOutdated`` says so.
    func openForInspection() throws -> (connection: Connection, mode: Connection.Mode, beside: LogState) {
        let beside = LogState(path)
        let mode = try beside.inspectionMode(at: path)
        let connection = try Connection(path: path.database, mode: mode, busyTimeout: timeout)
        if path.hasJournal {
            try refuseOther(connection)
            throw journalRefusal(connection)
        }
        try Self.configure(connection)
        return (connection, mode, beside)
    }

    /// Gives the unfinished database, which is whole by now, its name, which nothing else may have.
    func takeName() throws {
        guard renameExclusively(path.unfinished, to: path.database) else {
            guard errno == EEXIST else { throw Self.failure("created", path.database) }
            remove(path.unfinished)
            throw databaseInTheWay
        }
        try synchronize(path.directory)
    }

    var databaseInTheWay: TokenStoreError {
        .busy("another program has just put a file at \(path.database)", .retry)
    }

    /// Makes a whole database with the right settings, on disk, under another name.
    func create(as draft: String, _ body: (Connection) throws -> Void) throws {
        try refuseUnknownFileSystem()
        try StoreFiles(path).removeDraft(draft)
        // Where this fails, what has the name is another program's.
        try Self.createEmpty(draft)
        do {
            try fill(draft, body)
            try synchronize(draft)
        } catch {
            remove(draft)
            throw error
        }
    }

    private func fill(_ draft: String, _ body: (Connection) throws -> Void) throws {
        prepareIndex(of: draft)
        let connection = try Connection(path: draft, mode: .readWrite, busyTimeout: timeout)
        try Self.configure(connection)
        try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
        try body(connection)
        try enableLog(connection)
    }

    /// Puts a database that no other process has open into the mode that every store is in.
    func enableLog(of name: String) throws {
        prepareIndex(of: name)
        try enableLog(Connection(path: name, mode: .readWrite, busyTimeout: timeout))
    }

    private func enableLog(_ connection: Connection) throws {
        guard try connection.first("PRAGMA journal_mode = WAL", body: { $0.text(0) }) == "wal" else {
            throw TokenStoreError.unsupported(
                "the file system of \(path.directory) has no shared memory",
                .moveStore("keep the store on a local disk")
            )
        }
        // The switch itself is in the log, which the final name does not take along: on a full disk the closing
        // connection would leave it there without a word.
        guard try connection.checkpointTruncating() else {
            throw TokenStoreError.busy("another process holds a new store in \(path.directory)", .retryLater)
        }
    }

    /// Removes a database that no process has open, with what SQLite keeps beside it.
    ///
    /// Only for one that this process has made, or whose files ``StoreFiles/removeDraft(_:)`` has looked at.
    func remove(_ name: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(name + suffix) }
    }

    /// Copies a file, and `end` behind it, to a new one that only its owner may use.
    func copy(_ source: String, to target: String, endingIn end: [UInt8] = []) throws {
        let input = try Self.reading(source)
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
            if count == 0 { return try end.withUnsafeBytes { try Self.writeAll($0, to: output, target) } }
            try Self.writeAll(UnsafeRawBufferPointer(start: buffer.baseAddress, count: count), to: output, target)
        }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A full disk takes a part, and says why only the next time.
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("written", name) }
            rest = rest.dropFirst(count)
        }
    }

    /// Empties the log of a file that was replaced, whose changes would get into the one that has the name now.
    ///
    /// It is emptied and not removed, for a program that is opening it at this moment. Every connection holds a lock on
    /// one byte of the log's index, which is part of SQLite's file format.
    ///
    /// - Returns: false if a connection still has the log open; true too if the log is another one by now.
    func emptyLog(ofReplaced log: FileStatus.Identity) throws -> Bool {
        let index = BusyFiles.descriptor(of: path.sharedMemory)
        let connections: Int64 = 128
        guard index < 0 || KernelLock.tryLock(index, start: connections, count: 1) else {
            BusyFiles.keep(index)
            return false
        }
        defer { if index >= 0 { close(index) } }
        let descriptor = Self.openExisting(path.log)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, FileStatus(path.log)?.identity == log else { return true }
        guard ftruncate(descriptor, 0) == 0, fsync(descriptor) == 0 else { throw Self.failure("emptied", path.log) }
        return true
    }

    /// Whether two files hold the same bytes.
    func isSame(_ one: String, _ other: String) throws -> Bool {
        guard FileStatus(one)?.size == FileStatus(other)?.size else { return false }
        let first = try Self.reading(one)
        defer { close(first) }
        let second = try Self.reading(other)
        defer { close(second) }
        var (left, right) = ([UInt8](repeating: 0, count: 1 << 16), [UInt8](repeating: 0, count: 1 << 16))
        var offset: off_t = 0
        while true {
            let count = pread(first, &left, left.count, offset)
            guard count >= 0, pread(second, &right, right.count, offset) == count else {
                throw Self.failure("read", one)
            }
            if count == 0 { return true }
            guard left[..<count] == right[..<count] else { return false }
            offset += off_t(count)
        }
    }

    private static func reading(_ name: String) throws -> Int32 {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw failure("opened", name) }
        return descriptor
    }

    /// Makes an empty file that only its owner may use, where there is none.
    static func createEmpty(_ name: String) throws {
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("created", name) }
        defer { close(descriptor) }
        // The umask may have taken from the owner as well; SQLite gives its log the mode of the database.
        guard fchmod(descriptor, 0o600) == 0 else {
            let error = failure("protected", name)
            // Nothing is in it, and the next attempt needs the name.
            _ = unlink(name)
            throw error
        }
    }

    /// A descriptor of an existing file for writing, or -1.
    static func openExisting(_ name: String) -> Int32 { open(name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }

    /// The first bytes of a file, `count` at most; nil if they cannot be read.
    ///
    /// Not for a database: closing a descriptor of one drops the locks that this process has on it.
    static func beginning(of name: String, count: Int) -> [UInt8]? {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = pread(descriptor, &bytes, count, 0)
        return length < 0 ? nil : Array(bytes.prefix(length))
    }

    /// Overwrites the first `size` bytes of an open file with zeros, and forces them to the disk.
    static func overwrite(_ descriptor: Int32, size: Int64, of name: String) throws(TokenStoreError) {
        try fill(descriptor, size: size, of: name)
        guard fsync(descriptor) == 0 else { throw failure("overwritten", name) }
    }

    /// Writes zeros into the first `size` bytes of an open file.
    static func fill(_ descriptor: Int32, size: Int64, of name: String) throws(TokenStoreError) {
        let zeros = [UInt8](repeating: 0, count: Int(min(size, 1 << 16)))
        var written: Int64 = 0
        while written < size {
            let count = Int(min(Int64(zeros.count), size - written))
            let result = pwrite(descriptor, zeros, count, off_t(written))
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw failure("overwritten", name) }
            written += Int64(result)
        }
    }

    /// Forces a file or directory to the disk.
    func synchronize(_ name: String) throws {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("opened", name) }
        defer { close(descriptor) }
        // Some file systems cannot synchronize a directory, and say so with EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.failure("written", name) }
    }

    static func failure(_ verb: String, _ name: String) -> TokenStoreError {
        let code = errno
        let remedy: Remedy =
            switch code {
            // A process, or the whole system, may have no more files open.
            case EMFILE, ENFILE: Remedy(.retry, "allow this program more open files, and try again")
            case ENOSPC, EDQUOT: .freeSpace
            // A symbolic link or a directory has the name.
            case ELOOP, EISDIR: Remedy(.removeFile, "remove it while no program uses the store")
            default: Remedy(.checkPermissions, "check permissions and free space of its directory")
            }
        let reason = String(cString: strerror(code)).lowercased()
        return .file("\(name) cannot be \(verb), \(reason)", remedy)
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
}
