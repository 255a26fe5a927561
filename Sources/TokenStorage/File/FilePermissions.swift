import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks that only its owner can read, replace or redirect a store's files.
struct FilePermissions {
    let path: StorePath

    /// What inspection accepts besides: a copy on a read-only medium, which no user can change.
    let isInspection: Bool

    fileprivate static let move = "put the store into a separate directory"

    /// Requires a directory of this user's own; `mayBeEmpty`: the file in it, which a restored store replaces.
    func checkDirectory(mayBeEmpty: Bool = false) throws(TokenStoreError) {
        do throws(TokenStoreError) {
            try checkOwnDirectory()
        } catch {
            // No advice to change the directory of another program's file, or a file system without modes.
            try refuseOtherFile(mayBeEmpty: mayBeEmpty)
            try path.refuseUnknownFileSystem()
            throw error
        }
    }

    private func checkOwnDirectory() throws(TokenStoreError) {
        guard let status = FileStatus(path.directory) else { throw failure("opened", path.directory) }
        guard status.kind == .directory else {
            throw .file("\(path.directory) is not a directory", .choosePath)
        }
        guard status.owner == geteuid() else {
            throw .belongsToOther(path.directory, status.owner)
        }
        try checkPermissions(status, of: path.directory, remedy: remedy(status))
    }

    /// What to do about a directory that others may use.
    private func remedy(_ directory: FileStatus) -> Remedy {
        let isNamedAsDirectory = !PathParts(path.database).name.utf8.contains(UInt8(ascii: "."))
        if isNamedAsDirectory, FileStatus.isAbsent(path.database) {
            return .moveStore("\(Self.move), such as \(path.database.shellWord)/")
        }
        return mayClose(directory) ? .restrictAccess(to: path.directory, mode: "700") : .moveStore(Self.move)
    }

    /// Whether no other user is to be expected in the directory, so that closing it to others would break nothing.
    private func mayClose(_ directory: FileStatus) -> Bool {
        let isForEverybody = directory.permissions & 0o1002 != 0
        // The root directory, or one such as /etc.
        let isOfTheSystem = PathParts(path.directory).directory == "/"
        // Where devices and pipes are, another program uses them.
        return !isForEverybody && !isOfTheSystem && FileStatus(path.database)?.kind != .other && !isShared
    }

    /// Whether anything in the directory but the store's own files is there for other users, as in /usr/local.
    private var isShared: Bool {
        let files = StoreFiles.files(in: path.directory)
        // One that cannot be read may hold anything.
        return files.isEmpty
            || files.contains { file in
                guard ![".", ".."].contains(PathParts(file).name), let status = FileStatus(file) else { return false }
                let isPrivate = status.owner == geteuid() && status.permissions & 0o077 == 0
                return !isPrivate && !StoreFiles(path).isOwn(file)
            }
    }

    /// Requires a file that can be a store.
    func checkDatabase(mayBeEmpty: Bool = false) throws(TokenStoreError) {
        guard let status = FileStatus(path.database) else { throw failure("opened", path.database) }
        switch status.kind {
        case .regular: break
        case .symbolicLink:
            throw .insecure(
                "\(path.database) is a symbolic link",
                PathParts.resolved(path.database).map { .choosePath($0) } ?? .choosePath
            )
        case .directory: throw .damaged("\(path.database) is a directory and no store", .choosePath)
        case .other:
            throw .damaged("\(path.database) is neither a regular file nor a token store", .choosePath)
        }
        try checkOwner(status, of: path.database)
        guard status.size > 0 || mayBeEmpty else { throw .empty(path) }
        do throws(TokenStoreError) {
            try checkPermissions(status, of: path.database, remedy: .restrictAccess(to: path.database, mode: "600"))
        } catch {
            // No advice to change the mode of another program's file.
            try refuseOtherFile(mayBeEmpty: mayBeEmpty)
            throw error
        }
        if status.links > 1, try !takeNameOfRepair(status) {
            throw .insecure(
                "\(path.database) has \(status.links) names",
                Remedy(.removeFile, "remove the other hard links")
            )
        }
    }

    /// Refuses a file that can be read and is that of another program, or may be.
    private func refuseOtherFile(mayBeEmpty: Bool) throws(TokenStoreError) {
        guard let signs = FileSigns(of: path.database, keyID: nil), !signs.isDatabase else { return }
        guard FileStatus(path.database)?.size != 0 else {
            if mayBeEmpty { return }
            throw .empty(path)
        }
        throw .damaged("\(path.database) is not a token store", .setAside(path.database))
    }

    /// Removes the second name that a repair of an older version gave the file before it was killed.
    ///
    /// - Returns: whether it was the only other name; inspection leaves it.
    private func takeNameOfRepair(_ status: FileStatus) throws(TokenStoreError) -> Bool {
        guard status.links == 2,
            let name = StoreFiles(path).damagedCopies.first(where: { FileStatus($0)?.identity == status.identity })
        else { return false }
        guard isInspection || unlink(name) == 0 else { throw failure("removed", name) }
        return true
    }

    private func checkOwner(_ status: FileStatus, of path: String) throws(TokenStoreError) {
        guard status.owner == geteuid() else {
            throw .insecure(
                "\(path) belongs to user \(status.owner)",
                .takeOwnership(of: path, user: geteuid())
            )
        }
    }

    private func checkPermissions(
        _ status: FileStatus,
        of path: String,
        remedy: @autoclosure () -> Remedy
    ) throws(TokenStoreError) {
        let isReadOnly = status.permissions & 0o222 == 0
        guard status.permissions & 0o077 == 0 || isInspection && isReadOnly else {
            throw .insecure(
                "others may use \(path), its mode is \(String(status.permissions, radix: 8))",
                remedy()
            )
        }
    }

    private func failure(_ verb: String, _ path: String) -> TokenStoreError {
        .file("\(path) cannot be \(verb), \(String(cString: strerror(errno)).lowercased())", .checkPermissions)
    }
}

/// What the file system says of a path.
package struct FileStatus {
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

    /// Whether both are the same file, even under different names.
    func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }

    /// Of the path itself; nil only if there is nothing.
    ///
    /// - Throws: ``TokenStoreError/Code/file`` if it cannot be looked at: what is there then must not be replaced.
    static func ifPresent(_ path: String) throws(TokenStoreError) -> FileStatus? {
        if let status = FileStatus(path) { return status }
        guard errno == ENOENT || errno == ENOTDIR else { throw StoreFile.failure("looked at", path) }
        return nil
    }

    /// Whether there is nothing at the path; what may not be looked at is not absent.
    package static func isAbsent(_ path: String) -> Bool {
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
}

extension TokenStoreError {
    static func belongsToOther(_ directory: String, _ owner: uid_t) -> TokenStoreError {
        insecure(
            "\(directory) belongs to user \(owner)",
            .moveStore("run as that user, or \(FilePermissions.move)")
        )
    }

    static func empty(_ path: StorePath) -> TokenStoreError {
        // SQLite takes a file of one byte for empty.
        guard FileStatus(path.database)?.size ?? 0 == 0 else {
            return damaged("\(path.database) is not a token store", .setAside(path.database))
        }
        return damaged(
            "\(path.database) is empty, which no store ever is",
            Remedy(.restore, "restore a copy, or remove it to start anew")
        )
    }
}
