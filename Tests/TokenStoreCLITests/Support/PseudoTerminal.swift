import Foundation

/// A terminal that a test sits at.
struct PseudoTerminal {
    /// Where the test reads and types.
    let descriptor: Int32

    /// What the program opens.
    let path: String

    init(columns: UInt16) throws {
        #if os(Linux)
        // The functions for this are hidden from Swift, so these are the requests they are made of.
        let (unlock, number) = (UInt(0x4004_5431), UInt(0x8004_5430))
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var zero: Int32 = 0
        var index: Int32 = 0
        guard ioctl(descriptor, unlock, &zero) == 0, ioctl(descriptor, number, &index) == 0 else {
            throw POSIXError(.ENXIO)
        }
        path = "/dev/pts/\(index)"
        #else
        descriptor = posix_openpt(O_RDWR | O_NOCTTY)
        guard grantpt(descriptor) == 0, unlockpt(descriptor) == 0, let name = ptsname(descriptor) else {
            throw POSIXError(.ENXIO)
        }
        path = String(cString: name)
        #endif
        var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.ENXIO) }
    }

    /// What has been shown and not read yet, without waiting for more.
    func newlyShown() -> String {
        var shown: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&source, 1, 0) > 0 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            shown += buffer[..<count]
        }
        return String(decoding: shown, as: UTF8.self)
    }
}

/// What a person types once a question has appeared; it may be known only then.
struct TypedAnswer: Sendable {
    let question: String
    let text: @Sendable () throws -> String

    init(_ question: String, _ text: @autoclosure @escaping @Sendable () throws -> String) {
        self.question = question
        self.text = text
    }
}
