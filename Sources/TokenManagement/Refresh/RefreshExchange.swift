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
    let store: TokenStore
    let request: SilentRequest
    let issuer: Issuer
    let decider: TokenDecider
    let dpopServers: DPoPServers
    let turn: RefreshTurn

    var options: TokenManagerOptions { decider.options }
    var now: Int64 { store.options.now().unixSeconds }

    /// How many refresh tokens of one account are tried: its own, and those of an import or of its family.
    private static let attempts = 3

    /// Tries the refresh tokens in order.
    ///
    /// - Throws: ``AcquisitionError``, `TokenStoreError`.
    func run(_ candidates: [RefreshCandidate]) async throws -> TokenResult {
        var failure: RefreshFailure?
        let earlier = try await earlierIDTokens()
        for candidate in candidates.prefix(Self.attempts) {
            let key = try dpopKey(candidate)
            // Before the token is spent: even if the disk fills up or the store is busy, the response can be kept.
            let (space, use) = try await store.perform { store in
                (try store.reserveAnswerSpace(), try store.beginUse(of: candidate.token))
            }
            options.logger.debug("refreshing", metadata: ["endpoint": "\(issuer.metadata.tokenEndpoint)"])
            do {
                let answered = try await answer(candidate.token, key, earlier)
                turn.lastForAnswer()
                let result = try await accept(answered, in: space)
                options.logger.debug("refreshed", metadata: ["scope": "\(result.accessToken.scope)"])
                return result
            } catch let unanswered as RefreshRequestFailure {
                let next = try await conclude(unanswered, candidate, use)
                options.logger.info("a refresh returned no tokens", metadata: ["reason": "\(next.error)"])
                failure = failure ?? next
                guard next.triesNext else { throw next.error }
            }
        }
        throw failure?.error ?? AcquisitionError.interactionRequired(.noRefreshToken)
    }

    /// Sends the request, and once more where the way to the issuer or the issuer itself failed.
    private func answer(
        _ token: StoredRefreshToken,
        _ key: DPoPKey?,
        _ earlier: EarlierIDTokens
    ) async throws -> RefreshResponse {
        let scope = RefreshScope(token: token, asked: request.scope, authority: issuer.authority)
        var wire = TokenRequest(
            clientID: clientID(of: token),
            authority: issuer.authority,
            scope: scope.expected,
            grant: .refreshToken
        )
        wire.askedScope = request.scope
        wire.resource = token.resource
        wire.keyID = key?.thumbprint ?? request.keyID
        let form = form(token, scope: scope.sent)
        func response() async throws -> RefreshResponse {
            RefreshResponse(
                answer: try await send(form, key),
                request: wire,
                token: token,
                key: key?.stored,
                earlierIDTokens: earlier
            )
        }
        do {
            return try await response()
        } catch  where Self.isWorthRepeating(error) {
            return try await repeating(after: error, response)
        } catch {
            throw RefreshRequestFailure(failure: error, isPossiblyConsumed: false)
        }
    }

    /// Sends a request again that has failed with `first`.
    ///
    /// An issuer that has spent the token without an answer arriving may give it again within a moment, hardly later.
    private func repeating(
        after first: any Error,
        _ response: () async throws -> RefreshResponse
    ) async throws -> RefreshResponse {
        let wasReceived = (first as? HTTPTransportError)?.mayHaveTakenEffect ?? true
        options.logger.debug("repeating a refresh", metadata: ["reason": "\(first)"])
        do {
            try await options.pause(.milliseconds(500))
            return try await response()
        } catch {
            // A repetition for which no time was left says nothing.
            let isUnsent = (error as? HTTPTransportError)?.mayHaveTakenEffect == false
            throw RefreshRequestFailure(
                failure: isUnsent && wasReceived ? first : error,
                isPossiblyConsumed: wasReceived
            )
        }
    }

    /// A damaged ID token must not end a session: it is none.
    private func earlierIDTokens() async throws -> EarlierIDTokens {
        try await store.performRead { [request, decider] in
            try $0.earlierIDTokens(of: request.account, client: decider.clientID)
        }
    }

    private func dpopKey(_ candidate: RefreshCandidate) throws -> DPoPKey? {
        do {
            return try candidate.key.map { try DPoPKey($0) }
        } catch let error as DPoPError {
            throw AcquisitionError.dpop(error)
        }
    }

    /// The statuses of a server that has no token endpoint there, redirects included, none of which is followed.
    private static let absences = [301, 302, 307, 308, 404, 405, 410]

    /// Sends the request, and to another place if the issuer names one where the known one is gone.
    private func send(_ form: FormParameters, _ key: DPoPKey?) async throws -> TokenEndpointAnswer {
        do {
            return try await send(form, key, to: issuer.metadata.tokenEndpoint)
        } catch let error as UnusableAnswer where Self.absences.contains(error.status) {
            guard let moved = await issuer.documents.movedMetadata(since: issuer.metadata) else { throw error }
            options.logger.info("the token endpoint has moved", metadata: ["endpoint": "\(moved.tokenEndpoint)"])
            // The old place did not take the refresh token, so it is not used twice.
            return try await send(form, key, to: moved.tokenEndpoint)
        }
    }

    private func send(_ form: FormParameters, _ key: DPoPKey?, to url: String) async throws -> TokenEndpointAnswer {
        let endpoint = TokenEndpoint(
            url,
            transport: key.map { proving($0) } ?? issuer.transport,
            limits: options.limits
        )
        try await turn.requireHeld()
        return try await endpoint.send(.refreshToken, form, now: now)
    }

    private func proving(_ key: DPoPKey) -> any HTTPTransport {
        DPoPTransport(key, servers: dpopServers, transport: issuer.transport) { [options = store.options] in
            options.now().unixSeconds
        }
    }

    private func form(_ token: StoredRefreshToken, scope: String?) -> FormParameters {
        var form = FormParameters()
        form.append("client_id", clientID(of: token))
        form.append("refresh_token", token.secret)
        form.append("scope", scope)
        // RFC 8707 §2.2: without it an issuer may answer with a token for another API.
        form.append("resource", token.resource)
        if issuer.authority.issuer == nil { form.append("client_info", "1") }
        let claims = JSONValue.merging(claims: request.claims, capabilities: options.clientCapabilities)
        form.append("claims", claims?.serialized)
        return form
    }

    /// The client in the letters that the token was issued to, which an issuer compares as they are (RFC 6749 §1.9); a
    /// family's token may be another client's.
    private func clientID(of token: StoredRefreshToken) -> String {
        token.clientID.folded == decider.clientID.folded ? token.clientID : decider.clientID
    }

    private static func isWorthRepeating(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPTransportError: error.isTransient
        case let error as IssuerUnavailable: error.status >= 500 && error.retryAfter == nil
        default: false
        }
    }

    /// Commits the effects of a request without tokens.
    private func conclude(
        _ unanswered: RefreshRequestFailure,
        _ candidate: RefreshCandidate,
        _ use: NotedUse
    ) async throws -> RefreshFailure {
        let token = candidate.token
        let own = RefreshAttempt(startedAt: now, program: store.options.program, processID: 0)
        let doubt = use.earlier ?? (unanswered.isPossiblyConsumed ? own : nil)
        let events = try await store.performRead { try $0.events(of: token) }
        let authority = issuer.authority
        var failure = try RefreshFailure(
            unanswered.failure,
            at: authority,
            isProven: candidate.key != nil,
            doubt: doubt,
            now: now,
            events: events
        )
        // Microsoft's clouds say the same where only something that was asked for is wrong.
        let asksForMore = RefreshScope(token: token, asked: request.scope, authority: authority).sent != nil
        if !asksForMore, request.claims == nil { failure.endTokenIfInvalid() }
        // Who sent it before may be alive, with an answer that is to take its place.
        if use.earlier != nil { failure.keepPlace() }
        let query = decider.query(request)
        var consequence = failure.consequence
        consequence.use = use.own
        if !failure.mayHaveSpent, !unanswered.isPossiblyConsumed { consequence.earlierUse = use.earlier }
        try await store.perform { [consequence] in
            try $0.endRefresh(with: token, of: query, authority: authority.url, consequence)
        }
        if failure.isAccountDeleted {
            try await store.performRemoval { [decider, request] in
                try $0.removeAccount(request.account, client: decider.clientID, refused: token)
            }
        }
        return failure
    }
}

