import Logging
import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where everything goes that is not the answer.
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes `text` as it is; a failure cannot be reported anywhere.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let slice = UnsafeRawBufferPointer(rebasing: rest)
                let count = systemWrite(STDERR_FILENO, slice.baseAddress, slice.count)
                guard count >= 0 || mayWriteAgain(STDERR_FILENO) else { return }
                rest = rest.dropFirst(max(0, count))
            }
        }
    }
}

/// Where a person types, or a document comes from.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }
}

/// A descriptor that an option names, and that whoever starts the program is to open.
struct NamedDescriptor {
    let number: Int32

    /// Takes the number where nothing is open under it, with what cannot be read.
    ///
    /// The next file that this program opens would get it, such as the store's, and be read as what a person types.
    func reserve() {
        guard fcntl(number, F_GETFD) < 0 else { return }
        let null = systemOpen("/dev/null", O_WRONLY)
        guard null >= 0, null != number else { return }
        let taken = fcntl(null, F_DUPFD_CLOEXEC, number)
        close(null)
        if taken >= 0, taken != number { close(taken) }
    }
}

/// The log of the libraries behind a command, as lines on standard error.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(level: LogLevel) { logLevel = Logger.Level(rawValue: level.rawValue) ?? .warning }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        StandardError.write("tokenstore: \(event.level.rawValue): \("\(event.message)\(details)".printable)\n")
    }
}

// A method called `write` or `open` hides the C function of that name, and the module that has it differs by platform.

func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

func systemOpen(_ path: String, _ flags: Int32, _ permissions: mode_t = 0) -> Int32 {
    open(path, flags | O_CLOEXEC, permissions)
}

/// What `errno` means.
func systemMessage(_ code: CInt = errno) -> String { String(cString: strerror(code)) }

/// Whether a read that has just failed is to be made again; waits where the writer is behind.
func mayReadAgain(_ descriptor: Int32) -> Bool { mayTryAgain(descriptor, once: POLLIN) }

/// Whether a write that has just failed is to be made again; waits where the reader is behind.
private func mayWriteAgain(_ descriptor: Int32) -> Bool { mayTryAgain(descriptor, once: POLLOUT) }

extension CommandFailure {
    /// The failure of the last call of the system.
    static func ofSystem(_ problem: String, _ hint: String) -> CommandFailure {
        CommandFailure(.failure, "\(problem) (\(systemMessage()))", hint)
    }
}

/// Bytes on their way to a file descriptor, 64 KB at a time.
final class BufferedOutput {
    private static let capacity = 64 * 1024

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private var hasSent = false

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

    /// Forgets what was written.
    ///
    /// - Returns: false if some of it has gone out.
    func takeBack() -> Bool {
        guard !hasSent else { return false }
        wipeBuffer()
        return true
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
        hasSent = hasSent || !rest.isEmpty
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest)
            let count = systemWrite(descriptor, slice.baseAddress, slice.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                endByBrokenPipe()
            } else if !mayWriteAgain(descriptor) {
                var failure = CommandFailure.ofSystem(
                    "\(name) cannot be written",
                    "check the disk, and the file or pipe it is redirected to"
                )
                failure.facts.isOfOutput = descriptor == STDOUT_FILENO
                throw failure
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
