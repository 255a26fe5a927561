import HTTPTransport
import OAuth
import OpenIDConnect
import SignIn
import TokenManagement
import TokenStorage

/// A sign-in on the issuer's page, in a browser here or on another device.
struct BrowserLogin {
    let clientID: String
    let redirect: RedirectArguments
    let network: NetworkArguments
    let arguments: StoreArguments

    /// Whether the tokens are bound to a new key.
    var dpop = DPoPPolicy.off

    /// Signs in and stores the session.
    func run(_ request: InteractiveRequest, at authority: Authority) throws {
        let console = arguments.console
        // Fails before the sign-in if the store cannot be opened; a new store is made when there is something to save.
        let store = try arguments.openOrDefer(console)
        defer { store.close() }
        let transport = try network.transport()
        let page = pageFlow(store, transport)
        let device = DeviceLogin(flow: deviceFlow(request, store, transport), isJSON: arguments.json)
        let browser = AnnouncedBrowser(opens: !redirect.noBrowser)
        let isOnDevice = redirect.device
        let (result, hasRefreshToken) = try completingFailures(of: request, at: authority) {
            try AsynchronousWork.run(keepingAnswersOf: store, throwsInterrupt: true) {
                let tokens =
                    isOnDevice
                    ? try await device.signIn(request.scope, at: authority)
                    : try await page.signIn(request, at: authority, in: browser)
                return (try await store.save(tokens), tokens.response.refreshToken != nil)
            }
        }
        if !hasRefreshToken, !result.isRenewable(by: clientID, at: authority, in: store) {
            warnOfEnd(of: request, at: authority, console)
        }
        try console.report("signed in", result, to: clientID, in: store, asJSON: arguments.json)
    }

    /// Runs `body`, whose failure then says which issuer it is about, and which command asks the person for what the
    /// issuer misses.
    private func completingFailures<Result>(
        of request: InteractiveRequest,
        at authority: Authority,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as SignInError {
            var failure = CommandFailure(error)
            if error.remedy?.code == .useDevice {
                var command = ProposedCommand(signingInAt: authority, client: clientID, request.scope)
                command.add(request)
                command.add("--device")
                command.add("--ca-file", network.caFile)
                command.add(arguments)
                failure = failure.hinting("sign in with '\(command.text)'")
            } else if error.wantsKey, dpop == .off {
                let command = command(for: request, request.prompt, at: authority, bindsTokens: true)
                failure = failure.hinting("sign in with '\(command)'")
            } else if let claims = error.wantedClaims {
                // Claims are asked for on a page alone.
                let wanted = JSONValue.merging(claims: request.claims, claims)
                var next = request
                next.claims = wanted
                failure = failure.hinting(
                    wanted == request.claims
                        ? "ask the operator of the issuer, which wants claims that were asked for"
                        : "sign in again with '\(command(for: next, request.prompt, at: authority))'"
                )
            } else if error.neededPrompt != nil, redirect.device {
                failure = failure.hinting("sign in without --device, on a machine with a browser")
            } else if let prompt = error.neededPrompt, prompt == request.prompt {
                failure = failure.hinting("ask the operator of the issuer, which may ask the person and did not")
            } else if let prompt = error.neededPrompt {
                failure = failure.hinting("sign in again with '\(command(for: request, prompt, at: authority))'")
            }
            if error.refusal?.isAboutScope == true, request.addsScopes, authority.issuer != nil {
                failure = failure.hinting(
                    "correct --scope; or leave out profile and offline_access, which are added to it where the issuer has "
                        + "them, with --exact-scope"
                )
            }
            failure.facts.concern(issuer: authority.url)
            throw failure
        }
    }

    /// The command that signs in as `request` says, and has the issuer ask the person.
    private func command(
        for request: InteractiveRequest,
        _ prompt: Prompt?,
        at authority: Authority,
        bindsTokens: Bool = false
    ) -> String {
        var next = request
        next.prompt = prompt
        var command = ProposedCommand(signingIn: next, at: authority, client: clientID, redirect, network)
        if dpop == .required || bindsTokens { command.add("--dpop") }
        if bindsTokens, redirect.device { command.add("--device") }
        command.add(arguments)
        return command.text
    }

    /// Says that the session, which has no refresh token, ends with its access token.
    private func warnOfEnd(of request: InteractiveRequest, at authority: Authority, _ console: Console) {
        let problem = "the issuer gave no refresh token, so that the session ends with its access token"
        let mayBeAsked = authority.givesRefreshTokensByConsent && !redirect.device && request.prompt != .consent
        guard mayBeAsked, request.addsScopes else { return console.warn(problem) }
        var next = request
        next.scope = request.scope.forOfflineAccess
        let command = command(for: next, .consent, at: authority)
        console.warn("\(problem); where it wants consent for one, sign in with '\(command)'")
    }

