import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Access tokens that were opened a while ago, good until anything is committed.
final class AccessTokenCache: Sendable {
    /// A class, so that to look at one counts no reference of what is in it.
    fileprivate final class Entry: Sendable {
        let query: TokenQuery
        let token: AccessToken

        /// The seconds in which a lookup would give the same answer.
        let seconds: ClosedRange<Int64>

        init(_ query: TokenQuery, _ token: AccessToken, _ seconds: ClosedRange<Int64>) {
            (self.query, self.token, self.seconds) = (query, token, seconds)
        }
    }

    private struct State {
        var version: StoreConnections.DataVersion?

        /// By ``AccessTokenCache/hash(_:)``; of two queries with one hash the later is kept.
        var entries: [Int: Entry] = [:]

        /// The entries of each account, where a store tells which account was changed.
        var hashes: [Int64: [Int]] = [:]

        /// The accounts that were dropped last, and how many ever were: a lookup that is under way meanwhile may have
        /// read what was there before.
        var dropped: [Int64] = []
        var dropCount = 0

        mutating func removeAll() { (entries, hashes) = ([:], [:]) }

        func wasDropped(_ account: Int64, since count: Int) -> Bool {
            dropCount - count > dropped.count || dropped.suffix(dropCount - count).contains(account)
        }
    }

    private let state = LockedValue(State())

    /// The number by which the store says that an account was changed; nil where it tells of commits alone.
    private let number: (@Sendable (Account.ID) -> Int64)?

    init(numberedBy number: (@Sendable (Account.ID) -> Int64)? = nil) { self.number = number }

    /// More than this many are not all in use, and each is a secret in memory.
    private static let capacity = 1_024

    /// The token that is kept for `query`, else what `lookUp` finds.
    ///
    /// `version` was read before, so that a commit since then is noticed the next time.
    func token(
        for query: TokenQuery,
        at now: Int64,
        version: StoreConnections.DataVersion,
        _ lookUp: () throws -> CachedToken
    ) throws -> CachedToken {
        let hash = Self.hash(query)
        if let kept = entry(for: query, hash, at: now, version) { return .usable(kept.token, isAging: false) }
        let dropCount = number == nil ? 0 : state.withLock { $0.dropCount }
        let found = try lookUp()
        if case .usable(let token, isAging: false) = found, let entry = Entry.of(query, token, now: now) {
            let account = number?(query.account)
            state.withLock { state in
                guard state.version == version else { return }
                if state.entries.count >= Self.capacity { state.removeAll() }
                if let account {
                    guard !state.wasDropped(account, since: dropCount) else { return }
                    // Another account's query may have the same hash.
                    if state.hashes[account]?.contains(hash) != true {
                        state.hashes[account, default: []].append(hash)
                    }
                }
                state.entries[hash] = entry
            }
        }
        return found
    }

    /// Forgets the tokens of an account that was changed.
    func drop(_ account: Int64) {
        state.withLock { state in
            for hash in state.hashes.removeValue(forKey: account) ?? [] { state.entries[hash] = nil }
            state.dropCount += 1
            state.dropped.append(account)
            if state.dropped.count > 2 * Self.droppedCapacity { state.dropped.removeFirst(Self.droppedCapacity) }
        }
    }

    private static let droppedCapacity = 256

    /// Forgets everything.
    func removeAll() { state.withLock { $0.removeAll() } }

    /// The token that is kept for `query`.
    func token(for query: TokenQuery, at now: Int64, version: StoreConnections.DataVersion) -> AccessToken? {
        entry(for: query, Self.hash(query), at: now, version)?.token
    }

    private func entry(
        for query: TokenQuery,
        _ hash: Int,
        at now: Int64,
        _ version: StoreConnections.DataVersion
    ) -> Entry? {
        let kept = state.withLock { state -> Entry? in
            guard state.version == version else {
                state.version = version
                state.removeAll()
                return nil
            }
            return state.entries[hash]
        }
        guard let kept, kept.seconds.contains(now), kept.query == query else { return nil }
        return kept
    }

    /// A hash of what tells the queries of a program apart; the entry itself is compared as a whole.
    ///
    /// An account id in other letter case has another hash, and is only looked up again.
    private static func hash(_ query: TokenQuery) -> Int {
        var hasher = Hasher()
        hasher.combine(query.account.homeAccountID)
        hasher.combine(query.clientID)
        hasher.combine(query.scope.foldedText)
        if let authority = query.authority { hasher.combine(authority) }
        if let claims = query.requestedClaims { hasher.combine(claims) }
        if let keyID = query.keyID { hasher.combine(keyID) }
        hasher.combine(query.buffer)
        return hasher.finalize()
    }
}

extension AccessTokenCache.Entry {
    /// nil if a lookup a second later may answer differently, or if a time in a damaged file is not a time.
    fileprivate static func of(_ query: TokenQuery, _ token: AccessToken, now: Int64) -> AccessTokenCache.Entry? {
        let times = [token.expiresAt, token.refreshAt, token.cachedAt].compactMap { $0?.timeIntervalSince1970 }
        guard times.allSatisfy({ abs($0) < 1e15 }) else { return nil }
        func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }
        let expiresOn = seconds(token.expiresAt)
        let last = expiresOn - query.buffer.seconds(cachedAt: token.cachedAt.map(seconds), expiresOn: expiresOn)
        let end = min(last, token.refreshAt.map(seconds) ?? .max)
        guard now <= end else { return nil }
        return AccessTokenCache.Entry(query, token, now...end)
    }
}
