import ArgumentParser
import NativeAuthentication
import OAuth

struct SignUpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup",
        _superCommandName: "tokenstore",
        abstract: "Make an account without a browser, sign in with it, and store the session.",
        discussion: """
            For tenants with native authentication (Microsoft Entra External ID). The issuer sends a code to the \
            e-mail address. The tenant may then require a password and attributes; the command asks for each in turn. \
            Secrets are never echoed and cannot be passed as arguments; scripts give them with --code-from and \
            --password-from, one line for each answer. Ctrl-C ends with exit status 9. Nothing is stored unless the \
            sign-in succeeds.

            EXAMPLES
              tokenstore signup --authority https://contoso.ciamlogin.com \\
                --client-id my-app --username me@example.org
              tokenstore signup --authority https://contoso.ciamlogin.com \\
                --client-id my-app --username me@example.org \\
                --attribute country=Ecuador --code-from 3 3< <(read-mail) \\
                --password-from 4 4<password
            """
    )

    @OptionGroup(title: "Where") var place: NativeTenant

    @OptionGroup(title: "Who") var answers: NativeArguments

    @OptionGroup var attributes: AttributeArguments

    @OptionGroup var scope: ScopeArguments

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let run = try NativeRun(.signUp, at: place.authority, client: place.clientID, answers, network, arguments)
        defer { run.close() }
        let scope = scope.value
        try run.withoutBrowser {
            let signUp = NativeSignUp(
                application: run.application,
                prompter: run.prompter,
                username: run.username,
                attributes: attributes.object,
                afterSubmission: run.advice(Remedy.signInAfterLostSignUp.advice, scope)
            )
            let state = try run.namingLogin(scope) { try signUp.run() }
            run.prompter.note("the account exists")
            run.prompter.subject = "sign-in of the new account"
            run.prompter.cancellationAdvice = run.advice("the account exists, sign in as usual", scope)
            let account = try run.namingLogin(scope) {
                try run.signIn.finish(run.prompter.perform { try await state.signIn(scope: scope) })
            }
            try run.report(account, "signed up")
        }
    }
}

/// What a script says of who signs up.
struct AttributeArguments: ParsableArguments {
    @Option(
        name: .customLong("attribute"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "An attribute of the account, such as country=Ecuador; repeatable. The command asks for missing ones.",
            valueName: "name=value"
        )
    )
    var pairs: [String] = []

    func validate() throws {
        guard pairs.allSatisfy({ $0.nameAndValue != nil }) else {
            throw ValidationError("an --attribute is not NAME=VALUE", hint: "give it as in --attribute country=Ecuador")
        }
    }

    /// nil if there are none; several values of one attribute are joined by commas, as the issuer takes them.
    var object: JSONValue.Object? {
        guard !pairs.isEmpty else { return nil }
        var members: [(name: String, value: String)] = []
        for (name, value) in pairs.compactMap(\.nameAndValue) {
            if let index = members.firstIndex(where: { $0.name == name }) {
                members[index].value += "," + value
            } else {
                members.append((name, value))
            }
        }
        return JSONValue.Object(members.map { ($0.name, JSONValue.string($0.value)) })
    }
}
