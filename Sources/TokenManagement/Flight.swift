import OAuth

/// A refresh that any number of callers wait for, each with its own patience.
///
/// It goes on when a caller leaves: once sent, a refresh token may be spent, and its successor has to be stored.
final class Flight: Sendable {
    private struct State {
        var waiters: [Int: CheckedContinuation<TokenResult, any Error>] = [:]
        var lastWaiter = 0
        var outcome: Result<TokenResult, any Error>?
        var departed: Set<Int> = []
    }

    private let state = Guarded(State())

    /// Ends the flight for everyone who waits, now or later.
    func land(_ outcome: Result<TokenResult, any Error>) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }

    /// Waits until the flight lands.
    ///
    /// - Throws: what ended the flight, ``AcquisitionError/timedOut`` after `timeout`, `CancellationError`.
    func result(within timeout: Duration) async throws -> TokenResult {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let alarm = Task {
            try await Task.sleep(for: timeout)
            leave(waiter, with: AcquisitionError.timedOut)
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join(waiter, $0) }
        } onCancel: {
            leave(waiter, with: CancellationError())
        }
    }

    private func join(_ waiter: Int, _ continuation: CheckedContinuation<TokenResult, any Error>) {
        let outcome = state.withLock { state -> Result<TokenResult, any Error>? in
            if let outcome = state.outcome { return outcome }
            if state.departed.remove(waiter) != nil { return .failure(CancellationError()) }
            state.waiters[waiter] = continuation
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Lets one waiter go; one that has not begun to wait yet goes when it does.
    private func leave(_ waiter: Int, with error: any Error) {
        let continuation = state.withLock { state in
            let continuation = state.waiters.removeValue(forKey: waiter)
            if continuation == nil, state.outcome == nil { state.departed.insert(waiter) }
            return continuation
        }
        continuation?.resume(throwing: error)
    }
}
