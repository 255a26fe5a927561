import Foundation

/// A pipe with a name, into which a test writes answers while the program reads them.
final class AnswerPipe: Sendable {
    let path: String
    private let descriptor: Int32

    init(in scratch: ScratchDirectory) throws {
        path = scratch.path("\(UUID().uuidString).pipe")
        // Open for both, so that neither side waits for the other to come.
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
    }

    func write(_ line: String) {
        let text = line + "\n"
        _ = text.withCString { Foundation.write(descriptor, $0, strlen($0)) }
    }

    deinit { close(descriptor) }
}
