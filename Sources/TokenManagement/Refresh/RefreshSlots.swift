import OAuth
import Synchronization

/// How many refreshes may be under way at one issuer; those that come later begin in the order in which they came.
///
/// Each issuer has slots of its own: one that does not answer must not keep others from being asked.
final class RefreshSlots: Sendable {
    private struct State {
        var taken = 0
        var waiters: [CheckedContinuation<Void, Never>] = []

        mutating func takeOne(of count: Int) -> Bool {
            guard taken < count else { return false }
            taken += 1
            return true
        }
    }

    private let count: Int

    /// Of the issuers at which refreshes are under way.
    private let states = LockedValue<[String: State]>([:])

    init(_ count: Int) { self.count = count }

    /// Takes a slot once one is free.
    ///
    /// - Returns: whether there was a wait for it.
    func take(at issuer: String) async -> Bool {
        guard !states.withLock({ $0[issuer, default: State()].takeOne(of: count) }) else { return false }
        await withCheckedContinuation { continuation in
            let isTaken = states.withLock { states in
                if states[issuer, default: State()].takeOne(of: count) { return true }
                states[issuer, default: State()].waiters.append(continuation)
                return false
            }
            if isTaken { continuation.resume() }
        }
        return true
    }

    /// Hands the slot to the one who has waited longest.
    func giveBack(at issuer: String) {
        let next = states.withLock { states -> CheckedContinuation<Void, Never>? in
            guard var state = states[issuer] else { return nil }
            defer { states[issuer] = state.taken == 0 ? nil : state }
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.taken -= 1
            return nil
        }
        next?.resume()
    }
}
