import HTTPTransport
import Logging
import OAuth
import OpenIDConnect
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One refresh under the lock: intent, request, and the commit of what came of it.
struct RefreshExchange: Sendable {
    let request: SilentRequest
    let issuer: Issuer
    let metadata: IssuerMetadata
    let decider: TokenDecider

    private var store: TokenStore { decider.store }
    private var options: TokenManagerOptions { decider.options }
    private var authority: Authority { issuer.authority }
    private var now: Int64 { Int64(store.options.now().timeIntervalSince1970) }

    /// How many refresh tokens of one account are tried: its own, and what an import or a family left behind it.
    private static let attempts = 3

    /// Tries the refresh tokens in order.
    ///
    /// - Throws: ``AcquisitionError``, ``TokenStoreError``.
    func run(_ candidates: [RefreshCandidate]) async throws -> TokenResult {
        let end = ContinuousClock.now + options.limits.total * 2
        var failure: RefreshFailure?
        for candidate in candidates.prefix(Self.attempts) {
            let doubt = try await store.perform { try $0.beginRefresh(with: candidate.token) }
            do {
                let (answer, wire) = try await answer(candidate.token, before: end)
                return try await accept(answer, wire, candidate.token)
            } catch let unanswered as UnansweredRefresh {
                let next = try await conclude(unanswered, candidate.token, doubt: doubt)
                failure = failure ?? next
                guard next.triesNext else { throw next.error }
            }
        }
        throw failure?.error ?? AcquisitionError.interactionRequired(.noRefreshToken)
    }

    // MARK: - Request

    /// Sends the request, and once more where the way to the issuer or the issuer itself failed.
    private func answer(
        _ token: RefreshToken,
        before end: ContinuousClock.Instant
    ) async throws -> (TokenEndpointAnswer, TokenRequest) {
        let wire = RefreshScope(token: token, asked: request.scope, authority: authority)
        var tokenRequest = TokenRequest(
            clientID: decider.clientID,
            authority: authority,
            scope: wire.expected,
            grant: .refreshToken
        )
        tokenRequest.keyID = request.keyID
        let form = form(token, scope: wire.sent)
        do {
            return (try await send(form, before: end), tokenRequest)
        } catch  where Self.isWorthRepeating(error) {
            let wasReceived = (error as? HTTPTransportError)?.mayHaveTakenEffect ?? true
            options.logger.debug("repeating a refresh", metadata: ["reason": "\(error)"])
            do {
                try await options.pause(.milliseconds(500))
                return (try await send(form, before: end), tokenRequest)
            } catch {
                throw UnansweredRefresh(failure: error, mayBeSpent: wasReceived)
            }
        } catch {
            throw UnansweredRefresh(failure: error, mayBeSpent: false)
        }
    }

    private func send(_ form: FormParameters, before end: ContinuousClock.Instant) async throws -> TokenEndpointAnswer {
        var limits = options.limits
        limits.total = min(limits.total, max(end - .now, .zero))
        let endpoint = TokenEndpoint(metadata.tokenEndpoint, transport: issuer.transport, limits: limits)
        return try await endpoint.send(.refreshToken, form, now: now)
    }

    private func form(_ token: RefreshToken, scope: String?) -> FormParameters {
        var form = FormParameters()
        form.append("client_id", decider.clientID)
        form.append("refresh_token", token.secret)
        form.append("scope", scope)
        if authority.issuer == nil { form.append("client_info", "1") }
        let claims = JSON.merging(claims: request.claims, capabilities: options.clientCapabilities)
        form.append("claims", claims?.serialized)
        return form
    }

    private static func isWorthRepeating(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPTransportError: error.isTransient
        case let error as IssuerUnavailable: error.status >= 500 && error.retryAfter == nil
        default: false
        }
    }

    // MARK: - Outcome

    private func accept(
        _ answer: TokenEndpointAnswer,
        _ tokenRequest: TokenRequest,
        _ token: RefreshToken
    ) async throws -> TokenResult {
        let response = answer.response
        let idToken = try await checkedIDToken(answer, tokenRequest, token)
        let saved: SavedTokens
        do {
            saved = try await store.perform { try $0.save(response, for: tokenRequest, refreshing: token) }
        } catch TokenStoreError.otherAccount {
            throw AcquisitionError.accountMismatch
        }
        if case .discarded = saved.outcome {
            await revoke(response.refreshToken)
            throw AcquisitionError.interactionRequired(.signedOut)
        }
        guard let accessToken = saved.accessToken else {
            throw AcquisitionError.unusableAnswer(UnusableAnswer(status: 200, isJSON: true))
        }
        var result = TokenResult(accessToken, account: request.account, source: .refresh)
        result.idToken = idToken
        let missing = request.scope.folded.filter { !accessToken.scope.covers(Scope([$0])) }
        result.declinedScope = Scope(request.scope.tokens.filter { missing.contains($0.lowercased()) })
        if request.requiresAllScopes, !result.declinedScope.isEmpty { throw AcquisitionError.declinedScopes(result) }
        return result
    }

    /// The ID token of an answer, if it has one.
    ///
    /// One that is not in order bars the tokens beside it, but for the new refresh token: the old one is spent.
    private func checkedIDToken(
        _ answer: TokenEndpointAnswer,
        _ tokenRequest: TokenRequest,
        _ token: RefreshToken
    ) async throws -> IDToken? {
        guard let secret = answer.response.idToken else { return nil }
        do {
            let idToken: IDToken
            do {
                idToken = try IDToken(decoding: secret)
            } catch {
                throw IDTokenFlaw.unreadable
            }
            let clocks = [now, answer.issuerNow].compactMap(\.self)
            try await issuer.check(idToken, of: metadata, clientID: decider.clientID, clocks: clocks)
            return idToken
        } catch let flaw as IDTokenFlaw {
            try await store.perform {
                try $0.keepRefreshToken(of: answer.response, for: tokenRequest, refreshing: token)
            }
            throw AcquisitionError.invalidIDToken(flaw)
        }
    }

    private func conclude(
        _ unanswered: UnansweredRefresh,
        _ token: RefreshToken,
        doubt: RefreshAttempt?
    ) async throws -> RefreshFailure {
        let own = RefreshAttempt(startedAt: now, program: store.options.program, processID: 0)
        let doubt = doubt ?? (unanswered.mayBeSpent ? own : nil)
        let events = try await store.perform { try $0.events(of: token) }
        let failure = try RefreshFailure(unanswered.failure, at: authority, doubt: doubt, now: now, events: events)
        let (query, url, consequence) = (decider.query(request), authority.url, failure.consequence)
        try await store.perform { try $0.endRefresh(with: token, of: query, authority: url, consequence) }
        if failure.isAccountDeleted {
            try await store.perform { [decider, request] in
                try $0.removeAccount(request.account, client: decider.clientID)
            }
        }
        return failure
    }

    /// Ends a session that was signed out while it was being refreshed; the sign-out has succeeded all the same.
    private func revoke(_ token: Secret?) async {
        guard let token, let url = metadata.revocationEndpoint else { return }
        let endpoint = RevocationEndpoint(url, transport: issuer.transport, limits: options.limits)
        do {
            try await endpoint.revoke(token, clientID: decider.clientID)
        } catch {
            options.logger.info("a refresh token was not revoked", metadata: ["reason": "\(error)"])
        }
    }
}