    private func pageFlow(_ store: TokenStore, _ transport: AsyncHTTPTransport) -> AuthorizationCodeFlow {
        var flow = AuthorizationCodeFlow(clientID: clientID, redirectURI: redirect.redirectURI, transport: transport)
        flow.limits = network.options(arguments).limits
        flow.dpop = dpop
        flow.answerSpace = { try await store.perform { try $0.reserveAnswerSpace() } }
        flow.hasSession = { await store.mayHaveSession(besides: $0, for: $1) }
        return flow
    }

    private func deviceFlow(
        _ request: InteractiveRequest,
        _ store: TokenStore,
        _ transport: AsyncHTTPTransport
    ) -> DeviceCodeFlow {
        var flow = DeviceCodeFlow(clientID: clientID, transport: transport)
        flow.addsScopes = request.addsScopes
        flow.extraParameters = request.extraParameters
        flow.limits = network.options(arguments).limits
        flow.dpop = dpop
        flow.timeLimit = redirect.wait.map { .seconds($0) }
        flow.answerSpace = { try await store.perform { try $0.reserveAnswerSpace() } }
        flow.hasSession = { await store.mayHaveSession(besides: $0, for: $1) }
        return flow
    }
}

extension SignInError {
    /// Whether the issuer binds tokens to a key, and was shown none.
    fileprivate var wantsKey: Bool { dpopError?.code == .noKey || dpopError?.code == .unaskedBinding }
}

extension OAuthError {
    /// Whether a scope is the reason; Keycloak has a code of its own for a person who may have no offline session.
    fileprivate var isAboutScope: Bool {
        code == .invalidScope
            || code.rawValue == "not_allowed" && serverDescription?.lowercased().contains("offline") == true
    }
}

extension AuthenticationResult {
    /// Whether the store has a refresh token of an earlier sign-in, as some issuers give one at the first alone.
    ///
    /// One that has ended is none, nor is one that is bound to another key than the newest.
    fileprivate func isRenewable(by client: String, at authority: Authority, in store: TokenStore) -> Bool {
        let query = TokenQuery(account: account.id, clientID: client, scope: scope)
        let state = try? store.silentState(for: query) { _ in authority }
        guard let kept = state?.candidates, (try? store.hasBoundAccessTokens(of: account.id, client: client)) == false
        else { return false }
        return kept.contains { $0.attempt?.hasEnded != true && $0.token.clientID.folded == client.folded }
    }
}

/// A sign-in that a person takes part in on another device.
private struct DeviceLogin: Sendable {
    let flow: DeviceCodeFlow

    /// Whether a program reads the code and hands it on.
    let isJSON: Bool

    func signIn(_ scope: Scope, at authority: Authority) async throws -> SignedInTokens {
        let device = try await flow.begin(scope, at: authority)
        announce(device.authorization, within: device.timeLimit.components.seconds)
        return try await device.tokens()
    }

    /// On standard error, as standard output is for the answer; also with --quiet, as the sign-in needs it.
    private func announce(_ authorization: DeviceAuthorization, within seconds: Int64) {
        guard !isJSON else { return StandardError.write(Self.document(authorization, within: seconds)) }
        let time = seconds < 120 ? "\(max(1, seconds)) s" : "\(seconds / 60) min"
        var text = """
            tokenstore: open \(authorization.verificationURI) on any device and enter the code \
            \(authorization.userCode) within \(time); Ctrl-C cancels

            """
        if let address = authorization.verificationURIComplete {
            text += "tokenstore: or open this address, which has the code in it:\n\(address)\n"
        }
        StandardError.write(text)
    }

    /// One line, as standard output has the one document of the sign-in.
    private static func document(_ authorization: DeviceAuthorization, within seconds: Int64) -> String {
        var json = JSONOutput()
        json.object {
            $0.object("deviceAuthorization") {
                $0.member("verificationUri", authorization.verificationURI)
                $0.member("verificationUriComplete", authorization.verificationURIComplete)
                $0.member("userCode", authorization.userCode)
                $0.member("expiresIn", Int(seconds))
            }
        }
        json.endLine()
        return json.text
    }
}

/// The person's browser, and the address for where none opens.
///
/// That a program was started does not say that a page is open: the address is always shown, or a person with a browser
/// that ends at once, or waits unseen, would have nothing to go on with. It is shown with --quiet too.
private struct AnnouncedBrowser: UserAgent {
    /// Without it the address is printed alone.
    let opens: Bool

    func open(_ address: String) async throws { try await open(address, startingAt: nil) }

    func open(_ address: String, startingAt start: String?) async throws {
        guard opens else { return announce("open this address to sign in, Ctrl-C cancels", address) }
        announce("your browser opens to sign in, Ctrl-C cancels; if it does not, open this address", address)
        do {
            try await SystemBrowser().open(address, startingAt: start)
        } catch let error as SignInError where error.code == .noBrowser {
            StandardError.write("tokenstore: no browser could be started; open the address above\n")
        }
    }

    /// On standard error, as standard output is for the answer.
    ///
    /// A terminal is the person's own, unlike the arguments of a program.
    private func announce(_ sentence: String, _ address: String) {
        StandardError.write("tokenstore: \(sentence):\n\(address.printable)\n")
    }
}
