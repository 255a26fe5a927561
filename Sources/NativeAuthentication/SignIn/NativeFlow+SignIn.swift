import Logging
package import OAuth
import OpenIDConnect
import SignIn
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension NativeFlow {
    /// Begins a sign-in, and ends it where a password was given that the issuer asks for.
    func startSignIn(_ password: Secret?) async throws(NativeRequestFailure) -> SignInStartResult {
        try requireAnswerable()
        let token = try await start(.initiate)
        switch try await challenge(.challenge, token) {
        case .code(let delivery, let token):
            if password != nil {
                configuration.logger.warning("the issuer asks for a code, and the password was not sent")
            }
            return .codeRequired(SignInCodeRequiredState(flow: self, token: token, delivery: delivery))
        case .password(let token):
            guard let password else {
                return .passwordRequired(SignInPasswordRequiredState(flow: self, token: token))
            }
            return SignInStartResult(try await signIn(.password(password), token))
        case .preverified: throw unexpected("asks for nothing", at: .challenge)
        }
    }

    /// Refuses what would come of no answer, before anything is asked or spent for it: a scope that no store takes, and
    /// tokens that are bound to a key, as no proof of one goes with these requests.
    private func requireAnswerable() throws(NativeRequestFailure) {
        guard configuration.tokenOptions.dpop != .required else {
            throw failed(DPoPError.unsupported("native authentication"))
        }
        do throws(SignInError) {
            try SignInError.requireText(scope)
        } catch {
            throw failed(error)
        }
    }

    /// The flow for the sign-in that follows a sign-up or a reset.
    func signingIn(_ scope: Scope, _ claims: JSONValue?) -> NativeFlow {
        var flow = self
        flow.scope = scope
        flow.claims = claims
        flow.isSignUp = false
        return flow
    }

    /// Signs in with what a sign-up or a reset left.
    func signIn(after token: Secret?) async throws(NativeRequestFailure) -> SignInResult {
        guard let token else {
            throw NativeRequestFailure(
                cause: .unexpected("held nothing to sign in with", .signIn("sign in as usual")),
                correlationID: correlationID
            )
        }
        return try await signIn(.continuation, token)
    }
}

extension NativeFlow {
    /// Asks for tokens, checks them and stores them in one commit, or goes on to the second factor.
    func signIn(_ grant: NativeGrant, _ token: Secret) async throws(NativeRequestFailure) -> SignInResult {
        do {
            return .completed(try await tokens(grant, token))
        } catch {
            guard let factor = error.refusal?.furtherFactor, let next = error.continuationToken else { throw error }
            switch factor {
            case .registered:
                let (token, methods) = try await methods(.introspect, next)
                return .awaitingMFA(AwaitingMFAState(flow: self, token: token, authMethods: methods))
            case .unregistered:
                let (token, methods) = try await methods(.registerIntrospect, next)
                let state = RegisterStrongAuthState(flow: self, token: token, authMethods: methods)
                return .strongAuthMethodRegistration(state)
            }
        }
    }

    /// Asks for tokens, checks them and stores them in one commit.
    func tokens(_ grant: NativeGrant, _ token: Secret) async throws(NativeRequestFailure) -> NativeAuthUserAccount {
        // That of a sign-in after a sign-up or a reset is given only here.
        try requireAnswerable()
        let asked = Scope(scope.tokens + ["openid", "profile", "offline_access"])
        var form = form(token)
        form.append("grant_type", grant.name.rawValue)
        form.append("username", grant.sendsUsername ? username : nil)
        form.append(grant.credentialName, grant.credential)
        form.append("challenge_type", grant.sendsChallengeTypes ? configuration.challengeTypes.text : nil)
        form.append("scope", asked.text)
        let capabilities = configuration.tokenOptions.clientCapabilities
        form.append("claims", JSONValue.merging(claims: claims, capabilities: capabilities)?.serialized)
        form.append("client_info", "true")
        // Fetched before anything is spent: between the tokens and the commit nothing is to take its time.
        let issuer = try await issuer()
        let space = try await answerSpace()
        let reply = try await sendToTheEnd(form)
        do {
            let signedIn = try await checked(reply, asked, grant, issuer, space)
            do {
                try Task.checkCancellation()
            } catch {
                await giveUp(signedIn.response, of: signedIn.request, issuer)
                throw error
            }
            return try await application.keep(signedIn, scope: scope)
        } catch {
            throw NativeRequestFailure(
                cause: .failed(error),
                correlationID: reply.correlationID,
                endpoint: .token,
                endsFlow: true
            )
        }
    }

