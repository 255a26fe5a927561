#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A pipe, neither end of which a child inherits unless it is given to it.
final class Pipe {
    let reading: Int32
    private(set) var writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchFailure("no pipe can be made, error \(errno)") }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// What comes next, at most `count` bytes; empty at the end.
    func next(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, read(reading, buffer.baseAddress, count))
        }
    }

    /// Everything up to the end.
    func rest() -> [UInt8] {
        var bytes: [UInt8] = []
        while case let part = next(1 << 16), !part.isEmpty { bytes += part }
        return bytes
    }
}
