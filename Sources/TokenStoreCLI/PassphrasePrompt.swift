import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Asks for a passphrase on the terminal, which does not show it.
final class PassphrasePrompt {
    private let descriptor: Int32
    private var settings = termios()
    private let interruption = Interruption()

    /// Asks once, or twice for a new passphrase, because a slip of the finger would lock the store.
    static func ask(isNew: Bool) throws -> Secret {
        let prompt = try PassphrasePrompt()
        let passphrase = try prompt.read(isNew ? "New passphrase for the store: " : "Passphrase for the store: ")
        guard isNew else { return passphrase }
        guard try prompt.read("The same again: ") == passphrase else {
            throw CommandFailure(.failure, "the passphrases differ, and nothing was changed", "try again")
        }
        return passphrase
    }

    private init() throws {
        descriptor = systemOpen("/dev/tty", O_RDWR | O_NOCTTY)
        guard descriptor >= 0, tcgetattr(descriptor, &settings) == 0 else {
            throw CommandFailure(
                .keyUnavailable,
                "there is no terminal to ask for the passphrase",
                "set TOKENSTORE_PASSPHRASE, or use --key passphrase:fd=N"
            )
        }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(descriptor, TCSAFLUSH, &silent)
    }

    private func read(_ question: String) throws -> Secret {
        show(question)
        defer { show("\n") }
        let line = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        defer {
            wipe(line)
            line.deallocate()
        }
        var count = 0
        while count < line.count {
            try waitForInput()
            let received = systemRead(descriptor, line.baseAddress?.advanced(by: count), 1)
            guard received > 0 else { break }
            if line[count] == UInt8(ascii: "\n") { break }
            count += 1
        }
        guard count > 0 else {
            throw CommandFailure(.cancelled, "no passphrase was given, and nothing was changed", "type one and Return")
        }
        return Secret(copying: UnsafeRawBufferPointer(rebasing: line[..<count]))
    }

    /// A signal is noticed here rather than ending the program with the echo off.
    private func waitForInput() throws {
        var terminal = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&terminal, 1, 100) <= 0 {
            if interruption.isPending { throw CommandFailure(.cancelled, "interrupted", "try again") }
        }
    }

    private func show(_ text: String) {
        // A terminal that shows nothing still takes input.
        _ = text.withCString { systemWrite(descriptor, $0, strlen($0)) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        tcsetattr(descriptor, TCSAFLUSH, &settings)
        close(descriptor)
    }
}
