package import OAuth
import Synchronization

/// Where the one answer to a sign-in arrives, from whichever side.
package final class PendingRedirect: Sendable {
    /// What becomes of an answer.
    package enum Verdict {
        /// It is the one that counts.
        case taken

        /// It does not repeat `state`, so it answers another request or was made up. The waiting goes on.
        case foreign

        /// Another one counts, or the waiting is over.
        case late
    }

    private struct State {
        var isTaken = false
        var sawForeign = false
        var outcome: Result<AuthorizationResponse, SignInError>?
        var waiter: CheckedContinuation<AuthorizationResponse, any Error>?
    }

    /// What ties the answer to the request ([RFC 6749 §10.12](https://www.rfc-editor.org/rfc/rfc6749#section-10.12)):
    /// who does not know it can neither answer nor end the waiting.
    package let state: Secret
    private let progress = LockedValue(State())

    package init(state: Secret) { self.state = state }

    /// What arrived, once something did.
    package var outcome: Result<AuthorizationResponse, SignInError>? { progress.withLock(\.outcome) }

    /// Takes an answer, which ``deliver(_:)`` passes on.
    package func reserve(for answer: AuthorizationResponse) -> Verdict {
        let isOurs = answer["state"] == state
        return progress.withLock { progress in
            guard isOurs else {
                progress.sawForeign = true
                return .foreign
            }
            guard !progress.isTaken else { return .late }
            progress.isTaken = true
            return .taken
        }
    }

    /// Passes on the answer that was taken.
    package func deliver(_ answer: AuthorizationResponse) {
        finish(answer.flaw.map { .failure(.invalidAnswer($0)) } ?? .success(answer))
    }

    /// Takes and passes on an answer to which no page is shown; false if it is not the one that counts.
    func take(_ answer: AuthorizationResponse) -> Bool {
        guard reserve(for: answer) == .taken else { return false }
        deliver(answer)
        return true
    }

    /// Ends the waiting, also for an answer that is on its way.
    func end(_ error: SignInError) {
        progress.withLock { $0.isTaken = true }
        finish(.failure(error))
    }

    /// Ends the waiting for an answer; false if one was taken.
    package func cancel() -> Bool { endIfWaiting { _ in .cancelled } }

    /// Whose answer was taken has been told so, and it is delivered within the time that a page takes.
    private func endIfWaiting(_ error: (State) -> SignInError) -> Bool {
        let end = progress.withLock { progress in
            defer { progress.isTaken = true }
            return progress.isTaken ? nil : error(progress)
        }
        if let end { finish(.failure(end)) }
        return end != nil
    }

    private func finish(_ outcome: Result<AuthorizationResponse, SignInError>) {
        let waiter = progress.withLock { progress in
            if progress.outcome == nil { progress.outcome = outcome }
            defer { progress.waiter = nil }
            return progress.waiter
        }
        waiter?.resume(with: outcome.mapError { $0 })
    }

    /// Waits for the answer.
    ///
    /// One that was taken within `limit` counts, also where its page is still being sent.
    ///
    /// - Throws: ``SignInError``.
    package func answer(within limit: Duration) async throws -> AuthorizationResponse {
        let alarm = Task {
            try await Task.sleep(for: limit.sleepable)
            _ = endIfWaiting { $0.sawForeign ? .stateMismatch : .timedOut }
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = progress.withLock { progress in
                    if progress.outcome == nil { progress.waiter = continuation }
                    return progress.outcome
                }
                if let outcome { continuation.resume(with: outcome.mapError { $0 }) }
            }
        } onCancel: {
            end(.cancelled)
        }
    }
}
