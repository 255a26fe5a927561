import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Access tokens that were opened a while ago, good until something is committed that concerns their account.
///
/// They are in parts, each with a lock of its own, so that lookups of different tokens do not wait for each other.
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
        /// What tells whether `version` is still what the store has; nil where that takes a question.
        var sign: (any CommitSign)?
        var version: MemoryVersion?

        /// By ``AccessTokenCache/hash(_:)``; of two queries with one hash the later is kept.
        var entries: [Int: Entry] = [:]

        /// The entries of each account.
        var hashes: [Int64: [Int]] = [:]

        /// The accounts that were dropped last, and how many ever were: a lookup that is under way meanwhile may have
        /// read what was there before.
        var dropped: [Int64] = []
        var dropCount = 0

        mutating func removeAll() { (entries, hashes) = ([:], [:]) }

        mutating func drop(_ account: Int64) {
            for hash in hashes.removeValue(forKey: account) ?? [] { entries[hash] = nil }
            dropCount += 1
            dropped.append(account)
            if dropped.count > 2 * droppedCapacity { dropped.removeFirst(droppedCapacity) }
        }

        func wasDropped(_ account: Int64, since count: Int) -> Bool {
            dropCount - count > dropped.count || dropped.suffix(dropCount - count).contains(account)
        }
    }

    private final class Part: Sendable {
        let state = LockedValue(State())
    }

    private let parts = (0..<partCount).map { _ in Part() }

    private static let partCount = 16

    /// More than this many in a part are not all in use, and each is a secret in memory.
    private static let partCapacity = 1_024

    private static let droppedCapacity = 256

    /// The number by which the store says that an account was changed.
    private let number: @Sendable (Account.ID) -> Int64

    init(numberedBy number: @escaping @Sendable (Account.ID) -> Int64) { self.number = number }

    /// The token that is kept for `query`; nil where there is none, or only a question tells whether it is still good.
    func token(for query: TokenQuery, at now: Int64) -> AccessToken? {
        let hash = Self.hash(query)
        let kept = part(hash).state.withLock { state -> Entry? in
            guard let version = state.version, state.sign?.version == version else { return nil }
            return state.entries[hash]
        }
        return kept.flatMap { $0.answers(query, at: now) ? $0.token : nil }
    }

    /// The token that is kept for `query`, else what `lookUp` finds; nil where that is none.
    ///
    /// `version` was read before, so that a commit since then is noticed the next time.
    func token(
        for query: TokenQuery,
        at now: Int64,
        version: MemoryVersion,
        _ lookUp: () throws -> CachedToken?
    ) throws -> CachedToken? {
        let hash = Self.hash(query)
        let part = part(hash)
        let (kept, dropCount) = part.state.withLock { state -> (Entry?, Int) in
            // Another caller may know a newer one by now, which is not to be taken back.
            if state.version.map({ $0.epoch < version.epoch }) ?? true {
                state.version = version
                state.removeAll()
            }
            return (state.version == version ? state.entries[hash] : nil, state.dropCount)
        }
        if let kept, kept.answers(query, at: now) { return .usable(kept.token, isAging: false) }
        let found = try lookUp()
        guard case .usable(let token, isAging: false) = found, let entry = Entry.of(query, token, now: now)
        else { return found }
        let account = number(query.account)
        part.state.withLock { state in
            guard state.version == version, !state.wasDropped(account, since: dropCount) else { return }
            if state.entries.count >= Self.partCapacity { state.removeAll() }
            // Another account's query may have the same hash.
            if state.hashes[account]?.contains(hash) != true { state.hashes[account, default: []].append(hash) }
            state.entries[hash] = entry
        }
        return found
    }

    private func part(_ hash: Int) -> Part { parts[Int(UInt(bitPattern: hash) % UInt(Self.partCount))] }

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

// MARK: - What a store commits

extension AccessTokenCache {
    /// From now on `sign` tells whether what is kept is still good.
    func follow(_ sign: any CommitSign) {
        for part in parts { part.state.withLock { $0.sign = sign } }
    }

    /// Brings what is kept to `version`, without the tokens of `accounts`; nil: of all.
    func follow(_ sign: (any CommitSign)?, to version: MemoryVersion, without accounts: [Int64]?) {
        for part in parts {
            part.state.withLock { state in
                if let accounts { for account in accounts { state.drop(account) } } else { state.removeAll() }
                (state.sign, state.version) = (sign, version)
            }
        }
    }

    /// Forgets everything, and no more looks at a sign.
    func stopFollowing() {
        for part in parts {
            part.state.withLock { state in
                (state.sign, state.version) = (nil, nil)
                state.removeAll()
            }
        }
    }

    /// Forgets the tokens of an account that was changed.
    func drop(_ account: Int64) {
        for part in parts { part.state.withLock { $0.drop(account) } }
    }

    /// Forgets everything.
    func removeAll() {
        for part in parts { part.state.withLock { $0.removeAll() } }
    }
}

extension AccessTokenCache.Entry {
    fileprivate func answers(_ query: TokenQuery, at now: Int64) -> Bool {
        seconds.contains(now) && self.query == query
    }

    /// nil if a lookup a second later may answer differently, or if a time in a damaged file is not a time.
    fileprivate static func of(_ query: TokenQuery, _ token: AccessToken, now: Int64) -> AccessTokenCache.Entry? {
        let times = [token.expiresAt, token.refreshAt, token.cachedAt].compactMap { $0?.timeIntervalSince1970 }
        guard times.allSatisfy({ abs($0) < 1e15 }) else { return nil }
        func seconds(_ date: Date) -> Int64 { date.unixSeconds }
        let expiresOn = seconds(token.expiresAt)
        let buffer = query.buffer.seconds(cachedAt: token.cachedAt.map(seconds), expiresOn: expiresOn)
        let last = expiresOn - max(buffer, 1)
        let end = min(last, token.refreshAt.map(seconds) ?? .max)
        guard now <= end else { return nil }
        return AccessTokenCache.Entry(query, token, now...end)
    }
}
