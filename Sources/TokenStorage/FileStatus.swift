#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the file system says of a path.
struct FileStatus {
    enum Kind {
        case regular
        case directory
        case symbolicLink
        case other
    }

    let kind: Kind
    let owner: uid_t
    let permissions: mode_t
    let links: Int
    let size: Int64
    let identity: Identity

    /// What is the same for two names of one file, and for no two files that are there at once.
    struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// Of the path itself, not of what a symbolic link in its place points to; nil if there is nothing.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of what the path leads to; nil if there is nothing.
    init?(following path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of an open file.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether both are one file, by whatever names.
    func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }

    /// Whether there is nothing at the path; what may not be looked at is not absent.
    static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        owner = status.st_uid
        permissions = status.st_mode & 0o7777
        links = Int(status.st_nlink)
        size = Int64(status.st_size)
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino)
        )
    }

    /// The path without symbolic links; nil if it leads nowhere.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
