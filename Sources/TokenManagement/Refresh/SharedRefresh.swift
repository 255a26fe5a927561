package import HTTPTransport
package import OAuth
import OpenIDConnect
import Synchronization
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A refresh shared by several callers, each with its own timeout.
///
/// It goes on when a caller leaves: once sent, a refresh token may be spent, and its successor must be stored.
package final class SharedRefresh: Sendable {
    private struct State {
        /// Those who wait, or are about to.
        var callers = 0
        var waiters: [Waiter] = []
        var outcome: Result<TokenResult, any Error>?
    }

    private let state = LockedValue(State())

    /// Counts a caller, who calls ``result(within:)`` next.
    func addCaller() { state.withLock { $0.callers += 1 } }

    /// Whether every caller has left.
    var isAbandoned: Bool { state.withLock { $0.callers == 0 } }

    /// Ends the shared refresh for everyone who waits, now or later.
    func finish(_ outcome: Result<TokenResult, any Error>) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.end(outcome) }
    }

    /// Waits until the shared refresh lands.
    ///
    /// - Throws: what ended the shared refresh, ``AcquisitionError/Code/timedOut`` after `timeout`,
    ///   `CancellationError`.
    func result(within timeout: Duration) async throws -> TokenResult {
        let waiter = Waiter()
        let alarm = Task {
            try await Task.sleep(for: timeout.sleepable)
            waiter.end(.failure(AcquisitionError.timedOut))
        }
        defer {
            alarm.cancel()
            state.withLock { $0.callers -= 1 }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiters.append(waiter) }
                    return state.outcome
                }
                if let outcome { return continuation.resume(with: outcome) }
                waiter.wait(continuation)
            }
        } onCancel: {
            waiter.end(.failure(CancellationError()))
        }
    }
}

/// One caller of a shared refresh, whose wait ends with what comes first: the outcome, its time limit, its cancellation.
private final class Waiter: Sendable {
    private struct State {
        var continuation: CheckedContinuation<TokenResult, any Error>?
        var outcome: Result<TokenResult, any Error>?
    }

    private let state = LockedValue(State())

    func wait(_ continuation: CheckedContinuation<TokenResult, any Error>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    func end(_ outcome: Result<TokenResult, any Error>) {
        let continuation = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            return state.continuation.take()
        }
        continuation?.resume(with: outcome)
    }
}

extension SharedRefresh {
    /// Requests that one refresh can answer: those that differ only in how a caller waits, and in whether fewer scopes
    /// will do, which is decided for each caller when the answer is there.
    package struct Key: Hashable {
        private let request: SilentRequest
        private let clientID: String

        /// When the token was stored that an API refused.
        private let refused: Date?

        /// All of the request is in it, so that no field that changes the answer can be forgotten.
        package init(_ request: SilentRequest, clientID: String, insteadOf refused: AccessToken? = nil) {
            self.refused = refused?.cachedAt
            var request = request
            request.loginHint = nil
            request.timeout = .zero
            request.standInTimeout = nil
            request.requiresAllScopes = false
            self.request = request
            self.clientID = clientID
        }
    }
}

/// The right to spend the refresh tokens of an account that a client may use, which one caller at a time has.
///
/// The clients of a family share its tokens, and so a lock. It is taken after the lock of a client, never before, so
/// that no two callers wait for each other.
struct RefreshTurn: Sendable {
    private let account: Account.ID
    private let store: TokenStore
    private let patience: Duration
    private var locks: [RefreshLock]
    private var families: Set<String> = []

    /// Whether another caller had the turn first, who may have refreshed meanwhile.
    var wasWaitedFor: Bool { locks.contains(where: \.wasWaitedFor) }

    /// What came of waiting for the turn.
    enum Outcome: Sendable {
        case turn(RefreshTurn)
        case answered(TokenResult)
    }

    private init(of account: Account.ID, in store: TokenStore, patience: Duration, _ lock: RefreshLock) {
        (self.account, self.store, self.patience) = (account, store, patience)
        locks = [lock]
    }

    /// Waits for the turn, unless `answer` finds what another caller's refresh has left.
    static func wait(
        of account: Account.ID,
        client: String,
        in store: TokenStore,
        patience: Duration,
        isUnderWay: Bool,
        unless answer: () async throws -> TokenResult?
    ) async throws -> Outcome {
        let wait = try await store.refreshLock(
            of: account,
            for: .client(client),
            patience: patience,
            isUnderWay: isUnderWay,
            unless: answer
        )
        return switch wait {
        case .right(let lock): .turn(RefreshTurn(of: account, in: store, patience: patience, lock))
        case .answered(let result): .answered(result)
        }
    }

    /// Makes sure that the turn was not lost meanwhile; asked before a token is sent.
    func requireHeld() async throws { for lock in locks { try await lock.requireHeld() } }

    /// Keeps the turn until the answer of the issuer is stored, or given up.
    func lastForAnswer() { for lock in locks { lock.lastForAnswer() } }

    /// Lets the next caller have its turn.
    func end() async { await locks.release() }

    /// Takes what else is needed to spend any of `candidates`.
    ///
    /// - Returns: whether there was something to take; another client may have spent them meanwhile.
    mutating func extend(to candidates: [RefreshCandidate]) async throws -> Bool {
        let missing = Set(candidates.compactMap(\.token.familyID)).subtracting(families)
        for family in missing.sorted() {
            locks.append(try await store.refreshLock(of: account, for: .family(family), patience: patience))
            families.insert(family)
        }
        return !missing.isEmpty
    }
}

/// A transport for the requests of one refresh, all of which end by one moment.
///
/// Others wait for the lock of the refresh and go on without its holder after a while. A holder that was stopped and
/// goes on later must not send a refresh token that they have spent meanwhile, so nothing leaves after that moment. Nor
/// is a transport waited for that does not keep its limits: those who come next would wait as long as it does.
package struct BoundedTransport: HTTPTransport {
    private let transport: TranslatedTransport
    private let end: ContinuousClock.Instant

    package init(_ transport: any HTTPTransport, end: ContinuousClock.Instant) {
        self.transport = TranslatedTransport(transport)
        self.end = end
    }

    package func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        let host = request.server
        let left = end - .now
        guard min(limits.total, left) > .zero else { throw HTTPTransportError.tooLate(host: host) }
        let bounded = limits.shortened(to: left)
        let sending = Task { [transport] in try await transport.send(request, limits: bounded) }
        defer { sending.cancel() }
        return try await Self.answer(of: sending, within: left + .seconds(1), host)
    }

    /// The answer, unless it takes longer than `time` in which this process ran: what came while it was stopped is
    /// there then, and is taken.
    private static func answer(
        of sending: Task<HTTPResponse, any Error>,
        within time: Duration,
        _ host: String
    ) async throws -> HTTPResponse {
        let (outcomes, first) = AsyncStream<Result<HTTPResponse, any Error>>.makeStream()
        Task { first.yield(await sending.result) }
        let alarm = Task {
            var left = time
            while left > .zero {
                let pause = min(left, .seconds(1))
                try await Task.sleep(for: pause)
                left -= pause
            }
            first.yield(.failure(HTTPTransportError.timedOut(host: host)))
        }
        defer { alarm.cancel() }
        var iterator = outcomes.makeAsyncIterator()
        guard let outcome = await iterator.next() else { throw CancellationError() }
        return try outcome.get()
    }
}
