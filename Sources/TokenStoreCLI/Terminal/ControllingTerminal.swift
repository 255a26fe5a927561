import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The terminal that a person sits at, even if the standard streams are redirected.
final class ControllingTerminal {
    private let descriptor: Int32
    private var settings = termios()
    private let signalMask = SignalMask()

    /// nil if there is none.
    init?() {
        descriptor = systemOpen("/dev/tty", O_RDWR | O_NOCTTY)
        guard descriptor >= 0, tcgetattr(descriptor, &settings) == 0 else { return nil }
    }

    /// Asks, and returns what was typed, which the terminal does not show if it is secret; nil at the end of the input.
    func answer(to question: String, isSecret: Bool) throws -> Secret? {
        let interruption = CommandFailure(.interrupted, "interrupted", "try again")
        begin(question, isSecret)
        var isAsking = true
        defer { if isAsking { restore(isSecret) } }
        let answer = try LineReader(descriptor: descriptor).line {
            // Noticed here rather than ending the program with the echo off.
            if signalMask.isInterrupted || ProgressLine.isInterrupted { throw interruption }
            guard signalMask.isAskedToStop else { return }
            restore(isSecret)
            isAsking = false
            signalMask.letThrough()
            // While work is under way such a signal is only noted, and asking on would keep the program from its end.
            if ProgressLine.isInterrupted { throw interruption }
            begin(question, isSecret)
            isAsking = true
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

/// Delays the signals that end the program until the terminal is restored.
///
/// They arrive when this goes, and end the program the usual way. One that the program was started to ignore is let
/// be: the system keeps a blocked signal waiting even if it is ignored, as if it had come.
final class SignalMask {
    private var previous = sigset_t()
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
        .filter { !IgnoredSignals.atStart.contains($0) }

    init() {
        var held = Self.set(Self.signals)
        pthread_sigmask(SIG_BLOCK, &held, &previous)
    }

    private static func set(_ signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }

    private func waits(_ signal: Int32) -> Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return sigismember(&pending, signal) == 1
    }

    /// Whether such a signal waits.
    var isPending: Bool { isInterrupted || isAskedToStop }

    /// Whether Ctrl-C was pressed.
    var isInterrupted: Bool { waits(SIGINT) }

    /// Whether a signal other than Ctrl-C waits.
    var isAskedToStop: Bool { Self.signals.contains { $0 != SIGINT && waits($0) } }

    /// Takes a Ctrl-C as dealt with, so that it ends nothing any more; false if there was none.
    func takeInterrupt() -> Bool {
        guard isInterrupted else { return false }
        var only = Self.set([SIGINT])
        var signal: Int32 = 0
        return sigwait(&only, &signal) == 0
    }

    /// Lets the signals other than Ctrl-C have their effect now: the program ends, or stops and is continued.
    func letThrough() {
        var others = Self.set(Self.signals.filter { $0 != SIGINT })
        pthread_sigmask(SIG_UNBLOCK, &others, nil)
        pthread_sigmask(SIG_BLOCK, &others, nil)
    }

    deinit { pthread_sigmask(SIG_SETMASK, &previous, nil) }
}
