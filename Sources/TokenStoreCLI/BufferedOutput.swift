import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes on their way to a file descriptor, 64 KB at a time.
final class BufferedOutput {
    private static let capacity = 64 * 1024

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []

    /// Writes to `descriptor`, which errors call `name`.
    init(_ descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    static func standardOutput() -> BufferedOutput {
        BufferedOutput(STDOUT_FILENO, name: "standard output")
    }

    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        try flushIfFull()
    }

    /// Writes what `body` appends.
    func append(_ body: (inout [UInt8]) -> Void) throws {
        body(&buffer)
        try flushIfFull()
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count < Self.capacity else {
            try flush()
            return try send(bytes)
        }
        buffer.append(contentsOf: bytes)
        try flushIfFull()
    }

    func flush() throws {
        try buffer.withUnsafeBytes(send)
        wipeBuffer()
    }

    private func flushIfFull() throws {
        if buffer.count >= Self.capacity { try flush() }
    }

    /// An export passes through here, and what it held should not stay behind in freed memory.
    private func wipeBuffer() {
        buffer.withUnsafeMutableBytes { wipe($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest)
            let count = systemWrite(descriptor, slice.baseAddress, slice.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                endByBrokenPipe()
            } else if errno != EINTR {
                throw CommandFailure(
                    .failure,
                    "\(name) cannot be written (\(systemMessage()))",
                    "check the disk and the place it leads to"
                )
            }
        }
    }

    /// Where `SIGPIPE` is ignored the reader's end is an error code; the program ends as if it were not ignored.
    private func endByBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        exit(128 + SIGPIPE)
    }

    deinit { wipeBuffer() }
}
