import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The reading end of a pipe whose writer has finished.
final class FilledPipe: Sendable {
    struct Failure: Error {
        let number: Int32
    }

    let descriptor: Int32

    init(holding text: String) throws {
        guard let pipe = PrivatePipe() else { throw Failure(number: errno) }
        descriptor = pipe.reading
        defer { close(pipe.writing) }
        guard write(pipe.writing, text, text.utf8.count) == text.utf8.count else { throw Failure(number: errno) }
    }

    /// What has not been read.
    func rest() -> String {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = max(0, read(descriptor, &buffer, buffer.count))
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    deinit { close(descriptor) }
}
