import Dispatch
import HTTPTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension AsynchronousWork {
    /// Runs `body` to its end, which Ctrl-C brings about by cancelling it.
    static func runUntilInterrupted<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        let task = Task.detached { try await body() }
        let previous = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, previous) }
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { task.cancel() }
        source.resume()
        defer { source.cancel() }
        return try run { try await task.value }
    }
}
