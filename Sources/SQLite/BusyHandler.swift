import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Waits for another connection's lock with random sleeps, short ones at first, up to a time limit.
///
/// SQLite's own `busy_timeout` sleeps up to 100 ms at a time, so one unlucky waiter starves.
final class BusyHandler {
    var timeout: Duration
    private var start = ContinuousClock.now

    init(timeout: Duration) { self.timeout = timeout }

    /// Makes this the busy handler of `handle`, which must not outlive it.
    func install(on handle: OpaquePointer) {
        sqlite3_busy_handler(
            handle,
            { context, attempt in
                guard let context else { return 0 }
                return Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue().wait(attempt: attempt) ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func wait(attempt: CInt) -> Bool {
        if attempt == 0 { start = .now }
        guard ContinuousClock.now - start < timeout else { return false }
        // Longer the longer it waits: a hundred waiters that all look every half millisecond leave the one that
        // holds the lock no processor to give it back on.
        let longest = min(500_000 << min(attempt / 4, 6), 20_000_000)
        var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 100_000...Int(longest)))
        nanosleep(&pause, nil)
        return true
    }
}