    /// Asks for tokens; where the task is cancelled they are waited for a little, as nothing else could revoke them.
    private func sendToTheEnd(_ form: FormParameters) async throws(NativeRequestFailure) -> NativeResponse {
        guard !Task.isCancelled else { throw failed(CancellationError()) }
        do {
            return try await runToTheEnd(patience: configuration.patience) { try await send(.token, form) }
        } catch let failure as NativeRequestFailure {
            throw failure
        } catch {
            throw NativeRequestFailure(cause: .failed(error), correlationID: correlationID, endpoint: .token)
        }
    }

    private func issuer() async throws(NativeRequestFailure) -> Issuer {
        do {
            let documents = IssuerDocuments(
                of: configuration.authority,
                transport: application.transport,
                limits: configuration.tokenOptions.limits,
                now: application.now
            )
            return try await Issuer(documents)
        } catch {
            throw failed(error)
        }
    }

    private func answerSpace() async throws(NativeRequestFailure) -> AnswerSpace {
        do {
            return try await application.store.perform { try $0.reserveAnswerSpace() }
        } catch {
            throw failed(error)
        }
    }

    private func checked(
        _ reply: NativeResponse,
        _ asked: Scope,
        _ grant: NativeGrant,
        _ issuer: Issuer,
        _ space: AnswerSpace
    ) async throws -> SignedInTokens {
        let response = TokenResponse(reply.object)
        var request = TokenRequest(
            clientID: configuration.clientID,
            authority: configuration.authority,
            scope: asked,
            grant: Grant(rawValue: grant.name.rawValue)
        )
        request.username = username
        do {
            try response.requireTokenText()
            // No key was shown, so that the tokens are bound to none.
            try configuration.tokenOptions.dpop.check(response, boundTo: nil)
            guard response.accessToken != nil else { throw SignInError.invalidAnswer("has no access token") }
            guard let secret = response.idToken else { throw SignInError.noIDToken }
            var validator = IDTokenValidator(issuer: issuer.metadata.issuer, clientID: configuration.clientID)
            validator.accessToken = response.accessToken
            let clocks = [application.now().unixSeconds, reply.issuerNow]
            let idToken = try await issuer.checked(secret, by: validator, clocks: clocks)
            try response.requireStorable(for: request)
            return SignedInTokens(
                response: response,
                request: request,
                idToken: idToken,
                documents: issuer.documents,
                space: space
            )
        } catch {
            await giveUp(response, of: request, issuer)
            throw error
        }
    }

    private func giveUp(_ response: TokenResponse, of request: TokenRequest, _ issuer: Issuer) async {
        await issuer.giveUp(response, of: request) { [store = application.store] in
            await store.mayHaveSession(besides: $0, for: $1)
        }
    }
}

/// What a token request of a native flow offers beside its continuation token.
enum NativeGrant: Sendable {
    case password(Secret)
    case code(Secret)
    case secondFactor(Secret)

    /// After a sign-up or a reset.
    case continuation

    /// After a method was registered.
    case registration

    /// What `grant_type` may be.
    enum Name: String {
        case password
        case code = "oob"
        case secondFactor = "mfa_oob"
        case continuation = "continuation_token"
    }

    var name: Name {
        switch self {
        case .password: .password
        case .code: .code
        case .secondFactor: .secondFactor
        case .continuation, .registration: .continuation
        }
    }

    var credentialName: String {
        if case .password = self { "password" } else { "oob" }
    }

    var credential: Secret? {
        switch self {
        case .password(let secret), .code(let secret), .secondFactor(let secret): secret
        case .continuation, .registration: nil
        }
    }

    var sendsUsername: Bool {
        switch self {
        case .password, .continuation: true
        default: false
        }
    }

    var sendsChallengeTypes: Bool {
        switch self {
        case .password, .continuation, .registration: true
        default: false
        }
    }
}

extension Grant {
    /// Whether it has the name of one by which a native flow gets tokens.
    package var isNative: Bool { NativeGrant.Name(rawValue: rawValue) != nil }
}
