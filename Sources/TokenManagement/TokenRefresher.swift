public import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Refreshes tokens of one account ahead of their expiry, for as long as its owner keeps it.
///
/// One task does it, and the other processes that use the store share its refreshes. The last reference that goes away,
/// or ``stop()``, ends it; a refresh that is under way then is still stored.
public final class TokenRefresher: Sendable {
    private let task: Task<Void, Never>

    init(_ schedule: RefreshSchedule) { task = Task { await schedule.run() } }

    deinit { task.cancel() }

    /// Ends it before its owner does.
    public func stop() { task.cancel() }

    /// Returns once it has ended: it was stopped, or no scope is left for which a person need not sign in.
    public func waitUntilEnded() async { await task.value }
}

extension TokenManager {
    /// Keeps the tokens of an account for each of `scopes` fresh, so that a caller rarely waits for the issuer.
    ///
    /// A token is renewed when its issuer says that it is worth it, else in the last fifth of its life, at most five
    /// minutes before it ends. After a failure that may pass the next try comes after 30 seconds, and later each time,
    /// up to five minutes. A scope for which a person has to sign in is left alone from then on. When the clock was set
    /// back, the tokens that came before that are renewed.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - scopes: The scopes of one token each.
    ///   - onFailure: Called with the scope and the error of each try that fails.
    /// - Returns: what keeps it going.
    public func keepFresh(
        _ account: Account.ID,
        scopes: [Scope],
        onFailure: @escaping @Sendable (Scope, any Error) -> Void = { _, _ in }
    ) -> TokenRefresher {
        keepFresh(account, scopes: scopes, onFailure: onFailure) { try await Task.sleep(for: $0) }
    }

    /// The same with another way to wait.
    package func keepFresh(
        _ account: Account.ID,
        scopes: [Scope],
        onFailure: @escaping @Sendable (Scope, any Error) -> Void = { _, _ in },
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) -> TokenRefresher {
        TokenRefresher(
            RefreshSchedule(manager: self, account: account, scopes: scopes, onFailure: onFailure, sleep: sleep)
        )
    }
}

/// When which token is renewed.
struct RefreshSchedule: Sendable {
    let manager: TokenManager
    let account: Account.ID
    let scopes: [Scope]
    let onFailure: @Sendable (Scope, any Error) -> Void
    let sleep: @Sendable (Duration) async throws -> Void

    private static let longestMargin: TimeInterval = 300
    private static let failurePauses: [TimeInterval] = [30, 60, 120, 300]

    /// A wait is no longer than this, because the machine may sleep, and its clock may be set.
    private static let longestPause: TimeInterval = 600

    private struct Entry {
        let scope: Scope
        var due: Date
        var failures = 0
    }

    private var now: Date { manager.store.options.now() }

    func run() async {
        var entries = scopes.map { Entry(scope: $0, due: now) }
        var lastLook = now
        while !entries.isEmpty, !Task.isCancelled {
            // What is due was reckoned by a clock that has been corrected since, as it may be after a boot.
            let isSetBack = now < lastLook
            lastLook = now
            for index in entries.indices.reversed() where isSetBack || entries[index].due <= now {
                guard let next = await renewed(entries[index]) else {
                    entries.remove(at: index)
                    continue
                }
                entries[index] = next
            }
            guard let due = entries.map(\.due).min() else { return }
            let pause = min(max(due.timeIntervalSince(now), 1), Self.longestPause)
            // Thrown when it is cancelled, which ends the loop.
            do { try await sleep(.seconds(pause)) } catch { return }
        }
    }

    /// The entry with the moment of its next turn; nil if a person has to sign in, or the task was cancelled.
    private func renewed(_ entry: Entry) async -> Entry? {
        var entry = entry
        do {
            entry.due = try await nextRefresh(of: entry.scope)
            entry.failures = 0
            return entry
        } catch is CancellationError {
            return nil
        } catch {
            onFailure(entry.scope, error)
            if let error = error as? AcquisitionError, error.needsInteraction { return nil }
            entry.due = now + Self.failurePauses[min(entry.failures, Self.failurePauses.count - 1)]
            entry.failures += 1
            return entry
        }
    }

    /// Renews the token of a scope if it is time, and returns when it is time again.
    private func nextRefresh(of scope: Scope) async throws -> Date {
        var request = SilentRequest(account: account, scope: scope)
        var result = try await manager.acquireTokenSilently(request)
        let token = result.accessToken
        // One that has just come is not renewed at once, however short its life.
        if result.source == .cache, refreshTime(of: token) <= now || isAhead(token) {
            request.forcesRefresh = true
            request.keepsWaits = true
            result = try await manager.acquireTokenSilently(request)
            // Where the session ends with the token, another refresh would spend a refresh token for nothing.
            let end = result.accessToken.expiresAt
            if abs(end.timeIntervalSince(token.expiresAt)) <= 5 { return max(end, now + 5) }
        }
        // A token that lives for seconds must not keep the issuer busy.
        return max(refreshTime(of: result.accessToken), now + 5)
    }

    /// Whether a token came at a time that is yet to come, so that its end was reckoned by a clock that was wrong.
    private func isAhead(_ token: AccessToken) -> Bool {
        TokenState.isFromTheFuture(cachedAt: token.cachedAt?.unixSeconds, at: now.unixSeconds)
    }

    private func refreshTime(of token: AccessToken) -> Date {
        let lifetime = token.expiresAt.timeIntervalSince(token.cachedAt ?? now)
        let margin = min(max(lifetime, 0) / 5, Self.longestMargin)
        let latest = token.expiresAt - margin
        // Some issuers say that every token is worth a refresh in the moment in which it comes.
        guard let wanted = token.refreshAt, wanted > token.cachedAt ?? now else { return latest }
        return min(wanted, latest)
    }
}
