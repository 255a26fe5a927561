import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads one line of a descriptor, and nothing of what follows it.
struct LineReader {
    let descriptor: Int32
    private static let limit = 4096

    /// The line without its end, nil at the end of the input; `check` is called while nothing comes.
    func line(whileWaiting check: () throws -> Void) throws -> Secret? {
        let line = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.limit, alignment: 1)
        defer {
            wipe(line)
            line.deallocate()
        }
        var count = 0
        while count < line.count {
            try wait(check)
            let received = systemRead(descriptor, line.baseAddress?.advanced(by: count), 1)
            if received < 0, errno == EINTR || errno == EAGAIN { continue }
            if received <= 0, count == 0 { return nil }
            if received <= 0 || line[count] == UInt8(ascii: "\n") {
                return Secret(copying: UnsafeRawBufferPointer(rebasing: line[..<count]))
            }
            count += 1
        }
        throw CommandFailure(.failure, "a line is \(Self.limit) bytes long or more", "give a shorter one")
    }

    private func wait(_ check: () throws -> Void) throws {
        var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&source, 1, 100) <= 0 { try check() }
    }
}
