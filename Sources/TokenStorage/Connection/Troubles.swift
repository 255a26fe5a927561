import OAuth

/// What a server has answered to those who still wait for it.
final class Troubles: Sendable {
    private struct State {
        var count = 0
        var errors: [Int: TokenStoreError] = [:]
    }

    private let state = LockedValue(State())

    /// What concerns all who ask the server; one that finds a row locked waits for another process and not for the
    /// server.
    var ofServer: TokenStoreError? {
        state.withLock { state in
            state.errors.values.first { $0.code == .unreachable || $0.remedy?.code == .freeSpace }
        }
    }

    /// One who waits, until it is freed.
    final class Waiter {
        private let troubles: Troubles
        private let number: Int

        init(_ troubles: Troubles) {
            self.troubles = troubles
            number = troubles.state.withLock { state in
                state.count += 1
                return state.count
            }
        }

        func meet(_ error: TokenStoreError) { troubles.state.withLock { $0.errors[number] = error } }

        deinit { _ = troubles.state.withLock { $0.errors.removeValue(forKey: number) } }
    }
}
