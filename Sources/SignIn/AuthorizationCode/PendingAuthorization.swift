public import OAuth
import OpenIDConnect
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-in that a web app has sent a browser away for; any process of the app can finish it.
///
/// ```swift
/// let (address, pending) = try await application.beginSignIn(InteractiveRequest(scope: "api://todo/Read"))
/// // Send the browser to `address`, with `pending.secret` in a sealed cookie; then, where it comes back to:
/// let result = try await application.finishSignIn(PendingAuthorization(secret), answer: query)
/// ```
///
/// The answer is tied to the browser that was sent away by nothing but this: keep it where that browser alone brings it
/// back, or another person's answer can be slipped in. Delete it once the sign-in is finished.
public struct PendingAuthorization: Sendable {
    let clientID: String
    let redirectURI: String
    let authority: Authority
    let scope: Scope
    let claims: JSONValue?
    let resource: String?
    let state: Secret
    let nonce: Secret
    let verifier: Secret
    let dpopKey: BoundKey?
    let account: Account?
    let requiresAllScopes: Bool
    let maximumAge: Int64?
    let begun: Int64?

    /// When it is too late to finish it.
    public let end: Date

    init(_ sent: AuthorizationRequest, _ request: InteractiveRequest, at authority: Authority, end: Date) {
        (clientID, redirectURI, self.authority, scope) = (sent.clientID, sent.redirectURI, authority, sent.scope)
        (claims, resource, state) = (sent.claims, sent.resource, sent.state)
        (nonce, verifier) = (sent.nonce, sent.proofKey.verifier)
        (dpopKey, account, requiresAllScopes) = (sent.dpopKey?.stored, request.account, request.requiresAllScopes)
        (maximumAge, begun, self.end) = (sent.maximumAge, sent.begun, end)
    }

    /// The request that was sent, to the issuer as it is now.
    func request(to issuer: IssuerMetadata) throws -> AuthorizationRequest {
        AuthorizationRequest(
            issuer: issuer,
            clientID: clientID,
            redirectURI: redirectURI,
            scope: scope,
            claims: claims,
            resource: resource,
            state: state,
            dpopKey: try dpopKey.map { try DPoPKey($0) },
            nonce: nonce,
            proofKey: ProofKey(verifier: verifier),
            maximumAge: maximumAge,
            begun: begun
        )
    }
}

// MARK: - Keeping it

extension PendingAuthorization {
    /// All of it as a text of some hundred characters.
    ///
    /// Anyone who reads it can finish the sign-in in place of the person.
    public var secret: Secret {
        var members = JSONValue.Object([
            ("v", 1), ("client", .string(clientID)), ("redirect", .string(redirectURI)), ("scope", .string(scope.text)),
            (authority.issuer == nil ? "authority" : "issuer", .string(authority.url)),
            ("state", .string(state.reveal())), ("nonce", .string(nonce.reveal())),
            ("verifier", .string(verifier.reveal())), ("all", .bool(requiresAllScopes)),
            ("end", .number("\(end.unixSeconds)")),
        ])
        if let claims { members["claims"] = claims }
        if let resource { members["resource"] = .string(resource) }
        for (name, number) in [("max_age", maximumAge), ("begun", begun)] {
            if let number { members[name] = .number("\(number)") }
        }
        if let dpopKey {
            let number = dpopKey.secret.withUnsafeBytes { Base64URL.encode($0) }
            members["key"] = .array([.string(dpopKey.thumbprint), .string(number)])
        }
        if let account {
            let names = [account.id.issuer, account.id.homeAccountID, account.uid, account.utid, account.environment]
            members["account"] = .array(names.map { name in name.map { .string($0) } ?? .null })
        }
        return Secret(JSONValue.object(members).serialized)
    }

