import ArgumentParser
import NativeAuthentication
import OAuth

struct ResetPasswordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-password",
        _superCommandName: "tokenstore",
        abstract: "Set a new password without a browser, sign in with it, and store the session.",
        discussion: """
            For tenants with native authentication (Microsoft Entra External ID). The issuer sends a code to the \
            e-mail address. The new password is typed twice. Secrets are never echoed and cannot be passed as \
            arguments; scripts give them with --code-from and --password-from, one line for each answer. The issuer \
            ends the sessions of the old password. Ctrl-C ends with exit status 9. Nothing is stored unless the \
            sign-in succeeds.

            EXAMPLES
              tokenstore reset-password --authority https://contoso.ciamlogin.com \\
                --client-id my-app --username me@example.org
            """
    )

    @OptionGroup(title: "Where") var place: NativeTenant

    @OptionGroup(title: "Who") var answers: NativeArguments

    @OptionGroup var scope: ScopeArguments

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let (authority, client) = (place.authority, place.clientID)
        let run = try NativeRun(.passwordReset, at: authority, client: client, answers, network, arguments)
        defer { run.close() }
        let scope = scope.value
        try run.withoutBrowser {
            let reset = NativeReset(
                application: run.application,
                prompter: run.prompter,
                username: run.username,
                afterSubmission: run.advice(Remedy.signInAfterSubmission.advice, scope)
            )
            let state = try run.namingLogin(scope) { try reset.run() }
            run.prompter.note("the new password is in force")
            run.prompter.subject = "sign-in with the new password"
            run.prompter.cancellationAdvice = run.advice("the new password is in force, sign in with it", scope)
            let account = try run.namingLogin(scope) {
                try run.signIn.finish(run.prompter.perform { try await state.signIn(scope: scope) })
            }
            try run.report(account)
        }
    }
}
