#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Holds back the signals that end the program while something has to be put in order first.
///
/// They arrive when this goes, and end the program the usual way.
final class Interruption {
    private var previous = sigset_t()
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

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
