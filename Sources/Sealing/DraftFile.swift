import CProcess

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that takes its name only when it is whole, and that only its owner may use.
///
/// Where the system can do that it has no name at all before, so that a program that is killed leaves nothing behind.
/// Elsewhere it has a random name beside the final one.
package final class DraftFile {
    package let descriptor: Int32
    private let path: String
    private let directory: String

    /// The directory, which may get another name before the file has one; -1 where it is not there yet.
    private let openDirectory: Int32

    /// The name it has meanwhile; nil if it has none.
    private var name: String?

    /// Whether others can see it.
    package var hasName: Bool { name != nil }

    /// What `errno` is where others could use the file, as on a file system that keeps no modes.
    package static var exposure: Int32 { ENOTSUP }

    /// Makes an empty file that its owner alone can use, in the directory of `path` or, as long as that is not there,
    /// in another one of its file system; nil, with the reason in `errno`, if that cannot be.
    package init?(for path: String, in other: String? = nil) {
        self.path = path
        let parts = PathParts(path)
        directory = parts.directory
        openDirectory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let place = other ?? directory
        let unnamed = Self.openUnnamed(place)
        if unnamed >= 0 {
            descriptor = unnamed
        } else {
            let random = Self.randomName(beside: PathParts.join(place, parts.name))
            descriptor = open(random, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return nil }
            name = random
        }
        // Some directories give a new file other modes, and the umask may have taken from the owner as well.
        var status = stat()
        guard fchmod(descriptor, 0o600) == 0, fstat(descriptor, &status) == 0 else { return nil }
        guard status.st_mode & 0o077 == 0 else {
            errno = Self.exposure
            return nil
        }
    }

    /// Appends all of `bytes`; false, with the reason in `errno`, if that cannot be.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Puts the file on the disk, and then its name.
    ///
    /// - Parameter isReplacing: whether a file of this name is replaced; otherwise there must be none.
    /// - Returns: false, with the reason in `errno`, if that cannot be.
    package func commit(replacing isReplacing: Bool) -> Bool {
        guard synchronize(descriptor) else { return false }
        guard isReplacing ? replace() : take(path) else { return false }
        // The content is safe; a file system that cannot synchronize a directory says so with EINVAL.
        if openDirectory >= 0 { return synchronize(openDirectory) || errno == EINVAL }
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return true }
        defer { close(parent) }
        return synchronize(parent) || errno == EINVAL
    }

    private func replace() -> Bool {
        if name == nil {
            // A link cannot replace a file, only a rename can.
            let random = Self.randomName(beside: path)
            guard take(random) else { return false }
            name = random
        }
        guard let name else { return false }
        let isBeside = openDirectory >= 0 && PathParts(name).directory == directory
        let isRenamed =
            isBeside
            ? renameat(openDirectory, PathParts(name).name, openDirectory, PathParts(path).name) : rename(name, path)
        guard isRenamed == 0 else { return false }
        self.name = nil
        return true
    }

    /// Gives the file a name that nothing else has, and no second one.
    private func take(_ target: String) -> Bool {
        if let name {
            guard renameExclusively(name, to: target) else { return false }
            self.name = nil
            return true
        }
        #if os(Linux)
        let file = Self.openFile(descriptor)
        guard openDirectory >= 0 else { return linkat(AT_FDCWD, file, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0 }
        return linkat(AT_FDCWD, file, openDirectory, PathParts(target).name, AT_SYMLINK_FOLLOW) == 0
        #else
        return false
        #endif
    }

    /// Whether the directory that the file will have its name in is the one that has this name now.
    package func isBound(to directory: String) -> Bool {
        var (bound, named) = (stat(), stat())
        return openDirectory >= 0 && fstat(openDirectory, &bound) == 0 && stat(directory, &named) == 0
            && (bound.st_dev, bound.st_ino) == (named.st_dev, named.st_ino)
    }

    private func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        // There `fsync` leaves the bytes in the drive's cache.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    deinit {
        if openDirectory >= 0 { close(openDirectory) }
        // A failed initializer has no file to close.
        guard descriptor >= 0 else { return }
        close(descriptor)
        if let name { unlink(name) }
    }

    /// A descriptor of a file without a name, or -1 where the file system, or a missing /proc, does not allow it.
    private static func openUnnamed(_ directory: String) -> Int32 {
        #if os(Linux)
        // O_TMPFILE, which Swift does not import.
        let descriptor = open(directory, 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0, access(openFile(descriptor), F_OK) != 0 else { return descriptor }
        close(descriptor)
        #endif
        return -1
    }

    private static func openFile(_ descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    private static func randomName(beside path: String) -> String {
        let parts = PathParts(path)
        return PathParts.join(parts.directory, ".\(parts.name).\(UInt64.random(in: 0 ... .max)).new")
    }
}

/// Gives a file another name, which nothing may have; false, with the reason in `errno`, if that cannot be.
package func renameExclusively(_ name: String, to other: String) -> Bool { CProcessRenameExclusively(name, other) == 0 }

/// Has changes to an empty file written in its place; false, with the reason in `errno`, if that cannot be.
package func writeInPlace(_ descriptor: Int32) -> Bool { CProcessWriteInPlace(descriptor) == 0 }
