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
        var held = sigset_t()
        sigemptyset(&held)
        for signal in Self.signals { sigaddset(&held, signal) }
        pthread_sigmask(SIG_BLOCK, &held, &previous)
    }

    /// Whether such a signal waits.
    var isPending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return Self.signals.contains { sigismember(&pending, $0) == 1 }
    }

    deinit { pthread_sigmask(SIG_SETMASK, &previous, nil) }
}
