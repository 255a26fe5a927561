public import HTTPTransport
public import OAuth
public import OpenIDConnect
package import TokenManagement
package import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Signs a person in at an issuer's own pages: authorization code with PKCE, in a browser outside the app
/// ([RFC 8252](https://www.rfc-editor.org/rfc/rfc8252)).
///
/// It stores nothing: what it returns has been checked and is to be saved in one commit.
public struct AuthorizationCodeFlow: Sendable {
    /// The client that signs people in.
    public let clientID: String

    /// Where the issuer sends the browser afterwards.
    public let redirectURI: RedirectURI
    private let transport: any HTTPTransport

    /// The limits of each request to the issuer.
    public var limits = HTTPLimits.issuer

    /// Whether the tokens are bound to a new key ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
    public var dpop = DPoPPolicy.off

    /// Microsoft's `xms_cc`: what the client can do, such as `CP1`.
    public var clientCapabilities: [String] = []

    /// The clock by which ID tokens are validated.
    public var now: @Sendable () -> Date = { Date() }

    /// Takes room for the answer before the code is redeemed.
    package var answerSpace: @Sendable () async throws -> AnswerSpace? = { nil }

    /// Whether tokens that are given up must not be revoked.
    package var hasSession: SessionCheck = { _, _ in false }

    /// A flow of one client, over this transport.
    public init(clientID: String, redirectURI: RedirectURI, transport: any HTTPTransport) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.transport = TranslatedTransport(transport)
    }

    /// Shows the issuer's pages in `userAgent` and returns the tokens of who signed in there.
    ///
    /// Cancelling the task ends it; so does the request's time limit.
    ///
    /// - Throws: ``SignInError``.
    public func signIn(
        _ request: InteractiveRequest,
        at authority: Authority,
        in userAgent: some UserAgent
    ) async throws -> SignedInTokens {
        try await signIn(request, at: authority, in: userAgent, PendingRedirect(state: .random()))
    }

    /// The listener of a loopback redirect receives the answer, or the app hands it to `pendingRedirect`.
    func signIn(
        _ request: InteractiveRequest,
        at authority: Authority,
        in userAgent: some UserAgent,
        _ pendingRedirect: PendingRedirect
    ) async throws -> SignedInTokens {
        try await OperationSpan.run(.signIn) { span in
            span.setServer(authority.url)
            return try await signedIn(request, at: authority, in: userAgent, pendingRedirect)
        }
    }

    private func signedIn(
        _ request: InteractiveRequest,
        at authority: Authority,
        in userAgent: some UserAgent,
        _ pendingRedirect: PendingRedirect
    ) async throws -> SignedInTokens {
        do {
            try AuthorizationRequest.check(request)
            let issuer = try await issuer(of: authority)
            let listener = try await RedirectListener(redirectURI, request.responseMode, pendingRedirect)
            let (sent, code): (AuthorizationRequest, Secret)
            do {
                let place = listener?.redirectURI ?? redirectURI.text
                sent = try self.request(request, at: authority, issuer, place, state: pendingRedirect.state)
                code = try await self.code(for: request, sent, in: userAgent, pendingRedirect, listener)
            } catch {
                await listener?.stop()
                throw error
            }
            await listener?.stop()
            return try await tokens(for: code, sent, issuer, of: request.account, in: try await answerSpace())
        } catch {
            throw SignInError.thrown(for: error)
        }
    }

    /// Who is asked for tokens, with what it publishes now.
    func issuer(of authority: Authority) async throws -> Issuer {
        try await Issuer(IssuerDocuments(of: authority, transport: transport, limits: limits, now: now))
    }

    /// The authorization request that asks an issuer for what `request` does.
    func request(
        _ request: InteractiveRequest,
        at authority: Authority,
        _ issuer: Issuer,
        _ redirectURI: String,
        state: Secret
    ) throws -> AuthorizationRequest {
        AuthorizationRequest(
            issuer: issuer.metadata,
            clientID: clientID,
            redirectURI: redirectURI,
            scope: Self.scope(request.scope, addsScopes: request.addsScopes, authority, issuer.metadata),
            claims: JSONValue.merging(claims: request.claims, capabilities: clientCapabilities),
            resource: request.extraParameters["resource"],
            state: state,
            dpopKey: try dpop.newKey(at: issuer.metadata),
            maximumAge: request.maximumAge,
            begun: request.maximumAge.map { _ in now().unixSeconds }
        )
    }

    /// Redeems the code for tokens, which have to be `account`'s if there is one.
    func tokens(
        for code: Secret,
        _ sent: AuthorizationRequest,
        _ issuer: Issuer,
        of account: Account?,
        in space: AnswerSpace?,
        _ redemption: Redemption? = nil
    ) async throws -> SignedInTokens {
        var exchange = CodeExchange(sent: sent, authority: issuer.authority, issuer: issuer, dpop: dpop, space: space)
        exchange.redemption = redemption
        exchange.hasSession = hasSession
        let tokens = try await exchange.tokens(for: code, by: transport, limits, now: now)
        do {
            guard account.map(tokens.belong) ?? true else { throw SignInError.accountMismatch }
            try tokens.response.requireStorable(for: tokens.request)
            try Task.checkCancellation()
        } catch {
            await issuer.giveUp(tokens.response, of: tokens.request, unless: hasSession)
            throw error
        }
        return tokens
    }

    /// Shows the page, and waits for the code that comes for it.
    private func code(
        for request: InteractiveRequest,
        _ sent: AuthorizationRequest,
        in userAgent: some UserAgent,
        _ pendingRedirect: PendingRedirect,
        _ listener: RedirectListener?
    ) async throws -> Secret {
        let address = try sent.address(request)
        do {
            try await userAgent.open(address, startingAt: listener?.start(leadingTo: address))
        } catch let error where !(error is SignInError || error is CancellationError) {
            // A user agent of an app's own may throw errors of any kind.
            throw SignInError.noBrowser("the page could not be shown (\(error))", "show it in another browser")
        }
        return try sent.code(in: try await pendingRedirect.answer(within: request.timeLimit))
    }

    /// The scope to request: if the issuer lists its scopes, only those.
    static func scope(
        _ asked: Scope,
        addsScopes: Bool,
        _ authority: Authority,
        _ metadata: IssuerMetadata
    ) -> Scope {
        guard addsScopes else { return Scope(["openid"] + asked.tokens) }
        let known = authority.issuer == nil ? nil : metadata.document["scopes_supported"]?.array?.compactMap(\.text)
        let wanted = ["profile", "offline_access"].filter { known?.contains($0) ?? true }
        return Scope(["openid"] + wanted + asked.tokens)
    }
}

