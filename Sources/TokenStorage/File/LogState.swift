import Database
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is beside a database at a moment: its write-ahead log, and the index of the log.
///
/// SQLite locks neither file through its own descriptor of the log, so that one may be opened and closed here.
struct LogState: Equatable {
    /// nil where there is no log.
    private let size: Int64?
    private let isRegular: Bool

    /// The first bytes of the log, which change with each new round of it; nil where they cannot be read.
    private let header: [UInt8]?
    private let hasIndex: Bool

    private static let headerSize = 32

    init(_ path: StorePath) {
        let status = FileStatus(path.log)
        size = status?.size
        isRegular = status?.kind == .regular
        header = isRegular ? Self.header(of: path.log) : nil
        hasIndex = FileStatus(path.sharedMemory) != nil
    }

    /// How to read the database without writing anything.
    ///
    /// With the index of its log SQLite follows other programs. Without one it has to make one, which it can do in
    /// memory. A log that holds nothing is better left alone: with one that ends after its header, or that begins with
    /// something else, SQLite repeats its attempt to make the index for ten seconds.
    func inspectionMode(at path: StorePath) throws(TokenStoreError) -> Connection.Mode {
        guard let size else { return .immutable }
        guard isRegular else {
            throw .insecure(
                "\(path.log) is not a regular file",
                Remedy(.removeFile, "remove it, or copy the store without it")
            )
        }
        guard let header else { throw .file("\(path.log) cannot be read", .checkPermissions) }
        guard size > Self.headerSize, Self.isHeader(header) else {
            return size == 0 && hasIndex ? .readOnly : .immutable
        }
        return hasIndex ? .readOnly : .privateIndex
    }

    /// Whether a log that begins so is one of SQLite's.
    private static func isHeader(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == headerSize else { return false }
        func number(at offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let (magic, pageSize) = (number(at: 0), number(at: 8))
        return magic & ~1 == 0x377F_0682 && (512...65_536).contains(pageSize) && pageSize.nonzeroBitCount == 1
    }

    private static func header(of log: String) -> [UInt8]? {
        let descriptor = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: headerSize)
        let count = pread(descriptor, &bytes, headerSize, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }
}