/// A refresh request whose response has tokens, which are not validated yet.
struct RefreshResponse: Sendable {
    var answer: TokenEndpointAnswer

    /// What was asked for, as far as it decides where the answer is stored.
    let request: TokenRequest

    /// The refresh token that was sent, and is spent now.
    let token: StoredRefreshToken

    /// The key that the request had a proof of.
    let key: BoundKey?

    let earlierIDTokens: EarlierIDTokens
}

/// A refresh request without tokens.
struct RefreshRequestFailure: Error {
    let failure: any Error

    /// Whether an earlier try of the same exchange may have reached the issuer.
    let isPossiblyConsumed: Bool
}

/// The `scope` parameter of a refresh.
///
/// Many issuers narrow the new refresh token, for good, to the scope of the request that made it, so it never asks them
/// for less than the token is known to be good for. Microsoft's do not narrow, and need the scope to tell which API is
/// meant.
struct RefreshScope {
    /// nil: the parameter is left out, which asks for all that was granted (RFC 6749 §6).
    let sent: String?

    /// The scope that an answer without a `scope` grants.
    let expected: Scope

    init(token: StoredRefreshToken, asked: Scope, authority: Authority) {
        guard authority.issuer != nil else {
            expected = asked
            sent = Scope(asked.tokens + ["openid", "profile", "offline_access"]).text
            return
        }
        guard let granted = token.scope, !granted.isEmpty else {
            expected = asked
            sent = nil
            return
        }
        // What was declined at the sign-in would be declined again, and some issuers refuse a request with it.
        let declined = Set(token.declinedScope.tokens.map { $0.lowercased() })
        let further = asked.tokens.filter { !declined.contains($0.lowercased()) }
        guard granted.covers(Scope(further)) else {
            expected = Scope(granted.tokens + further)
            sent = expected.text
            return
        }
        expected = granted
        sent = nil
    }
}
