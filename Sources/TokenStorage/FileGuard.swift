import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks that nobody but its owner can read, replace or redirect a store's files.
struct FileGuard {
    let path: StorePath

    /// What inspection accepts besides: a copy on a read-only medium is nobody's to change.
    let isInspection: Bool

    private static let move = "put the store into a directory of its own, and name that with --store or TOKENSTORE_PATH"

    /// Requires a directory of this user's own.
    func checkDirectory() throws(TokenStoreError) {
        guard let status = FileStatus(path.directory) else { throw failure("opened", path.directory) }
        guard status.kind == .directory else {
            throw .file("\(path.directory) is no directory; name another place with --store")
        }
        guard status.owner == geteuid() else {
            throw .insecure("\(path.directory) belongs to user \(status.owner); run as that user, or \(Self.move)")
        }
        try checkPermissions(
            status,
            of: path.directory,
            remedy: mayClose(status) ? "run 'chmod 700 \(path.directory.shellWord)'" : Self.move
        )
    }

    /// Whether nobody else is to be expected in the directory, so that closing it to others would break nothing.
    private func mayClose(_ directory: FileStatus) -> Bool {
        let isForEverybody = directory.permissions & 0o1002 != 0
        // The root directory, or one such as /etc.
        let isOfTheSystem = PathParts(path.directory).directory == "/"
        // Where devices and pipes are, somebody uses them.
        return !isForEverybody && !isOfTheSystem && FileStatus(path.database)?.kind != .other
    }

    /// Requires a file that can be a store.
    func checkDatabase() throws(TokenStoreError) {
        guard let status = FileStatus(path.database) else { throw failure("opened", path.database) }
        switch status.kind {
        case .regular: break
        case .symbolicLink:
            throw .insecure(
                "\(path.database) is a symbolic link; name the file itself: --store \(target(of: path.database))"
            )
        case .directory: throw .damaged("\(path.database) is a directory and no store; name the store with --store")
        case .other: throw .damaged("\(path.database) is no regular file and no store; name the store with --store")
        }
        try checkOwner(status, of: path.database)
        try checkPermissions(status, of: path.database, remedy: "run 'chmod 600 \(path.database.shellWord)'")
        if status.links > 1, try !takeNameOfRepair(status) {
            throw .insecure("\(path.database) has \(status.links) names; remove the other hard links")
        }
        guard status.size > 0 else {
            throw .damaged(
                "\(path.database) is empty, which no store ever is; restore a copy, or remove it to start anew"
            )
        }
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
                "\(path) belongs to user \(status.owner); run as that user, or 'chown \(geteuid()) \(path.shellWord)'"
            )
        }
    }

    private func checkPermissions(
        _ status: FileStatus,
        of path: String,
        remedy: @autoclosure () -> String
    ) throws(TokenStoreError) {
        let isReadOnly = status.permissions & 0o222 == 0
        guard status.permissions & 0o077 == 0 || isInspection && isReadOnly else {
            throw .insecure(
                "others may use \(path), its mode is \(String(status.permissions, radix: 8)); \(remedy())"
            )
        }
    }

    private func target(of link: String) -> String { FileStatus.resolved(link)?.shellWord ?? "FILE" }

    private func failure(_ verb: String, _ path: String) -> TokenStoreError {
        .file("\(path) cannot be \(verb), \(String(cString: strerror(errno)).lowercased()); check its permissions")
    }
}
