import OAuth
import Synchronization

/// The callers that wait for a server, each with what it was answered last.
final class WaitingCallers: Sendable {
    private struct State {
        var count = 0
        var errors: [Int: TokenStoreError] = [:]
    }

    private let state = LockedValue(State())

    /// What concerns all who ask the server; one that finds a row locked waits for another process and not for the
    /// server.
    var serverError: TokenStoreError? {
        state.withLock { state in
            state.errors.values.first { [.unreachable, .access].contains($0.code) || $0.remedy?.code == .freeSpace }
        }
    }

    /// One who waits, until it is freed.
    final class Waiter {
        private let callers: WaitingCallers
        private let number: Int

        init(_ callers: WaitingCallers) {
            self.callers = callers
            number = callers.state.withLock { state in
                state.count += 1
                return state.count
            }
        }

        /// Notes why the caller still waits.
        func note(_ error: TokenStoreError) { callers.state.withLock { $0.errors[number] = error } }

        deinit { _ = callers.state.withLock { $0.errors.removeValue(forKey: number) } }
    }
}
