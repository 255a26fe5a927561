import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file or directory that is closed at the end of its life.
struct OpenFile: ~Copyable {
    let path: String
    private let descriptor: Int32

    /// Opens the file, or throws `absent` if there is none.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0, absent: SealingError) throws(SealingError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY, mode)
        if descriptor >= 0 { return }
        switch errno {
        case ENOENT: throw absent
        case ELOOP:
            throw .keyInsecure("\(path) is a symbolic link", .changeKey("name the file itself", to: "file:PATH"))
        case let number: throw Self.failure("opened", path, number)
        }
    }

    deinit { close(descriptor) }

    func status() throws(SealingError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("examined", path, errno) }
        return status
    }

    /// Has the system write it to the disk; a file system that cannot do that for a directory goes without.
    func synchronize() { _ = fsync(descriptor) }

    /// The bytes up to the end of the file, nil if there are more than `limit`.
    func contents(limit: Int) throws(SealingError) -> Secret? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
        defer {
            wipe(buffer)
            buffer.deallocate()
        }
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = read(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("read", path, errno) }
            if count == 0 { break }
            filled += count
        }
        return filled > limit ? nil : Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }

    /// Waits for the lock, which the kernel takes back when the descriptor closes.
    ///
    /// - Throws: ``SealingError/Code/keyBusy`` after `timeout`.
    func lock(timeout: Duration) throws(SealingError) {
        let end = ContinuousClock.now + timeout
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw Self.failure("locked", path, errno) }
            guard ContinuousClock.now < end else {
                throw .keyBusy("another process holds \(path), where the key file is", .retryLater)
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...2_000_000))
            nanosleep(&pause, nil)
        }
    }

    static func failure(_ verb: String, _ path: String, _ number: Int32) -> SealingError {
        let reason = String(cString: strerror(number)).lowercased()
        return .keyUnavailable(
            "\(path) cannot be \(verb), \(reason)",
            Remedy(.checkPermissions, "mend that and try again")
        )
    }
}
