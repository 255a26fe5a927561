import Database
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What SQLite keeps beside a database that is not there, or that does not say yet whose it is.
extension StoreFiles {
    /// Requires that what has the name of a log, an index or a journal beside `name` shows that it is one.
    ///
    /// - Throws: ``TokenStoreError/Code/file`` for one that does not, or that cannot be looked at, and stays.
    func requireCompanions(of name: String) throws(TokenStoreError) {
        for suffix in Self.companions {
            let file = name + suffix
            guard try FileStatus.ifPresent(file) == nil || Self.isCompanion(file, suffix) else {
                throw Self.inTheWay(file)
            }
        }
    }

    /// Removes the log and its index that are left of a database that is gone.
    ///
    /// An empty log is what a clean shutdown leaves; with another database it would be in the way. A journal is not
    /// removed, as no store has one, nor left to be played back into a new store.
    func removeLeftovers() throws(TokenStoreError) {
        try requireOwnLeftovers()
        unlink(path.log)
        unlink(path.sharedMemory)
    }

    /// Requires that what is left beside the name of the database is SQLite's, and no journal.
    func requireOwnLeftovers() throws(TokenStoreError) {
        try requireCompanions(of: path.database)
        guard !path.hasJournal else { throw Self.inTheWay(path.journal) }
    }

    /// Requires that nothing of another program has a name which a new store needs.
    func requireFreeNames() throws(TokenStoreError) {
        try requireOwnLeftovers()
        try requireOwnDraft(path.unfinished)
        guard FileStatus(path.lock).map({ $0.kind == .regular }) ?? true else { throw Self.inTheWay(path.lock) }
    }

    /// The error for a file that has a name which a store needs.
    static func inTheWay(_ name: String) -> TokenStoreError {
        .file(
            "\(name) is in the way, and shows no sign of this program",
            Remedy(.removeFile, "move it to another place")
        )
    }

    /// Whether the bytes of the database, or of its log, hold the id of a store.
    func holdStoreID(_ id: [UInt8]) -> Bool {
        [path.database, path.log].contains { Self.contains(id, in: $0) }
    }

    // MARK: - Signs

    private static func isCompanion(_ file: String, _ suffix: String) -> Bool {
        // No connection of this process has one of these open that could lose its locks when this is closed.
        guard let status = FileStatus(file), status.kind == .regular, status.owner == geteuid(),
            let start = StoreFile.beginning(of: file, count: indexSize)
        else { return false }
        guard !start.isEmpty else { return true }
        return switch suffix {
        case "-wal": FileSigns.isLog(start)
        case "-shm": isIndex(start, size: status.size)
        default: isJournal(start)
        }
    }

    /// The smallest index of a log.
    private static let indexSize = 32_768

    /// An index begins with its version, in the byte order of the machine; before that is written, there are zeros.
    private static func isIndex(_ start: [UInt8], size: Int64) -> Bool {
        let version = withUnsafeBytes(of: UInt32(3_007_000)) { Array($0) }
        return start.starts(with: version) || size <= Int64(indexSize) && start.allSatisfy { $0 == 0 }
    }

    /// A journal begins with eight fixed bytes and a count, which are zeros until it is on the disk; the sizes of
    /// sectors and pages follow.
    private static func isJournal(_ start: [UInt8]) -> Bool {
        if start.starts(with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]) { return true }
        guard start.count >= 28, start.prefix(12).allSatisfy({ $0 == 0 }) else { return false }
        return FileSigns.isSize(start[20..<24]) && FileSigns.isSize(start[24..<28])
    }

    /// Whether `id` is anywhere in a file.
    private static func contains(_ id: [UInt8], in file: String) -> Bool {
        guard !id.isEmpty, let status = FileStatus(file), status.kind == .regular,
            let connection = try? Connection(path: file, mode: .immutable, busyTimeout: .zero)
        else { return false }
        let size = 1 << 20
        // Each part begins with the last bytes of the one before, where the id may begin.
        for offset in stride(from: 0, to: status.size, by: size - id.count + 1) {
            guard let bytes = connection.bytes(at: offset, count: size) else { return false }
            if bytes.contains(id) { return true }
        }
        return false
    }
}