    /// Reads what ``secret`` was.
    ///
    /// - Throws: ``SignInError/Code/invalidRequest`` for any other text.
    public init(_ secret: Secret) throws(SignInError) {
        guard let members = try? secret.withUnsafeBytes({ try JSONValue(parsing: $0) }).object,
            members["v"]?.seconds == 1,
            let clientID = members["client"]?.text, let redirectURI = members["redirect"]?.text,
            let scope = members["scope"]?.text, let authority = Self.authority(in: members),
            let state = members["state"]?.text, let nonce = members["nonce"]?.text,
            let verifier = members["verifier"]?.text, !state.isEmpty, !nonce.isEmpty, !verifier.isEmpty,
            let end = members["end"]?.seconds
        else { throw .invalidRequest("the text is not a sign-in that was begun", .startAgain) }
        (self.clientID, self.redirectURI, self.scope, self.authority) = (clientID, redirectURI, Scope(scope), authority)
        (self.state, self.nonce, self.verifier) = (Secret(state), Secret(nonce), Secret(verifier))
        (claims, resource) = (members["claims"], members["resource"]?.text)
        dpopKey = try Self.key(in: members)
        account = try Self.account(in: members)
        requiresAllScopes = members["all"] == .bool(true)
        (maximumAge, begun) = (members["max_age"]?.seconds, members["begun"]?.seconds)
        self.end = Date(unixSeconds: end)
    }

    private static func authority(in members: JSONValue.Object) -> Authority? {
        if let issuer = members["issuer"]?.text { return try? Authority(issuer: issuer) }
        return members["authority"]?.text.flatMap { try? Authority(parsing: $0) }
    }

    private static func key(in members: JSONValue.Object) throws(SignInError) -> BoundKey? {
        guard let parts = members["key"]?.array else { return nil }
        guard parts.count == 2, let thumbprint = parts[0].text,
            let number = parts[1].text.flatMap({ Base64URL.decode($0.utf8) })
        else { throw .invalidRequest("the key of the sign-in cannot be read", .startAgain) }
        return BoundKey(thumbprint: thumbprint, secret: number.withUnsafeBytes { Secret(copying: $0) })
    }

    /// As much of the account as tells whose tokens came.
    private static func account(in members: JSONValue.Object) throws(SignInError) -> Account? {
        guard let names = members["account"]?.array else { return nil }
        guard names.count == 5, let issuer = names[0].text, let id = names[1].text, let environment = names[4].text
        else {
            throw .invalidRequest("the account of the sign-in cannot be read", .startAgain)
        }
        return Account(
            id: Account.ID(issuer: issuer, homeAccountID: id),
            environment: environment,
            issuer: nil,
            username: "",
            name: nil,
            userFlow: nil,
            uid: names[2].text,
            utid: names[3].text,
            tenantProfiles: []
        )
    }
}

// MARK: - Beginning and finishing

extension AuthorizationCodeFlow {
    /// Begins a sign-in whose answer comes to an address of the app's own.
    ///
    /// - Returns: the page to send the browser to, and what ``finish(_:answer:)`` needs when it comes back.
    /// - Throws: ``SignInError``.
    public func begin(
        _ request: InteractiveRequest,
        at authority: Authority
    ) async throws -> (address: String, pending: PendingAuthorization) {
        do {
            try AuthorizationRequest.check(request)
            let issuer = try await issuer(of: authority)
            let sent = try self.request(request, at: authority, issuer, redirectURI.text, state: .random())
            let end = now() + TimeInterval(request.timeLimit.components.seconds)
            return (try sent.address(request), PendingAuthorization(sent, request, at: authority, end: end))
        } catch {
            throw SignInError.thrown(for: error)
        }
    }

    /// Redeems the answer to a sign-in that this process or another began: the query of the redirect, or the form that
    /// was posted.
    ///
    /// It is to be called once for an answer: an issuer may end the session of a code that comes again.
    ///
    /// - Throws: ``SignInError``; `TokenStoreError` where the store has no room for the answer: the code is not spent
    ///   then, and may be redeemed later.
    public func finish(_ pending: PendingAuthorization, answer: String) async throws -> SignedInTokens {
        try await redeeming(answer, to: pending) { code, sent, issuer in
            try await tokens(for: code, sent, issuer, of: pending.account, in: try await answerSpace())
        }
    }

