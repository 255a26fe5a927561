import Database
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a database and the files beside it are at a moment: its write-ahead log, and the index of the log.
///
/// Where two of them are equal, no program wrote to the database in between. SQLite takes no locks through its
/// descriptor of the log, so that the log may be opened and closed here.
struct LogState: Equatable {
    /// nil where there is no log.
    private let size: Int64?
    private let isRegular: Bool

    /// The first bytes of the log, which change with each new round of it; nil where they cannot be read.
    private let header: [UInt8]?
    private let hasIndex: Bool

    /// The database itself: a program that closes may take the log along, and leave things as they were but for this.
    private let database: Change?

    /// When a file was last changed, and its size then.
    private struct Change: Equatable {
        let size: Int64
        let seconds: Int64
        let nanoseconds: Int64

        init?(_ name: String) {
            var status = stat()
            guard lstat(name, &status) == 0 else { return nil }
            #if canImport(Darwin)
            let time = status.st_mtimespec
            #else
            let time = status.st_mtim
            #endif
            size = Int64(status.st_size)
            seconds = Int64(time.tv_sec)
            nanoseconds = Int64(time.tv_nsec)
        }
    }

    private static let headerSize = 32

    init(_ path: StorePath) {
        let status = FileStatus(path.log)
        size = status?.size
        isRegular = status?.kind == .regular
        header = isRegular ? StoreFile.beginning(of: path.log, count: Self.headerSize) : nil
        hasIndex = FileStatus(path.sharedMemory) != nil
        database = Change(path.database)
    }

    /// Whether a program may be beginning the log at this moment: it forces the header to the disk before the first
    /// page follows.
    private var isBeginning: Bool { hasIndex && size.map { (1...Int64(Self.headerSize)).contains($0) } ?? false }

    /// A disk that is slower is waited for by those that read again; what a crash left may look the same for good.
    private static let longestBeginning = Duration.milliseconds(200)

    /// Waits a moment for the first page of a log that is being begun, after which the file can be read with locks.
    static func awaitFirstPage(at path: StorePath, within limit: Duration) {
        let end = ContinuousClock.now + min(limit, longestBeginning)
        var pauses = Pauses()
        while LogState(path).isBeginning, ContinuousClock.now < end { pauses.next(until: end) }
    }

    /// How to read the database without writing anything.
    ///
    /// With the index of its log SQLite follows other programs. Without one it has to make one, which it can do in
    /// memory. Without a log it would make one to take its locks. A log that holds nothing is better left alone: with
    /// one that ends after its header, or that begins with something else, SQLite repeats its attempt to make the index
    /// for ten seconds.
    func inspectionMode(at path: StorePath) throws(TokenStoreError) -> Connection.Mode {
        try Self.requireRegularFiles(at: path)
        guard let size else {
            guard FileStatus.isAbsent(path.log) else {
                throw .file("\(path.log) cannot be looked at", .checkPermissions)
            }
            return .immutable
        }
        guard isRegular else { throw Self.notRegular(path.log) }
        guard let header else { throw .file("\(path.log) cannot be read", .checkPermissions) }
        guard size > Self.headerSize, Self.isHeader(header) else {
            return size == 0 && hasIndex ? .readOnly : .immutable
        }
        return hasIndex ? .readOnly : .privateIndex
    }

    /// Requires that the log and its index, where there are any, are files: a pipe in their place would be waited for.
    static func requireRegularFiles(at path: StorePath) throws(TokenStoreError) {
        for name in [path.log, path.sharedMemory] {
            guard let status = FileStatus(name), status.kind != .regular else { continue }
            throw notRegular(name)
        }
    }

    private static func notRegular(_ name: String) -> TokenStoreError {
        .insecure("\(name) is not a regular file", Remedy(.removeFile, "remove it, or copy the store without it"))
    }

    /// Whether a log that begins so is one of SQLite's.
    private static func isHeader(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == headerSize else { return false }
        return FileSigns.isLog(bytes) && FileSigns.isSize(bytes[8..<12])
    }
}
