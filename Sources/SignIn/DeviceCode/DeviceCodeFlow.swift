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

/// Signs in a person who decides on another device, such as a telephone
/// ([RFC 8628](https://www.rfc-editor.org/rfc/rfc8628)).
///
/// It stores nothing: what it returns has been checked and is to be saved in one commit.
///
/// ```swift
/// let flow = DeviceCodeFlow(clientID: "my-app", transport: transport)
/// let device = try await flow.begin("api://todo/Read", at: authority)
/// print("Open \(device.authorization.verificationURI) and enter \(device.authorization.userCode).")
/// let account = try await store.save(try await device.tokens()).account
/// ```
public struct DeviceCodeFlow: Sendable {
    /// The client that signs people in.
    public let clientID: String
    let transport: any HTTPTransport

    /// The limits of each request to the issuer.
    public var limits = HTTPLimits.issuer

    /// How long the person may take, if that is less than the codes live.
    public var timeLimit: Duration?

    /// Whether the tokens are bound to a new key ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
    public var dpop = DPoPPolicy.off

    /// Whether `profile` and `offline_access` are asked for besides: see ``InteractiveRequest/addsScopes``.
    public var addsScopes = true

    /// Parameters that the issuer knows and OAuth does not, such as `audience`.
    ///
    /// The codes are redeemed with `resource` as well, and refreshes sent ([RFC
    /// 8707](https://www.rfc-editor.org/rfc/rfc8707)).
    public var extraParameters: [String: String] = [:]

    /// Microsoft's `xms_cc`: what the client can do, such as `CP1`.
    public var clientCapabilities: [String] = []

    /// The clock by which ID tokens are validated.
    public var now: @Sendable () -> Date = { Date() }

    /// The clock by which codes end: setting the system's time does not move it, and it runs while the machine sleeps.
    package var instant: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Takes room for the answer before the codes are redeemed.
    package var answerSpace: @Sendable () async throws -> AnswerSpace? = { nil }

    /// Whether tokens that are given up must not be revoked.
    package var hasSession: SessionCheck = { _, _ in false }

    /// How long tokens that may be on their way are waited for when the sign-in is cancelled.
    package var patience = Duration.seconds(2)

    /// How the time between two requests is waited.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// A flow of one client, over this transport.
    public init(clientID: String, transport: any HTTPTransport) {
        self.clientID = clientID
        self.transport = TranslatedTransport(transport)
    }

    /// The time in Unix seconds.
    var seconds: Int64 { now().unixSeconds }

    /// Asks the issuer for the codes; the scopes for an ID token and a refresh token are added to `scope`.
    ///
    /// - Throws: ``SignInError``.
    public func begin(_ scope: Scope, at authority: Authority) async throws -> PendingDevice {
        do {
            try SignInError.requireText(scope)
            try SignInError.requireValid(extraParameters)
            guard extraParameters["max_age"] == nil else {
                throw SignInError.invalidRequest("max_age is not for a sign-in by device", .correct("leave it out"))
            }
            let issuer = try await Issuer(
                IssuerDocuments(of: authority, transport: transport, limits: limits, now: now)
            )
            guard let url = issuer.metadata.deviceAuthorizationEndpoint else {
                throw SignInError.noDeviceEndpoint(issuer.metadata.issuer)
            }
            let key = try dpop.newKey(at: issuer.metadata)
            let scope = AuthorizationCodeFlow.scope(scope, addsScopes: addsScopes, authority, issuer.metadata)
            var form = FormParameters()
            form.append("client_id", clientID)
            form.append("scope", scope.text)
            form.append(extraParameters)
            let endpoint = DeviceAuthorizationEndpoint(url, transport: transport, limits: limits)
            let (authorization, proofKey) = try await authorized(form, at: endpoint)
            let lifetime = authorization.lifetime
            var request = TokenRequest(clientID: clientID, authority: authority, scope: scope, grant: .deviceCode)
            request.newKey = key?.stored
            request.resource = extraParameters["resource"]
            return PendingDevice(
                authorization: authorization,
                flow: self,
                issuer: issuer,
                request: request,
                key: key,
                proofKey: proofKey,
                timeLimit: timeLimit.map { min($0, lifetime) } ?? lifetime,
                startedAt: instant()
            )
        } catch {
            throw SignInError.thrown(for: error)
        }
    }

    /// Sends the request, and once more with a proof key where the client may not do without, as at Keycloak.
    ///
    /// RFC 8628 has no proof key, so other issuers are sent none.
    private func authorized(
        _ form: FormParameters,
        at endpoint: DeviceAuthorizationEndpoint
    ) async throws -> (DeviceAuthorization, ProofKey?) {
        do {
            return (try await endpoint.send(form, now: seconds), nil)
        } catch let error as OAuthError
            where error.code == .invalidRequest && error.serverDescription?.contains("code_challenge") == true
        {
            let proofKey = ProofKey()
            var form = form
            form.append(proofKey)
            return (try await endpoint.send(form, now: seconds), proofKey)
        }
    }
}

/// A sign-in that waits for a person on another device.
public struct PendingDevice: Sendable {
    /// What to show.
    public let authorization: DeviceAuthorization

    package var flow: DeviceCodeFlow
    let issuer: Issuer
    let request: TokenRequest

    /// The key that the tokens are bound to, if they are; the requests have proofs of it.
    let key: DPoPKey?
    private let servers = DPoPServers()

    /// What the codes are bound to, where the issuer wants that.
    let proofKey: ProofKey?

