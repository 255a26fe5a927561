#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keeps the processors from sleeping, where this program may ask for that.
///
/// A question to a server wakes a process, which answers and wakes another. To wake a sleeping processor of a virtual
/// machine takes longer than either side of such a measurement; only Linux can be asked, and only by its administrator
/// (<https://docs.kernel.org/power/pm_qos_interface.html>).
final class AwakeProcessors {
    private let request: Int32

    init() {
        request = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC)
        guard request >= 0 else { return }
        // The microseconds that a processor may take to wake up; the wish holds as long as the file is open.
        var latency: Int32 = 0
        _ = write(request, &latency, MemoryLayout<Int32>.size)
    }

    deinit { if request >= 0 { close(request) } }

    /// Runs `body` with the processors awake.
    static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        let awake = AwakeProcessors()
        defer { withExtendedLifetime(awake) {} }
        return try body()
    }
}
