import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a passphrase comes from: a file descriptor if one is named, else the environment, else the terminal.
struct Passphrase {
    private static let variable = "TOKENSTORE_PASSPHRASE"
    private static let limit = 4096

    let descriptor: Int32?
    let context: KeySourceContext

    /// Asks for it twice if `confirm`, where it is asked for.
    func obtain(confirm: Bool) throws(SealingError) -> Secret {
        let passphrase =
            if let descriptor {
                try line(of: descriptor)
            } else if let text = context.environment[Self.variable] {
                Secret(text)
            } else if let ask = context.askPassphrase {
                try answer(of: ask, confirm: confirm)
            } else {
                throw SealingError.keyUnavailable(
                    """
                    no passphrase was given; set \(Self.variable), name a file descriptor with \
                    --key passphrase:fd=N, or run in a terminal
                    """
                )
            }
        guard passphrase.count > 0 else { throw .keyMalformed("the passphrase is empty; give one that is not") }
        return passphrase
    }

    private func answer(
        of ask: @Sendable (Bool) throws -> Secret,
        confirm: Bool
    ) throws(SealingError) -> Secret {
        do {
            return try ask(confirm)
        } catch let error as SealingError {
            throw error
        } catch {
            throw .keyUnavailable("no passphrase was entered, \(error); try again")
        }
    }

    /// The bytes before the first newline, and nothing after it: the rest of the descriptor is someone else's.
    private func line(of descriptor: Int32) throws(SealingError) -> Secret {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.limit, alignment: 1)
        defer {
            wipe(buffer)
            buffer.deallocate()
        }
        var count = 0
        while let byte = try nextByte(of: descriptor), byte != UInt8(ascii: "\n") {
            guard count < buffer.count else {
                throw .keyMalformed("the passphrase has more than \(Self.limit) bytes; give a shorter one")
            }
            buffer[count] = byte
            count += 1
        }
        return Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    private func nextByte(of descriptor: Int32) throws(SealingError) -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count >= 0 { return count == 0 ? nil : byte }
            if errno == EINTR { continue }
            let reason = String(cString: strerror(errno)).lowercased()
            throw .keyUnavailable(
                "no passphrase can be read from file descriptor \(descriptor), \(reason); open it, as in '3< file'"
            )
        }
    }
}
