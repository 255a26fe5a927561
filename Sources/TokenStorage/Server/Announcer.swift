import Database
import Dispatch
import OAuth
import Synchronization

/// Has the other nodes told what this process commits.
///
/// A message holds a lock of the whole server until it is sent, for which every other one waits. So there is one in a
/// few milliseconds at most: a commit's own, which is sent right behind it, or one for all commits since the last.
final class Announcer: Sendable {
    private static let interval = Duration.milliseconds(5)

    /// Tells a channel something.
    static let message: StaticString = "SELECT pg_notify(?1, ?2)"

    private struct State {
        /// When the next message may be sent.
        var nextTurn = ContinuousClock.now
        var waiting: [ServerChange] = []

        /// The channel of those that wait.
        var channel = ""

        /// Whether a message for them is under way.
        var isUnderWay = false
    }

    /// Calls its argument with a connection that it waits for.
    typealias Lender = @Sendable ((PostgreSQL.Connection) throws -> Void) throws -> Void

    private let state = LockedValue(State())
    private let queue = DispatchQueue(label: "tokenstore.announcer")
    private let lend: Lender

    init(by lend: @escaping Lender) { self.lend = lend }

    /// Whether a commit that is about to be sent is told by a message of its own; if not, it is for ``tell(_:on:)``.
    func takesTurn() -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            guard !state.isUnderWay, now >= state.nextTurn else { return false }
            state.nextTurn = now + Self.interval
            return true
        }
    }

    /// Tells in a moment what was committed, on a thread of its own.
    ///
    /// If that fails, the record of use tells it all the same, though later.
    func tell(_ changes: [ServerChange], on channel: String) {
        let turn: ContinuousClock.Instant? = state.withLock { state in
            if state.channel != channel { (state.channel, state.waiting) = (channel, []) }
            state.waiting += changes
            defer { state.isUnderWay = true }
            return state.isUnderWay ? nil : state.nextTurn
        }
        guard let turn else { return }
        let nanoseconds = Int(ContinuousClock.now.duration(to: turn) / .nanoseconds(1))
        queue.asyncAfter(deadline: .now() + .nanoseconds(max(0, nanoseconds))) { [self] in send() }
    }

    /// Tells what waits; a process that ends would take it along.
    func finish() { queue.sync { send() } }

    private func send() {
        guard state.withLock({ !$0.waiting.isEmpty }) else { return }
        do {
            try lend { connection in
                let (channel, changes) = take()
                try connection.run(Self.message, .text(channel), .text(ServerChange.text(changes)))
            }
        } catch {
            _ = take()
        }
    }

    /// What is committed from now on is told by another message.
    private func take() -> (channel: String, changes: [ServerChange]) {
        state.withLock { state in
            defer {
                (state.waiting, state.isUnderWay) = ([], false)
                state.nextTurn = .now + Self.interval
            }
            return (state.channel, state.waiting)
        }
    }
}
