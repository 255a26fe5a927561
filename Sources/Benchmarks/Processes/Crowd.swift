#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Processes that run at once, each with a pipe as its output: the pipe closes when the process ends.
struct Crowd {
    private let running: [RunningProcess]
    private let pipes: [Pipe]
    private let start = Stopwatch.now()

    struct Ended {
        /// From the start to the end of each process, which ended well or not, or to when it was done.
        let seconds: [Double]
        let failed: Int

        var last: Double { seconds.max() ?? 0 }
    }

    init(_ children: [ChildProcess], input: Int32? = nil) throws {
        pipes = try children.map { _ in try Pipe() }
        running = try zip(children, pipes).map { child, pipe in
            defer { pipe.closeWriting() }
            return try child.start(input: input, output: pipe.writing)
        }
    }

    /// Waits until each process has printed something, or has ended.
    func waitUntilReady() {
        for pipe in pipes { _ = pipe.next(1) }
    }

    /// Waits for the end of all processes.
    func wait(since start: Double? = nil) throws -> Ended {
        Ended(seconds: try times(since: start ?? self.start, events: 0), failed: try failures())
    }

    /// Waits until each process has printed something more, or has ended, and for the end of all after `end`.
    func waitUntilDone(since start: Double, _ end: () -> Void) throws -> Ended {
        let seconds = try times(since: start, events: Int16(POLLIN))
        end()
        return Ended(seconds: seconds, failed: try failures())
    }

    private func failures() throws -> Int { try running.count { try !$0.wait().isSuccess } }

    /// Processes are told apart by their pipes, as this process may have other children that are not to be waited for.
    private func times(since start: Double, events: Int16) throws -> [Double] {
        var ends = pipes.map { pollfd(fd: $0.reading, events: events, revents: 0) }
        var seconds = pipes.map { _ in 0.0 }
        var left = ends.count
        while left > 0 {
            guard poll(&ends, nfds_t(ends.count), -1) >= 0 || errno == EINTR else {
                throw BenchFailure("processes cannot be waited for, error \(errno)")
            }
            let now = Stopwatch.now()
            for index in ends.indices where ends[index].fd >= 0 && ends[index].revents != 0 {
                seconds[index] = now - start
                // A negative descriptor is left out from now on.
                (ends[index].fd, ends[index].revents) = (-1, 0)
                left -= 1
            }
        }
        return seconds
    }
}