    /// How long the person has: while the codes live, or less if the app waits less.
    public let timeLimit: Duration

    let startedAt: ContinuousClock.Instant

    private var metadata: IssuerMetadata { issuer.metadata }

    private func send(_ grant: Grant, _ form: FormParameters) async throws -> TokenEndpointAnswer {
        let bounded = BoundedTransport(flow.transport, end: .now + flow.limits.total)
        let transport = key?.proving(over: bounded, servers: servers, now: flow.now) ?? bounded
        let endpoint = TokenEndpoint(metadata.tokenEndpoint, transport: transport, limits: flow.limits)
        return try await key.explainingRefusal {
            try await endpoint.sendToTheEnd(grant, form, now: flow.seconds, patience: flow.patience)
        }
    }

    /// Waits until the person has decided, and returns the tokens, checked and not yet stored.
    ///
    /// Cancelling the task ends the waiting; tokens that come within two seconds are revoked.
    ///
    /// - Throws: ``SignInError``; `TokenStoreError` where the store has no room for the answer, which is not asked for
    ///   then.
    public func tokens() async throws -> SignedInTokens {
        do {
            var (answer, space) = try await decision()
            do {
                try Task.checkCancellation()
                answer = try await identified(answer)
                let idToken = try await checked(answer)
                try answer.response.requireStorable(for: request)
                try Task.checkCancellation()
                return SignedInTokens(
                    response: answer.response,
                    request: request,
                    idToken: idToken,
                    documents: issuer.documents,
                    space: space,
                    userInfo: issuer.userInfo(besides: idToken, answer.response, key, now: flow.now)
                )
            } catch {
                await issuer.giveUp(answer.response, of: request, unless: flow.hasSession)
                throw error
            }
        } catch {
            throw SignInError.thrown(for: error)
        }
    }

    /// Asks until there is an answer.
    private func decision() async throws -> (TokenEndpointAnswer, AnswerSpace?) {
        var form = form
        authorization.append(to: &form)
        form.append("code_verifier", proofKey?.verifier)
        var polling = DevicePolling(interval: authorization.interval)
        var delay = polling.interval
        while true {
            let left = timeLeft
            guard left > .zero else {
                // The person may have decided, and the issuer could not say so.
                if let outage = polling.outage { throw outage }
                throw timeLimit < authorization.lifetime ? SignInError.timedOut : .codeEnded
            }
            try await flow.pause(min(delay, left))
            do {
                let space = try await flow.answerSpace()
                return (try await send(.deviceCode, form), space)
            } catch {
                try Task.checkCancellation()
                delay = try polling.delay(after: error)
            }
        }
    }

    /// The time left; changes of the clock have no effect on it.
    private var timeLeft: Duration { timeLimit - (flow.instant() - startedAt) }

    /// The tokens with an ID token, which some issuers send only with the first refresh.
    private func identified(_ first: TokenEndpointAnswer) async throws -> TokenEndpointAnswer {
        try first.response.requireTokenText()
        guard first.response.idToken == nil, let refreshToken = first.response.refreshToken else { return first }
        var form = form
        form.append("refresh_token", refreshToken)
        // Without a scope parameter the scope is all that was granted. Microsoft's issuers need the parameter.
        if request.authority.issuer == nil { form.append("scope", request.scope.text) }
        let second = try await refreshed(form)
        var tokens = second.response
        if tokens.refreshToken == nil {
            tokens.refreshToken = refreshToken
            tokens.refreshTokenExpiresIn = first.response.refreshTokenExpiresIn
        }
        tokens.familyID = tokens.familyID ?? first.response.familyID
        tokens.scope = tokens.scope ?? first.response.scope
        tokens.clientInfo = tokens.clientInfo ?? first.response.clientInfo
        return TokenEndpointAnswer(response: tokens, issuerNow: second.issuerNow)
    }

    /// Sends the refresh, and twice more where the way to the issuer or the issuer itself failed.
    ///
    /// The person has decided, so it is sent even when the time is over; but no pause goes beyond that.
    private func refreshed(_ form: FormParameters) async throws -> TokenEndpointAnswer {
        var polling = DevicePolling(interval: .seconds(1))
        var repetitions = 2
        while true {
            do {
                return try await send(.refreshToken, form)
            } catch {
                try Task.checkCancellation()
                let delay = try polling.delay(after: error)
                guard repetitions > 0 else { throw error }
                repetitions -= 1
                try await flow.pause(min(delay, max(timeLeft, .zero)))
            }
        }
    }

    private func checked(_ answer: TokenEndpointAnswer) async throws -> IDToken {
        try answer.response.requireTokenText()
        try flow.dpop.check(answer.response, boundTo: request.newKey)
        guard let secret = answer.response.idToken else { throw SignInError.noIDToken }
        var validator = IDTokenValidator(issuer: metadata.issuer, clientID: flow.clientID)
        validator.accessToken = answer.response.accessToken
        return try await issuer.checked(secret, by: validator, clocks: [flow.seconds, answer.issuerNow])
    }

    private var form: FormParameters {
        var form = FormParameters()
        form.append("client_id", flow.clientID)
        if request.authority.issuer == nil { form.append("client_info", "1") }
        let claims = JSONValue.merging(claims: nil, capabilities: flow.clientCapabilities)
        form.append("claims", claims?.serialized)
        // RFC 8707 §2.2: the codes stand for a person's consent, and do not always remember the API.
        form.append("resource", flow.extraParameters["resource"])
        return form
    }
}
