import CProcess
import Dispatch
import OAuth
import Synchronization
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs async work from synchronous code by blocking the calling thread.
package enum AsynchronousWork {
    /// Runs `body` to its end; the calling thread waits, which must be none of those that `body` runs on.
    package static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let outcome = Outcome<Result>()
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                outcome.set(.success(try await body()))
            } catch {
                outcome.set(.failure(error))
            }
            isDone.signal()
        }
        isDone.wait()
        return try outcome.get()
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = LockedValue<Result<Value, any Error>?>(nil)

        func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

        func get() throws -> Value {
            guard let result = result.withLock(\.self) else { throw CancellationError() }
            return try result.get()
        }
    }
}

extension AsynchronousWork {
    /// Runs `body` to its end on other threads, cancelled once `isCancelled` is true; that is asked on this one.
    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result,
        cancelledIf isCancelled: () -> Bool
    ) throws -> Result {
        let isDone = DispatchSemaphore(value: 0)
        let task = Task.detached {
            defer { isDone.signal() }
            return try await body()
        }
        while isDone.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            guard isCancelled() else { continue }
            task.cancel()
            break
        }
        return try run { try await task.value }
    }
}

extension AsynchronousWork {
    /// Runs `body` to its end; a signal, or the end of its `time`, cancels it.
    ///
    /// An issuer's answer that is under way is stored before this returns, or the program ends: what has been spent for
    /// it is spent. A second signal ends the program at once.
    ///
    /// With `throwsInterrupt`, Ctrl-C is an error that `body` throws, and does not end the program. With `isFinished`, a
    /// body that goes on to its end although it is cancelled is waited for, and only then the program ends.
    static func run<Result: Sendable>(
        keepingAnswersOf store: TokenStore?,
        within time: Duration? = nil,
        throwsInterrupt: Bool = false,
        isFinished: Bool = false,
        _ body: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        let isReady = AsyncStream<Never>.makeStream()
        let task = Task.detached {
            for await _ in isReady.stream {}
            return try await body()
        }
        let ending = EndingSignals(store, throwsInterrupt: throwsInterrupt, holds: isFinished) { task.cancel() }
        isReady.continuation.finish()
        let clock = Task.detached {
            guard let time else { return }
            try await Task.sleep(for: time)
            guard store?.refuseFurtherAnswers() == true else { return task.cancel() }
            EndingSignals.announceWait()
        }
        let outcome = Swift.Result { try run { try await task.value } }
        clock.cancel()
        if let store { try run { await store.finishAnswers() } }
        ending.stop()
        return try outcome.get()
    }
}

/// The signals that end the program, held back for as long as an issuer's answer is under way.
private final class EndingSignals: Sendable {
    private struct State {
        var first: Int32?
        var sources: [(signal: Int32, source: any DispatchSourceSignal)] = []
    }

    private let state = LockedValue(State())
    private let store: TokenStore?
    private let throwsInterrupt: Bool

    /// Whether the first of them waits for the end of the work in any case.
    private let holds: Bool
    private let cancel: @Sendable () -> Void

    init(_ store: TokenStore?, throwsInterrupt: Bool, holds: Bool, cancel: @escaping @Sendable () -> Void) {
        self.store = store
        self.throwsInterrupt = throwsInterrupt
        self.holds = holds
        self.cancel = cancel
        // A signal is lost until its source is registered; nothing begins before.
        let isRegistered = DispatchGroup()
        defer { isRegistered.wait() }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // One that the program was started without, as by nohup, stays without effect; but not the interrupt, which
            // a script takes from every command that it starts in the background, and then sends to end it.
            guard number == SIGINT || !IgnoredSignals.atStart.contains(number) else { continue }
            signal(number, SIG_IGN)
            state.withLock { state in
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { [weak self] in self?.take(number) }
                isRegistered.enter()
                source.setRegistrationHandler { isRegistered.leave() }
                source.resume()
                state.sources.append((number, source))
            }
        }
    }

    private func take(_ number: Int32) {
        let isFirst = state.withLock { state in
            defer { state.first = state.first ?? number }
            return state.first == nil
        }
        let isExpecting = store?.refuseFurtherAnswers() == true
        guard isFirst else {
            if isExpecting {
                StandardError.write(
                    "tokenstore: ended before the issuer's answer was stored, the session may be lost; "
                        + "if the next command says so, sign in again\n"
                )
            }
            Self.end(by: number)
        }
        guard isExpecting || holds || throwsInterrupt && number == SIGINT else { Self.end(by: number) }
        if isExpecting { Self.announceWait() } else if holds { Self.announceWait(until: "the account is deleted") }
        cancel()
    }

    /// Says what the program waits for although it was to end.
    static func announceWait(until end: String = "the issuer's answer is stored") {
        guard StandardError.isTerminal else { return }
        StandardError.write("tokenstore: waiting until \(end); Ctrl-C twice ends at once\n")
    }

    /// Gives the signals their effect back; one that came meanwhile has it now.
    func stop() {
        let first = state.withLock { state in
            for (number, source) in state.sources {
                source.cancel()
                signal(number, SIG_DFL)
            }
            state.sources = []
            return state.first
        }
        guard let first, first != SIGINT || !throwsInterrupt else { return }
        Self.end(by: first)
    }

    private static func end(by number: Int32) -> Never {
        CProcessEnd(number)
        exit(128 + number)
    }
}
