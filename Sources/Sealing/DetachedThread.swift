#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A thread for what waits for long: for changes, for a server, for a program to end.
///
/// On Linux all serial queues of libdispatch share 255 threads. Work that waits on one of them takes it from the others
/// for as long as it waits, and where 255 wait, nothing else of the program is done.
package enum DetachedThread {
    /// Enough for a statement, a handshake and a key's program; only what is used of it takes memory.
    private static let stackSize = 1_048_576

    /// Starts a thread that ends with `body`.
    ///
    /// - Returns: false if the system lets the program start no more; `errno` says why.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard succeeds(pthread_attr_init(&attributes)) else { return false }
        defer { pthread_attr_destroy(&attributes) }
        guard succeeds(pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))),
            succeeds(pthread_attr_setstacksize(&attributes, stackSize))
        else { return false }
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let argument = Unmanaged.passRetained(Body(body))
        let problem = pthread_create(
            &thread,
            &attributes,
            { argument in
                // Whether it is an optional is not the same everywhere.
                let argument: UnsafeMutableRawPointer? = argument
                DetachedThread.leaveSignals()
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            },
            argument.toOpaque()
        )
        guard succeeds(problem) else {
            argument.release()
            return false
        }
        return true
    }

    private static func succeeds(_ problem: CInt) -> Bool {
        guard problem != 0 else { return true }
        errno = problem
        return false
    }

    /// Leaves signals to the threads of the program, which may hold them back for a while, as libdispatch does.
    private static func leaveSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        for ownFault in [SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGSYS] { sigdelset(&signals, ownFault) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// A closure that passes through a C pointer.
private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
