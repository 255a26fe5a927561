import ArgumentParser
import NativeAuthentication
import OAuth
import OpenIDConnect
import SignIn

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        _superCommandName: "tokenstore",
        abstract: "Sign in with a browser, another device or on the terminal, and store the session.",
        discussion: """
            Opens the issuer's page in $BROWSER or the desktop's browser, prints its address in case that fails, and \
            waits for the answer on a loopback port. Register http://127.0.0.1/, or the address that you give with \
            --redirect-uri, as a redirect URI at the issuer. The account, its claims and its tokens are stored in one \
            commit. If the person cancels (Ctrl-C, or the button of the page) or anything fails, nothing is stored. A \
            cancelled sign-in ends with exit status 9.

            --device shows an address and a code instead (RFC 8628), for a machine without a browser. The person signs \
            in on another device before the code expires or --wait ends.

            --native asks for the code or the password on the terminal, without echo. It is for tenants with native \
            authentication (Microsoft Entra External ID). If the tenant requires a browser, the command opens one.

            --dpop binds the session to a key that is stored with it, where the issuer supports DPoP; otherwise the \
            sign-in fails. Only programs that use the library can prove that key to a web API.

            EXAMPLES
              tokenstore login --issuer https://login.example.com --client-id my-app \\
                --scope "read write"
              tokenstore login --policy B2C_1_SUSI \\
                --authority https://contoso.b2clogin.com/contoso.onmicrosoft.com \\
                --client-id 11111111-2222-3333-4444-555555555555 \\
                --scope https://contoso.onmicrosoft.com/api/read
              tokenstore login --issuer https://login.example.com --client-id my-app \\
                --no-browser
              tokenstore login --issuer https://login.example.com --client-id my-app \\
                --device
              tokenstore login --issuer https://example.auth0.com/ --client-id my-app \\
                --parameter audience=https://api.example.com
              tokenstore login --environment us-government \\
                --tenant contoso.onmicrosoft.us \\
                --client-id 11111111-2222-3333-4444-555555555555
              tokenstore login --native --authority https://contoso.ciamlogin.com \\
                --client-id my-app --username me@example.org
            """
    )

    @OptionGroup(title: "Where") var place: SignInTarget

    @OptionGroup var scope: ScopeArguments

    @Option(help: ArgumentHelp("The username to fill in on the page.", valueName: "name"))
    var loginHint: String?

    @Option(help: ArgumentHelp("select_account, login, consent or create.", valueName: "prompt"))
    var prompt: Prompt?

    @Option(help: ArgumentHelp("The domain whose sign-in page is wanted.", valueName: "domain"))
    var domainHint: String?

    @Option(
        help: ArgumentHelp("Claims to ask for, as JSON (OpenID Connect Core 5.5).", valueName: "json"),
        transform: { try JSONValue(claims: $0, suchAs: "id_token") }
    )
    var claims: JSONValue?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A further parameter of the request, such as audience=https://api.example.com; repeatable. Give it at "
                + "each sign-in: only resource is stored, which refreshes send again. A token replaces an older one of "
                + "the same scope, also one that was got with another parameter.",
            valueName: "name=value"
        ),
        transform: { try ExtraParameter(parsing: $0) }
    )
    var parameter: [ExtraParameter] = []

    @Flag(help: "Ask for openid and --scope alone. Without offline_access many issuers give no refresh token.")
    var exactScope = false

    @OptionGroup(title: "How") var redirect: RedirectArguments

    @Flag(help: "Bind the tokens to a key of the store (RFC 9449), so that stolen ones are of no use.")
    var dpop = false

    @Flag(help: "Sign in on the terminal, with an e-mail address and a code or a password.")
    var native = false

    @OptionGroup(title: "With --native") var answers: NativeArguments

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        let isForPage = loginHint != nil || prompt != nil || domainHint != nil || claims != nil
        guard !redirect.device || !isForPage else {
            throw ValidationError(
                "--device excludes --login-hint, --prompt, --domain-hint and --claims",
                hint: "leave them out"
            )
        }
        guard native || !answers.isGiven else {
            throw ValidationError("--username and the options that answer questions need --native", hint: "add it")
        }
        guard !native || !redirect.device && !isForPage else {
            throw ValidationError(
                "--native excludes --device and what is for the page",
                hint: "give --username instead"
            )
        }
        guard !native || !dpop else { throw ValidationError("--native excludes --dpop", hint: "leave one of them out") }
        guard !native || parameter.isEmpty && !exactScope else {
            throw ValidationError("--native excludes --parameter and --exact-scope", hint: "leave them out")
        }
        if native { try place.validateNative() }
        try validateParameters()
    }

    private func validateParameters() throws {
        guard parameters.count == parameter.count else {
            throw ValidationError("a --parameter is given twice", hint: "give each name once")
        }
        // Those that the command has an option for.
        let options = ["claims", "client_id", "prompt", "redirect_uri", "response_mode", "scope"]
        if let name = parameters.keys.sorted().first(where: { options.contains($0.lowercased()) }) {
            let option = "--" + name.lowercased().replacing("_", with: "-")
            throw ValidationError("the parameter \(name) is set by the sign-in itself", hint: "use \(option)")
        }
        do { try SignInError.requireValid(parameters) } catch { throw ValidationError(error) }
    }

    private var parameters: [String: String] {
        Dictionary(parameter.map { ($0.name, $0.value) }) { first, _ in first }
    }

    func run() throws {
        var page = BrowserLogin(clientID: place.clientID, redirect: redirect, network: network, arguments: arguments)
        if dpop { page.dpop = .required }
        let authority = try place.whereTo()
        guard !native else { return try NativeLogin(page: page, answers: answers).run(scope.value, at: authority) }
        var request = InteractiveRequest(scope: scope.value)
        request.loginHint = loginHint
        request.prompt = prompt
        request.domainHint = domainHint
        request.claims = claims
        request.extraParameters = parameters
        request.addsScopes = !exactScope
        request.responseMode = redirect.responseMode
        request.timeLimit = redirect.timeLimit
        try page.run(request, at: authority)
    }
}

/// A parameter that an issuer knows and OAuth does not.
struct ExtraParameter {
    let name: String
    let value: String

    init(parsing text: String) throws {
        guard let pair = text.nameAndValue else {
            throw ValidationError("a --parameter is not NAME=VALUE", hint: "give it as in --parameter ui_locales=es")
        }
        (name, value) = pair
    }
}