    /// The same, unless this or another process redeemed the answer before; then nil, with who signed in by it.
    func finish(
        _ pending: PendingAuthorization,
        answer: String,
        _ redemption: Redemption
    ) async throws -> (tokens: SignedInTokens?, earlier: Account.ID?) {
        try await redeeming(answer, to: pending) { code, sent, issuer in
            let space = try await answerSpace()
            if let account = try await redemption.begin(code) { return (nil, account) }
            return (try await tokens(for: code, sent, issuer, of: pending.account, in: space, redemption), nil)
        }
    }

    private func redeeming<Result: Sendable>(
        _ answer: String,
        to pending: PendingAuthorization,
        _ redeem: (Secret, AuthorizationRequest, Issuer) async throws -> Result
    ) async throws -> Result {
        try await OperationSpan.run(.signIn) { span in
            span.setServer(pending.authority.url)
            do {
                let response = AuthorizationResponse(answer.utf8)
                try check(response, answers: pending)
                let issuer = try await issuer(of: pending.authority)
                let sent = try pending.request(to: issuer.metadata)
                return try await redeem(try sent.code(in: response), sent, issuer)
            } catch {
                throw SignInError.thrown(for: error)
            }
        }
    }

    private func check(_ response: AuthorizationResponse, answers pending: PendingAuthorization) throws(SignInError) {
        guard pending.clientID == clientID, pending.redirectURI == redirectURI.text else {
            throw .invalidRequest("the sign-in was begun by another client or for another redirect URI", .startAgain)
        }
        guard now() < pending.end else { throw .timedOut }
        guard response["state"] == pending.state else { throw .foreignAnswer }
        if let flaw = response.flaw { throw .invalidAnswer(flaw) }
    }
}

extension PublicClientApplication {
    /// Begins a sign-in whose answer comes to an address of the app's own, as a web app's does.
    ///
    /// Any number may be under way at once.
    ///
    /// - Returns: the page to send the browser to, and what ``finishSignIn(_:answer:)`` needs when it comes back.
    /// - Throws: ``SignInError``.
    public func beginSignIn(
        _ request: InteractiveRequest
    ) async throws -> (address: String, pending: PendingAuthorization) {
        try await flow.begin(request, at: configuration.checked(request.authority))
    }

    /// Finishes a sign-in that this process or another began, and stores everything in one commit.
    ///
    /// `answer` is the query of the redirect, without the question mark, or the form that was posted. It is redeemed
    /// once, of however many processes on the store it comes to: where it has signed in an account before, as when a
    /// page is loaded again, the result is that account with what the store has of it.
    ///
    /// - Throws: ``SignInError``; `TokenStoreError`, which carries tokens that could not be stored.
    public func finishSignIn(_ pending: PendingAuthorization, answer: String) async throws -> AuthenticationResult {
        _ = try configuration.checked(pending.authority)
        let redemption = Redemption(of: pending, in: store)
        do {
            let (tokens, earlier) = try await flow.finish(pending, answer: answer, redemption)
            guard let tokens else { return try await stored(earlier, pending) }
            let result = try await save(tokens, requiringAllScopes: pending.requiresAllScopes)
            await redemption.end(result.account.id)
            return result
        } catch {
            await redemption.end(nil)
            throw error
        }
    }

    /// What the store has of a sign-in that was finished before.
    private func stored(_ id: Account.ID?, _ pending: PendingAuthorization) async throws -> AuthenticationResult {
        let decider = manager.decider
        let result = try await store.performRead { store -> AuthenticationResult? in
            guard let id, let account = try store.account(id),
                let idToken = try store.idToken(of: id, client: pending.clientID, from: pending.authority)?.idToken,
                // That of another sign-in: the session that this answer brought has ended. A refresh may leave it out.
                idToken.claims.payload["nonce"]?.text.map({ Secret($0) == pending.nonce }) ?? true
            else { return nil }
            let request = SilentRequest(account: id, scope: pending.scope)
            let token = if case .serve(let token) = try decider.decide(request) { token } else { nil as TokenResult? }
            return AuthenticationResult(token, of: account, idToken, at: pending.authority)
        }
        guard let result else { throw SignInError.answerUsed }
        return result
    }
}
