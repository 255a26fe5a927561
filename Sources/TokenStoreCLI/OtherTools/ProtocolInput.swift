#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What another tool sends on standard input, within bounds.
package final class ProtocolInput {
    /// git's own limit for a line is 64 KB, and nothing that is sent has more than a few.
    private static let limit = 1 << 20

    private var buffer: [UInt8] = []
    private var isAtEnd = false

    init() {}

    /// What was read already.
    package init(_ bytes: [UInt8]) { (buffer, isAtEnd) = (bytes, true) }

    /// The next line without its end; nil at the end of the input.
    func line() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = try text(buffer[..<end])
                buffer.removeSubrange(...end)
                return line
            }
            guard !isAtEnd else {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : try text(buffer[...])
            }
            try readMore()
        }
    }

    /// Everything that is sent.
    package func all() throws -> String {
        while !isAtEnd { try readMore() }
        return try text(buffer[...])
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw CommandFailure(.failure, "standard input is not text", "let the other tool run this command")
        }
        return text
    }

    private func readMore() throws {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { systemRead(STDIN_FILENO, $0.baseAddress, $0.count) }
        if count < 0, mayReadAgain(STDIN_FILENO) { return }
        guard count >= 0, buffer.count + count <= Self.limit else {
            let reason = count < 0 ? "cannot be read (\(systemMessage()))" : "is longer than a request"
            throw CommandFailure(.failure, "standard input \(reason)", "let the other tool run this command")
        }
        if count == 0 { isAtEnd = true }
        buffer += bytes.prefix(count)
    }
}
