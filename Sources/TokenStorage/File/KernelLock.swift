import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A lock that the kernel takes back when its holder dies, on a range of the store's lock file.
///
/// Open-file-description locks: two stores opened in one process exclude each other like two processes do.
package final class KernelLock: Sendable {
    /// What is locked, as one byte of the lock file, which need not be that long.
    package struct Range: Hashable, Sendable {
        let offset: Int64

        /// First open and migration.
        package static let schema = Range(offset: 0)
        /// A rekey, which runs for many transactions.
        package static let rekey = Range(offset: 1)
        /// The files of answers that are not stored yet.
        package static let pendingAnswers = Range(offset: 2)
    }

    private let descriptor: Int32

    /// Opens the lock file without locking anything.
    init(of path: StorePath) throws(TokenStoreError) {
        // Without O_NONBLOCK a FIFO in the file's place would hang.
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let new = open(path.lock, flags | O_CREAT | O_EXCL, 0o600)
        descriptor = new < 0 && errno == EEXIST ? open(path.lock, flags) : new
        // The umask may have taken from the owner of a new file as well.
        guard descriptor >= 0, new < 0 || fchmod(new, 0o600) == 0 else {
            throw StoreFile.failure("opened", path.lock)
        }
        // A user who can open it can keep all others out of the store.
        guard let status = FileStatus(descriptor: descriptor), status.kind == .regular, status.links == 1,
            status.owner == geteuid()
        else {
            throw .insecure(
                "\(path.lock) is not a regular file of this user with one name",
                Remedy(.removeFile, "remove it while no program uses the store")
            )
        }
        guard status.permissions & 0o077 == 0 else {
            throw .insecure("others may use \(path.lock)", .restrictAccess(to: path.lock, mode: "600"))
        }
    }

    /// Waits for the lock.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` after `timeout`.
    package convenience init(_ range: Range, of path: StorePath, timeout: Duration) throws(TokenStoreError) {
        try self.init(of: path)
        let start = ContinuousClock.now
        while try !tryLock(range, of: path) {
            guard ContinuousClock.now - start < timeout else { throw Self.busy(path, for: timeout) }
            Pauses.wait(.microseconds(Int.random(in: 500...2_000)))
        }
    }

    deinit { close(descriptor) }

    static func busy(_ path: StorePath, for timeout: Duration) -> TokenStoreError {
        .busy("another process has held \(path.database) for \(timeout.components.seconds) s", .retryLater)
    }

    /// Takes the lock if no process has it.
    func tryLock(_ range: Range, of path: StorePath) throws(TokenStoreError) -> Bool {
        if Self.tryLock(descriptor, start: range.offset, count: 1) { return true }
        guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
            throw .unsupported(
                "\(path.lock) cannot be locked, \(Self.reason())",
                .moveStore("keep the store on a local disk")
            )
        }
        return false
    }

    /// Takes the lock of something that has one holder after the other, if no process has it, so that those who wait
    /// tell each holder from the one before.
    func tryTurn(_ range: Range, of path: StorePath) throws(TokenStoreError) -> Bool {
        guard try tryLock(range, of: path) else { return false }
        // Without it those who wait take this holder for the one before.
        let place = Self.turns(of: range) + Int64.random(in: 0..<Self.turnCount)
        _ = Self.tryLock(descriptor, start: place, count: 1)
        return true
    }

    /// Gives back all that was locked through this value, which others may keep.
    func unlock() {
        var lock = Self.lock(start: 0, count: 0)
        lock.l_type = Int16(F_UNLCK)
        // The result does not matter: closing the descriptor gives the locks back too.
        _ = fcntl(descriptor, Self.setLock, &lock)
    }

    /// A number of the present holder of such a lock; nil where there is none, or it is of an earlier version.
    func holder(of range: Range) -> Int64? {
        var lock = Self.lock(start: Self.turns(of: range), count: Self.turnCount)
        guard fcntl(descriptor, Self.getLock, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return Int64(lock.l_start)
    }

    /// Where the holders of a lock lock a byte of their choice, far behind all other bytes.
    private static func turns(of range: Range) -> Int64 { 1 << 62 + (range.offset & (1 << 41 - 1)) * turnCount }

    private static let turnCount: Int64 = 1 << 20

    /// Locks a range of bytes for one open file, if no other file has locked any of them.
    static func tryLock(_ descriptor: Int32, start: Int64, count: Int64) -> Bool {
        var lock = lock(start: start, count: count)
        return fcntl(descriptor, setLock, &lock) == 0
    }

    private static func lock(start: Int64, count: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(start)
        lock.l_len = off_t(count)
        return lock
    }

    private static func reason() -> String { String(cString: strerror(errno)).lowercased() }

    /// `F_OFD_SETLK` and `F_OFD_GETLK`, which Swift does not import.
    #if canImport(Darwin)
    private static let setLock: Int32 = 90
    private static let getLock: Int32 = 92
    #else
    private static let setLock: Int32 = 37
    private static let getLock: Int32 = 36
    #endif
}

/// The certainty that no connection has the database open, until this is freed.
///
/// Every connection holds a lock on some bytes of a database in WAL mode for as long as it is open; these bytes are
/// part of SQLite's file format. One that comes meanwhile waits, and then finds another file under the name.
final class ExclusiveAccess {
    private let descriptor: Int32

    /// Waits for every connection to be closed.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` after `timeout`.
    static func wait(for path: StorePath, timeout: Duration) throws(TokenStoreError) -> ExclusiveAccess {
        let descriptor = BusyFiles.descriptor(of: path.database)
        guard descriptor >= 0 else { throw StoreFile.failure("opened", path.database) }
        let start = ContinuousClock.now
        while !KernelLock.tryLock(descriptor, start: 0x4000_0000, count: 512) {
            guard ContinuousClock.now - start < timeout else {
                BusyFiles.keep(descriptor)
                throw .busy(
                    "another program has \(path.database) open",
                    Remedy(.closeOtherProgram, "close it and try again")
                )
            }
            Pauses.wait(.microseconds(Int.random(in: 500...2_000)))
        }
        return ExclusiveAccess(descriptor)
    }

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}

/// Files that a connection has open, each left open for the next attempt: closing any descriptor of a file takes the
/// locks of all connections of this process from it.
enum BusyFiles {
    private static let descriptors = LockedValue<[FileStatus.Identity: [Int32]]>([:])

    /// A descriptor of the file, a kept one where there is one; negative where it cannot be opened.
    static func descriptor(of path: String) -> Int32 {
        let file = FileStatus(path)?.identity
        let kept = file.flatMap { file in descriptors.withLock { $0[file]?.popLast() } }
        return kept ?? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    }

    /// Keeps what ``descriptor(of:)`` gave.
    static func keep(_ descriptor: Int32) {
        guard let file = FileStatus(descriptor: descriptor)?.identity else { return }
        descriptors.withLock { $0[file, default: []].append(descriptor) }
    }
}
