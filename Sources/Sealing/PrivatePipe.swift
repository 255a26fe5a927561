import CProcess

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A pipe whose ends no other program gets that this process starts, not even one that another thread starts just now.
///
/// A program that had the writing end would keep its reader waiting; one that had the reading end could read a key.
/// The caller that makes one closes its ends.
package struct PrivatePipe: Sendable {
    package let reading: Int32
    package let writing: Int32

    /// Nil if none can be had; `errno` says why.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard CProcessPipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
    }

    package func close() {
        for end in [reading, writing] { closeDescriptor(end) }
    }
}

/// Whether a read or write that has just failed is to be made again; one that would have had to wait waits for `event`.
///
/// Another process that shares a pipe or a terminal may have set it not to wait: a document would then be cut short.
package func mayTryAgain(_ descriptor: Int32, once event: Int32) -> Bool {
    guard errno == EAGAIN else { return errno == EINTR }
    var target = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    _ = poll(&target, 1, -1)
    return true
}

/// Whether a descriptor is open, and not for writing alone; where it is not, `errno` says so.
package func isOpenForReading(_ descriptor: Int32) -> Bool {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0 else { return false }
    guard flags & (O_RDONLY | O_WRONLY | O_RDWR) != O_WRONLY else {
        errno = EBADF
        return false
    }
    return true
}

/// `close(2)`, whose name a method here has as well.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
