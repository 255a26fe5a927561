import HTTPTransport
import NativeAuthentication
import OAuth
import Sealing
import SignIn
import TokenManagement
import TokenStorage

/// One run of a command of native authentication: the store, the application, and who is asked.
struct NativeRun {
    let console: Console
    let application: NativeAuthPublicClientApplication
    let prompter: TerminalPrompter
    let username: String
    private let network: NetworkArguments
    private let arguments: StoreArguments

    /// Where a browser comes back to, if the command says it.
    private let redirect: RedirectArguments?

    init(
        _ deed: NativeDeed,
        at authority: Authority,
        client: String,
        _ answers: NativeArguments,
        _ network: NetworkArguments,
        _ arguments: StoreArguments,
        _ redirect: RedirectArguments? = nil
    ) throws {
        console = arguments.console
        self.redirect = redirect
        self.network = network
        self.arguments = arguments
        var configuration = try NativeAuthConfiguration(
            clientID: client,
            authority: authority,
            challengeTypes: answers.challengeTypes
        )
        configuration.capabilities = [.mfaRequired, .registrationRequired]
        configuration.allowsSeveralAccounts = true
        configuration.tokenOptions = network.options(arguments)
        configuration.logger = configuration.tokenOptions.logger
        // Fails before the sign-in if the store cannot be opened.
        let store = try arguments.openOrDefer(console)
        // Before the network has its threads, which hold back what the first one does.
        prompter = try TerminalPrompter(deed, answers, arguments)
        prompter.store = store
        application = NativeAuthPublicClientApplication(
            configuration,
            store: store,
            transport: try network.transport()
        )
        username = try prompter.username()
    }

    var signIn: NativeSignIn { NativeSignIn(application: application, prompter: prompter, username: username) }

    /// Closes the store, which is not used after that.
    func close() { application.store.close() }

    /// Says who was signed in.
    func report(_ signedIn: NativeAuthUserAccount, _ deed: String = "signed in") throws {
        let client = application.configuration.clientID
        try console.report(deed, signedIn, to: client, in: application.store, asJSON: arguments.json)
    }

    /// Runs the flow; if the issuer requires a browser, the error says how to continue in one.
    func withoutBrowser(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let refusal as any NativeRefusal {
            guard let request = refusal.browserRequest else { throw refusal }
            throw failure(refusal, request)
        }
    }

    /// Runs a step that nothing but a sign-in is to follow, also after a refusal: advice to sign in names the command.
    func namingLogin<Result>(_ scope: Scope, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let refusal as any NativeRefusal where refusal.browserRequest == nil {
            let failure = CommandFailure(refusal)
            // The remedy of an error of the store is another one.
            guard let remedy = refusal.remedy, remedy.code == .signIn, failure.hint == remedy.hint else {
                throw namingUsername(refusal)
            }
            let isReset = refusal.needsNewPassword
            throw failure.hinting(isReset ? resetAdvice(remedy.hint, scope) : advice(remedy.hint, scope))
        }
    }

    /// The refusal; where the person has to choose a new password first, or to sign in in a browser, with the command
    /// for it.
    func namingCommand(_ refusal: any NativeRefusal, _ scope: Scope) -> any Error {
        if refusal.wantsKey {
            let (authority, client) = (application.configuration.authority, application.configuration.clientID)
            var command = ProposedCommand(signingInAt: authority, client: client, scope, loginHint: username)
            command.add("--dpop")
            command.add("--ca-file", network.caFile)
            command.add(arguments)
            return CommandFailure(refusal).hinting("sign in with '\(command.text)'")
        }
        guard refusal.needsNewPassword, let remedy = refusal.remedy else { return namingUsername(refusal) }
        return CommandFailure(refusal).hinting(resetAdvice(remedy.hint, scope))
    }

    /// The refusal; of a name that the issuer does not know, with what may be wrong with it.
    private func namingUsername(_ refusal: any NativeRefusal) -> any Error {
        guard refusal.isAboutUsername, !username.isAddress else { return refusal }
        let failure = CommandFailure(refusal)
        let advice = "'\(username)' is not an e-mail address"
        return failure.hinting(failure.hint.map { "\($0); \(advice)" } ?? advice)
    }

    /// Advice to sign in, with the command for it.
    func advice(_ words: String, _ scope: Scope) -> String { "\(words): '\(command("login", "--native", scope))'" }

    private func resetAdvice(_ words: String, _ scope: Scope) -> String {
        "\(words): '\(command("reset-password", nil, scope))'"
    }

    /// A command that signs in with the account.
    private func command(_ name: String, _ option: String?, _ scope: Scope) -> String {
        var command = ProposedCommand(name)
        if let option { command.add(option) }
        command.add("--authority", application.configuration.authority.url)
        command.add("--client-id", application.configuration.clientID)
        command.add("--username", username)
        command.add("--scope", scope.isEmpty ? nil : scope.text)
        command.add("--ca-file", network.caFile)
        command.add(arguments)
        return command.text
    }

    /// The refusal of what `request` asks a browser for, with how to go on there.
    func failure(_ refusal: any NativeRefusal, _ request: InteractiveRequest) -> CommandFailure {
        var request = request
        request.loginHint = username
        let (authority, client) = (application.configuration.authority, application.configuration.clientID)
        var command = ProposedCommand(signingIn: request, at: authority, client: client, redirect, network)
        command.add(arguments)
        let reason = refusal.reason.hasSuffix(".") ? String(refusal.reason.dropLast()) : refusal.reason
        return CommandFailure(.interactionRequired, reason, "go on in a browser: \(command.text)")
    }
}

/// A sign-in on the terminal, which continues in a browser if the issuer requires it and a person is present.
struct NativeLogin {
    let page: BrowserLogin
    let answers: NativeArguments

    func run(_ scope: Scope, at authority: Authority) throws {
        guard var request = try signIn(scope, at: authority) else { return }
        StandardError.write("tokenstore: the issuer wants a browser for this\n")
        request.responseMode = page.redirect.responseMode
        request.timeLimit = page.redirect.timeLimit
        try page.run(request, at: authority)
    }

    /// What to ask a browser for; nil if nothing is left to do.
    private func signIn(_ scope: Scope, at authority: Authority) throws -> InteractiveRequest? {
        let run = try NativeRun(
            .signIn,
            at: authority,
            client: page.clientID,
            answers,
            page.network,
            page.arguments,
            page.redirect
        )
        defer { run.close() }
        do {
            try run.report(run.signIn.run(scope))
            return nil
        } catch let refusal as any NativeRefusal {
            guard let request = refusal.browserRequest else { throw run.namingCommand(refusal, scope) }
            guard run.prompter.mayAsk else { throw run.failure(refusal, request) }
            return request
        }
    }
}
