import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The terminal that a person sits at, whatever the standard streams are.
final class PersonalTerminal {
    private let descriptor: Int32
    private var settings = termios()
    private let interruption = Interruption()

    /// nil where there is none.
    init?() {
        descriptor = systemOpen("/dev/tty", O_RDWR | O_NOCTTY)
        guard descriptor >= 0, tcgetattr(descriptor, &settings) == 0 else { return nil }
    }

    /// Asks, and returns what was typed, which the terminal does not show if it is secret; nil at the end of the input.
    func answer(to question: String, isSecret: Bool) throws -> Secret? {
        begin(question, isSecret)
        defer { restore(isSecret) }
        let answer = try LineReader(descriptor: descriptor).line {
            // Noticed here rather than ending the program with the echo off.
            if interruption.isInterrupted { throw CommandFailure(.cancelled, "interrupted", "try again") }
            guard interruption.isAskedToStop else { return }
            restore(isSecret)
            interruption.letThrough()
            begin(question, isSecret)
        }
        if answer == nil, !isSecret { show("\n") }
        return answer
    }

    private func begin(_ question: String, _ isSecret: Bool) {
        if isSecret {
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(descriptor, TCSAFLUSH, &silent)
        }
        show(question)
    }

    private func restore(_ isSecret: Bool) {
        guard isSecret else { return }
        tcsetattr(descriptor, TCSADRAIN, &settings)
        show("\n")
    }

    private func show(_ text: String) {
        // A terminal that shows nothing still takes input.
        _ = text.withCString { systemWrite(descriptor, $0, strlen($0)) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
