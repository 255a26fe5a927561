#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that has been started and has to be waited for.
struct RunningProcess {
    let id: pid_t
    let start: Double

    func kill() { send(SIGKILL) }

    func send(_ signal: Int32) {
        #if canImport(Glibc)
        _ = Glibc.kill(id, signal)
        #elseif canImport(Musl)
        _ = Musl.kill(id, signal)
        #else
        _ = Darwin.kill(id, signal)
        #endif
    }

    /// Whether it is only to be waited for.
    var hasEnded: Bool {
        var information = siginfo_t()
        let found = waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT)
        return found == 0 && information.si_signo == SIGCHLD
    }

    func wait() throws -> ChildProcess.Ended {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw BenchFailure("process \(id) cannot be waited for, error \(errno)") }
        }
        #if canImport(Darwin)
        let bytes = Double(usage.ru_maxrss)
        #else
        let bytes = Double(usage.ru_maxrss) * 1_024
        #endif
        return ChildProcess.Ended(
            status: status,
            seconds: Stopwatch.now() - start,
            peakMegabytes: bytes / 1e6
        )
    }
}
