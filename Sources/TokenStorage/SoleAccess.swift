#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The certainty that no connection has the database open, until this is freed.
///
/// Every connection holds a lock on some bytes of a database in WAL mode for as long as it is open; these bytes are
/// part of SQLite's file format. One that comes meanwhile waits, and then finds another file under the name.
final class SoleAccess {
    private let descriptor: Int32

    /// Waits for every connection to be closed.
    ///
    /// - Throws: ``TokenStoreError/busy(_:)`` after `timeout`.
    init(_ path: StorePath, timeout: Duration) throws(TokenStoreError) {
        descriptor = open(path.database, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw StoreFile.failure("opened", path.database) }
        let start = ContinuousClock.now
        while !KernelLock.tryLock(descriptor, start: 0x4000_0000, count: 512) {
            guard ContinuousClock.now - start < timeout else {
                // Closing any descriptor of a file takes the locks of all connections of this process from it, so
                // this one stays open.
                throw .busy("another program has \(path.database) open; close it and try again")
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...2_000_000))
            nanosleep(&pause, nil)
        }
    }

    deinit { close(descriptor) }
}
