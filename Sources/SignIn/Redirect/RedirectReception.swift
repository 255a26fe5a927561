import OAuth

/// Where the one answer to a sign-in arrives, from whichever side.
package final class RedirectReception: Sendable {
    private struct State {
        var isTaken = false
        var outcome: Result<AuthorizationAnswer, SignInError>?
        var waiter: CheckedContinuation<AuthorizationAnswer, any Error>?
    }

    private let state = Guarded(State())

    package init() {}

    /// What arrived, once something did.
    package var outcome: Result<AuthorizationAnswer, SignInError>? { state.withLock(\.outcome) }

    /// Whether an answer was taken, or the waiting is over.
    var isTaken: Bool { state.withLock(\.isTaken) }

    /// Makes the caller the one whose answer counts; false for all who come later.
    func reserve() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Passes on the answer of who reserved the place.
    func deliver(_ outcome: Result<AuthorizationAnswer, SignInError>) {
        let waiter = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: outcome.mapError { $0 })
    }

    /// Takes an answer that nobody has to be thanked for.
    func take(_ outcome: Result<AuthorizationAnswer, SignInError>) -> Bool {
        guard reserve() else { return false }
        deliver(outcome)
        return true
    }

    /// Ends the waiting, also for an answer that is on its way.
    func end(_ error: SignInError) {
        _ = reserve()
        deliver(.failure(error))
    }

    /// Waits for the answer.
    ///
    /// - Throws: ``SignInError``.
    func answer(within limit: Duration) async throws -> AuthorizationAnswer {
        let alarm = Task {
            try await Task.sleep(for: limit)
            end(.timedOut)
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(with: outcome.mapError { $0 }) }
            }
        } onCancel: {
            end(.cancelled)
        }
    }
}
