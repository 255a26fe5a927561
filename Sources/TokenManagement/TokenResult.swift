import Logging
public import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A usable access token: the answer to a silent request, and what a sign-in returns.
public struct TokenResult: Equatable, Sendable {
    /// Where a token came from.
    public enum Source: String, Sendable {
        /// The store; nothing was requested.
        case cache

        /// The issuer, for a refresh token.
        case refresh

        /// The issuer, for a sign-in.
        case signIn
    }

    /// How fresh a token is.
    public enum Freshness: String, Sendable {
        case fresh
        /// Valid, but due for a refresh, which did not succeed.
        case aging
        /// Expired, and used only because the issuer cannot be reached.
        case extended
    }

    /// The token to send with a request.
    public private(set) var accessToken: AccessToken

    /// The account that the token is for; the store has its name and claims.
    public let account: Account.ID

    /// Whether it was in the store or came from the issuer.
    public let source: Source

    /// Whether it is as good as one can be had now.
    public var freshness = Freshness.fresh

    /// What was asked for and not granted.
    public var declinedScope = Scope([])

    /// The ID token that came with the access token; nil if the issuer sent none, and for a token of the store.
    public var idToken: IDToken?

    /// Why the store could not take the new tokens yet, which are safe in a sealed file beside it; nil if it did.
    public var pendingReason: String?

    /// A refresh was tried, or throttled, and failed for a reason that may pass; or one has had no answer yet.
    public var refreshFailed = false

    /// The user has to sign in when this token has expired.
    public var interactionSoon = false

    /// What the access token is good for.
    public var scope: Scope { accessToken.scope }

    /// The value of an `Authorization` header.
    public var authorizationHeader: Secret {
        Secret("\(accessToken.authorizationScheme) \(accessToken.secret.reveal())")
    }

    /// The result where the session ends at `end`.
    package func ending(by end: Date) -> TokenResult {
        var result = self
        result.accessToken = accessToken.ending(by: end)
        return result
    }

    /// Whether the token has not ended at `now`; in an outage the end is the one that the issuer allows then.
    package func isGood(at now: Date) -> Bool {
        let extended = freshness == .extended ? accessToken.extendedExpiresAt : nil
        return now < extended ?? accessToken.expiresAt
    }

    package init(_ accessToken: AccessToken, account: Account.ID, source: Source) {
        self.accessToken = accessToken
        self.account = account
        self.source = source
        if let declined = accessToken.declinedScope { declinedScope = declined }
    }
}

/// A stored token to use if a refresh fails.
package enum FallbackToken: Sendable {
    /// Good to use, but worth refreshing.
    case aging(AccessToken)

    /// Past its end, within what the issuer allows for an outage.
    case extended(AccessToken)

    /// The token where the session ends at `end`.
    func ending(by end: Date) -> FallbackToken {
        switch self {
        case .aging(let token): .aging(token.ending(by: end))
        case .extended(let token): .extended(token.ending(by: end))
        }
    }

    /// The token where it may stand in while the store cannot be written or the issuer does not answer, else nil.
    package func result(unrefreshed account: Account.ID) -> TokenResult? {
        guard case .aging(let token) = self else { return nil }
        return Self.aging(token, account, needsInteraction: false)
    }

    private static func aging(_ token: AccessToken, _ account: Account.ID, needsInteraction: Bool) -> TokenResult {
        var result = TokenResult(token, account: account, source: .cache)
        result.freshness = .aging
        result.interactionSoon = needsInteraction
        result.refreshFailed = !needsInteraction
        return result
    }

    /// The token where `error` lets it stand in, else nil.
    func result(after error: AcquisitionError, account: Account.ID) -> TokenResult? {
        switch self {
        case .aging(let token): return Self.aging(token, account, needsInteraction: error.needsInteraction)
        case .extended(let token):
            guard error.isOutage else { return nil }
            var result = TokenResult(token, account: account, source: .cache)
            result.freshness = .extended
            result.refreshFailed = true
            return result
        }
    }
}

extension TokenManager {
    /// A stored token in the place of a refresh that ended with `error`, if the account was not signed out meanwhile.
    ///
    /// - Throws: ``AcquisitionError``, also where the session is too old by now; `TokenStoreError`.
    func standIn(
        _ result: TokenResult,
        for request: SilentRequest,
        after error: any Error,
        called reason: String
    ) async throws -> TokenResult {
        if try await isSignedOut(request.account, after: error) {
            // A sign-out takes the account's tokens, and so does the issuer's word that the account is gone.
            if (error as? AcquisitionError)?.interaction == .accountDeleted { throw error }
            throw AcquisitionError.interactionRequired(.signedOut)
        }
        let token = try await limited(result, request)
        // The refresh may have taken longer than it had left.
        guard token.isGood(at: store.options.now()) else { throw error }
        options.logger.info("a refresh failed, and the stored token serves", metadata: ["reason": "\(reason)"])
        return token
    }

    /// Whether the account has signed out or is gone by what the store says; one that cannot be asked says nothing.
    private func isSignedOut(_ account: Account.ID, after error: any Error) async throws -> Bool {
        // A server that has just been waited for is not waited for again.
        if (error as? TokenStoreError)?.code == .unreachable { return false }
        do {
            try store.requireNoHolder(trying: false)
            return try await store.performRead { [clientID] in
                let isSignedOut = try $0.signInState(of: account, client: clientID) == .signedOut
                // One that was purged has no state.
                let isGone = try $0.account(account) == nil
                return isSignedOut || isGone
            }
        } catch is TokenStoreError {
            return false
        }
    }
}

extension TokenStoreError {
    /// Whether it may be that the store can be read, and only not be written.
    package var concernsWriting: Bool { [.busy, .storage, .file, .unreachable].contains(code) }
}
