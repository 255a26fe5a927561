import Logging
import OAuth
import OpenIDConnect
import TokenStorage

extension RefreshExchange {
    /// Checks and commits the tokens of an answer; what the store cannot take goes into `space`.
    func accept(_ answered: RefreshResponse, in space: AnswerSpace) async throws -> TokenResult {
        var answered = answered
        try await requireTokenText(answered, in: space)
        try await requireBinding(answered, in: space)
        let idToken = try await checkedIDToken(answered, in: space)
        answered.answer.response.idToken = idToken?.secret
        let saved: SavedTokens
        do {
            saved = try await OperationSpan.run(.save) { _ in
                try await store.save(
                    answered.answer.response,
                    for: answered.request,
                    refreshing: answered.token,
                    in: space
                )
            }
        } catch let error as TokenStoreError where error.code == .otherAccount {
            throw await refused(answered)
        }
        if case .discarded = saved.outcome {
            if let newer = try await tokenOfNewSession() { return newer }
            await revoke(answered.answer.response.refreshToken)
            throw AcquisitionError.interactionRequired(.signedOut)
        }
        guard let accessToken = saved.accessToken else {
            throw idToken.map { .noAccessToken($0) }
                ?? AcquisitionError.unusableAnswer(UnusableAnswer(status: 200, isJSON: true))
        }
        var result = TokenResult(accessToken, account: request.account, source: .refresh)
        result.idToken = idToken
        if case .pending(let reason) = saved.outcome { result.pendingReason = reason }
        result.declinedScope = request.scope.missing(from: accessToken.scope)
        return result
    }

    /// Refuses an answer with text that cannot be a token; the new refresh token is kept, as the old one is spent.
    private func requireTokenText(_ answered: RefreshResponse, in space: AnswerSpace) async throws {
        do {
            try answered.answer.response.requireTokenText()
        } catch {
            try await keepRefreshToken(answered, in: space)
            throw AcquisitionError.unusableAnswer(error)
        }
    }

    /// Refuses an access token that is bound to no key, or to one that no proof was sent of, where it cannot serve.
    private func requireBinding(_ answered: RefreshResponse, in space: AnswerSpace) async throws {
        let (response, account, client) = (answered.answer.response, request.account, decider.clientID)
        do {
            var wasBound = false
            if answered.key != nil, !AccessToken.isDPoP(response.tokenType) {
                wasBound = try await store.performRead {
                    try $0.hasBoundAccessTokens(of: account, client: client) ?? false
                }
            }
            try options.dpop.check(response, boundTo: answered.key, wasBound: wasBound)
        } catch {
            // Also where the store could not be read: the old token is spent.
            try await keepRefreshToken(answered, in: space)
            throw (error as? DPoPError).map { AcquisitionError.dpop($0) } ?? error
        }
    }

    /// The ID token of an answer, if it has one.
    ///
    /// If it is not valid, only the new refresh token is kept, as the old one is spent. But some issuers repeat the one
    /// that the store has. It may have ended by now, or its key may be gone: it says nothing new, and does no harm.
    private func checkedIDToken(_ answered: RefreshResponse, in space: AnswerSpace) async throws -> IDToken? {
        guard let secret = answered.answer.response.idToken else { return nil }
        var validator = IDTokenValidator(issuer: issuer.metadata.issuer, clientID: answered.request.clientID)
        // The access token is not judged by `at_hash`: that is optional for tokens which come from the token endpoint
        // itself (OpenID Connect Core §3.1.3.6, §3.1.3.8). An issuer that repeats an answer which was lost may have the
        // hash of the lost access token in it, and the session would be lost with the answer.
        validator.earlierNonces = answered.earlierIDTokens.nonces(for: answered.token)
        do {
            let clocks = [now, answered.answer.issuerNow]
            return try await issuer.checked(secret, by: validator, clocks: clocks, canWait: true) {
                // A failure of the request for newer keys must not cost the session.
                try await keepRefreshToken(answered, in: space)
            }
        } catch  where answered.earlierIDTokens.tokens.contains(where: { $0.secret == secret }) {
            return nil
        } catch let flaw as IDTokenFlaw {
            try await keepRefreshToken(answered, in: space)
            throw AcquisitionError.invalidIDToken(flaw)
        } catch let keys as UnknownKeys {
            // The refresh token is kept, and each request until then would spend it for nothing.
            let wait = max(keys.until - now, 1)
            try await holdBack(for: wait, AcquisitionError.unpublishedKeyMembers)
            throw AcquisitionError.unpublishedKey(for: .seconds(wait))
        }
    }

    /// Holds requests with the account's refresh tokens back, those of every process and those that are forced.
    private func holdBack(for seconds: Int64, _ failure: JSONValue.Object) async throws {
        var consequence = RefreshConsequence(token: .possiblyConsumed)
        consequence.throttle = Throttle(
            beganAt: now,
            expiresAt: now + seconds,
            isAskedFor: true,
            failure: failure
        )
        let query = decider.query(request)
        try await store.perform { [consequence, issuer, decider, request] store in
            for token in try store.refreshTokens(of: request.account, client: decider.clientID) {
                try store.endRefresh(with: token, of: query, authority: issuer.authority.url, consequence)
            }
        }
    }

    private func keepRefreshToken(_ answered: RefreshResponse, in space: AnswerSpace) async throws {
        let (response, request, token) = (answered.answer.response, answered.request, answered.token)
        do {
            try await store.keepRefreshToken(of: response, for: request, refreshing: token, in: space)
        } catch let error as TokenStoreError where error.code == .otherAccount {
            throw await refused(answered)
        }
    }

    /// The token that a sign-in stored which overtook this refresh; nil where the account has signed out.
    ///
    /// The old session's token is not revoked then: some issuers would end the new session with it.
    private func tokenOfNewSession() async throws -> TokenResult? {
        let found = try await store.performRead { [decider, request] store in
            try store.sessionTimes(of: request.account, client: decider.clientID).map { _ in
                try store.cachedToken(for: decider.query(request))
            }
        }
        switch found {
        case nil: return nil
        case .usable(let token, _)?: return TokenResult(token, account: request.account, source: .cache)
        default: throw TokenStoreError.overtaken(at: store.location)
        }
    }

    /// Ends the session of another user that an answer is of, and records that nothing in it is this user's.
    ///
    /// The token that was sent may be spent; given again, it is this user's.
    private func refused(_ answered: RefreshResponse) async -> AcquisitionError {
        let error = AcquisitionError.accountMismatch
        let token = answered.answer.response.refreshToken
        if token != answered.token.secret { await revoke(token) }
        var consequence = RefreshConsequence(token: .possiblyConsumed)
        consequence.event = error.code.rawValue
        let query = decider.query(request)
        do {
            try await store.perform { [consequence, issuer] in
                try $0.endRefresh(with: answered.token, of: query, authority: issuer.authority.url, consequence)
            }
        } catch {
            // That the token may be spent was noted before it was sent.
            options.logger.info("a refused answer was not recorded", metadata: ["reason": "\(error)"])
        }
        return error
    }

    /// Ends a session that was signed out while it was being refreshed; the sign-out has succeeded all the same.
    private func revoke(_ token: Secret?) async {
        guard let error = await issuer.revoke(token, clientID: decider.clientID) else { return }
        options.logger.info("a refresh token was not revoked", metadata: ["reason": "\(error)"])
    }
}
