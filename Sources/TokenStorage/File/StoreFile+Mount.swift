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

extension StorePath {
    /// Refuses a file system on which a store would not be safe, by the directory that it is in or is to be made in.
    func refuseUnknownFileSystem(at place: String? = nil) throws(TokenStoreError) {
        // A file mounted alone may be on another file system than its directory.
        guard let name = FileSystem.refusedName(of: place ?? directory) ?? FileSystem.refusedName(of: database)
        else { return }
        throw .unsupported(
            "\(directory) is on a file system (\(name)) whose locks and shared memory are not known to hold",
            .moveStore("keep the store on a local disk")
        )
    }
}

extension StoreFile {
    /// Refuses a place where others would not share the file's locks and log.
    func refuseUnknownFileSystem() throws(TokenStoreError) {
        try path.refuseUnknownFileSystem()
        try refuseMountedFile()
    }

    /// Refuses a database that is mounted without its directory, as a container can have it.
    ///
    /// Who opens it in its own directory has another log, another index of it and another lock file: neither would know
    /// of the other's commits, and both would write the same pages.
    private func refuseMountedFile() throws(TokenStoreError) {
        #if !canImport(Darwin)
        guard let identity = FileStatus(path.database)?.identity else { return }
        let file = NamedFile(name: path.database, identity: identity)
        guard !Self.unmounted.withLock({ $0.contains(file) }) else { return }
        if let own = Self.mountID(of: path.database), let around = Self.mountID(of: path.directory), own != around {
            throw .unsupported(
                "\(path.database) is mounted without its directory, where its log and its locks are",
                .moveStore("mount the directory of the store instead of the file")
            )
        }
        Self.unmounted.withLock { _ = $0.insert(file) }
        #endif
    }

    #if !canImport(Darwin)
    /// A file under a name: one that is mounted over another has the same name, but not the same identity.
    private struct NamedFile: Hashable {
        let name: String
        let identity: FileStatus.Identity
    }

    /// The files that this process has looked at, as every open would pay for it.
    private static let unmounted = LockedValue<Set<NamedFile>>([])

    /// `O_PATH`, which Swift does not import.
    ///
    /// To close such a descriptor takes no locks from the connections of this process, as to close one for reading
    /// would.
    private static let pathOnly: Int32 = 0x20_0000

    /// The mount that a file or directory is seen through, in the words of the kernel; nil where it does not say.
    ///
    /// A file that is mounted from the same file system has the same device as its directory, so that `stat` cannot
    /// tell.
    private static func mountID(of name: String) -> [UInt8]? {
        let file = open(name, pathOnly | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let description = open("/proc/self/fdinfo/\(file)", O_RDONLY | O_CLOEXEC)
        guard description >= 0 else { return nil }
        defer { close(description) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(description, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
        return lines.first { $0.starts(with: "mnt_id:".utf8) }.map { Array($0) }
    }
    #endif
}

extension StoreFile {
    /// Makes the index of the log of a database, where there is none, as an empty file that is written in place.
    ///
    /// SQLite writes to it through memory. Where the file system writes each change elsewhere, a full disk would end
    /// the process in the middle of that, with SIGBUS; a quota of btrfs that is used up still does. What cannot be done
    /// is left to SQLite, which makes an index by itself.
    func prepareIndex(of database: String) {
        let index = database + "-shm"
        guard FileSystem.copiesChanges(at: path.directory), FileStatus.isAbsent(index),
            !FileStatus.isAbsent(database)
        else { return }
        // Closed before it has its name: closing the index takes its locks from the connections of this process.
        let draft = "\(index).\(UInt64.random(in: 0 ... .max)).new"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        let isMade = fchmod(descriptor, 0o600) == 0 && writeInPlace(descriptor)
        close(descriptor)
        if !isMade || !renameExclusively(draft, to: index) { unlink(draft) }
    }
}
