import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Access tokens that were opened a while ago, good for as long as nobody commits anything.
final class OpenedTokens: Sendable {
    fileprivate struct Entry {
        let token: AccessToken

        /// The seconds in which a lookup would give the same answer.
        let seconds: ClosedRange<Int64>
    }

    private struct State {
        var version: TokenStore.DataVersion?
        var entries: [TokenQuery: Entry] = [:]
    }

    private let state = Guarded(State())

    /// More than this many are not all in use, and each is a secret in memory.
    private static let capacity = 1_024

    /// The token that is kept for `query`, else what `lookUp` finds.
    ///
    /// `version` was read before, so that a commit since then is noticed the next time.
    func token(
        for query: TokenQuery,
        at now: Int64,
        version: TokenStore.DataVersion,
        _ lookUp: () throws -> CachedToken
    ) throws -> CachedToken {
        let kept = state.withLock { state -> AccessToken? in
            guard state.version == version else {
                state = State(version: version)
                return nil
            }
            return state.entries[query].flatMap { $0.seconds.contains(now) ? $0.token : nil }
        }
        if let kept { return .usable(kept, isAging: false) }
        let found = try lookUp()
        if case .usable(let token, isAging: false) = found, let entry = Entry(token, query.buffer, now: now) {
            state.withLock { state in
                guard state.version == version else { return }
                if state.entries.count >= Self.capacity { state.entries.removeAll() }
                state.entries[query] = entry
            }
        }
        return found
    }
}

extension OpenedTokens.Entry {
    /// nil if a lookup a second later may answer differently, or in a damaged file a time is no time.
    fileprivate init?(_ token: AccessToken, _ buffer: ExpiryBuffer, now: Int64) {
        let times = [token.expiresAt, token.refreshAt, token.cachedAt].compactMap { $0?.timeIntervalSince1970 }
        guard times.allSatisfy({ abs($0) < 1e15 }) else { return nil }
        func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }
        let expiresOn = seconds(token.expiresAt)
        let last = expiresOn - buffer.seconds(cachedAt: token.cachedAt.map(seconds), expiresOn: expiresOn)
        let end = min(last, token.refreshAt.map(seconds) ?? .max)
        guard now <= end else { return nil }
        self.init(token: token, seconds: now...end)
    }
}