/// Redeems a code, once, and checks what comes for it
/// ([RFC 6749 §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3)).
private struct CodeExchange: Sendable {
    let sent: AuthorizationRequest
    let authority: Authority
    let issuer: Issuer
    let dpop: DPoPPolicy
    let space: AnswerSpace?
    var redemption: Redemption?
    var hasSession: SessionCheck = { _, _ in false }

    /// - Throws: ``SignInError``, and what the token endpoint throws; nothing is to be stored then.
    func tokens(
        for code: Secret,
        by transport: any HTTPTransport,
        _ limits: HTTPLimits,
        now: @escaping @Sendable () -> Date
    ) async throws -> SignedInTokens {
        var form = FormParameters()
        form.append("client_id", sent.clientID)
        form.append("code", code)
        form.append("code_verifier", sent.proofKey.verifier)
        form.append("redirect_uri", sent.redirectURI)
        if authority.issuer == nil {
            form.append("scope", sent.scope.text)
            form.append("client_info", "1")
        }
        form.append("claims", sent.claims?.serialized)
        form.append("resource", sent.resource)
        let bounded = BoundedTransport(transport, end: .now + limits.total)
        let transport = sent.dpopKey?.proving(over: bounded, now: now) ?? bounded
        let endpoint = TokenEndpoint(sent.issuer.tokenEndpoint, transport: transport, limits: limits)
        let answer = try await sent.dpopKey.explainingRefusal {
            do {
                return try await endpoint.sendToTheEnd(.authorizationCode, form, now: now().unixSeconds)
            } catch {
                let mayBeSpent =
                    (error as? HTTPTransportError)?.mayHaveTakenEffect
                    ?? (error as? IssuerUnavailable)?.mayHaveTakenEffect ?? true
                if !mayBeSpent { await redemption?.release() }
                throw error
            }
        }
        var request = TokenRequest(
            clientID: sent.clientID,
            authority: authority,
            scope: sent.scope,
            grant: .authorizationCode
        )
        request.newKey = sent.dpopKey?.stored
        request.resource = sent.resource
        do {
            try dpop.check(answer.response, boundTo: request.newKey)
            let idToken = try await checked(answer, now: now)
            return SignedInTokens(
                response: answer.response,
                request: request,
                idToken: idToken,
                documents: issuer.documents,
                space: space,
                userInfo: issuer.userInfo(besides: idToken, answer.response, sent.dpopKey, now: now)
            )
        } catch {
            await issuer.giveUp(answer.response, of: request, unless: hasSession)
            throw error
        }
    }

    private func checked(_ answer: TokenEndpointAnswer, now: @Sendable () -> Date) async throws -> IDToken {
        try answer.response.requireTokenText()
        guard let secret = answer.response.idToken else { throw SignInError.noIDToken }
        let now = now().unixSeconds
        let validator = sent.validator(beside: answer.response.accessToken, at: now)
        return try await issuer.checked(secret, by: validator, clocks: [now, answer.issuerNow])
    }
}

extension DPoPKey? {
    /// Runs a token request, whose refusal for want of a proof says to sign in with a key where there is none.
    func explainingRefusal<Answer: Sendable>(_ request: () async throws -> Answer) async throws -> Answer {
        do {
            return try await request()
        } catch let error as OAuthError where self == nil && error.isAboutProof {
            throw DPoPError.unproven(error)
        }
    }
}

extension DPoPKey {
    /// A transport whose requests have proofs of the key, and of an access token that goes with them.
    func proving(
        over transport: any HTTPTransport,
        servers: DPoPServers = DPoPServers(),
        accessToken: Secret? = nil,
        now: @escaping @Sendable () -> Date
    ) -> any HTTPTransport {
        DPoPTransport(self, servers: servers, transport: transport, accessToken: accessToken) {
            now().unixSeconds
        }
    }
}
