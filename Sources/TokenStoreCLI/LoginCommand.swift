import ArgumentParser
import HTTPTransport
import OAuth
import SignIn
import TokenManagement
import TokenStorage

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in with a browser or another device, and store the session.",
        discussion: """
            Opens the issuer's page in $BROWSER or the desktop's browser and waits for the answer on a loopback port, \
            which the issuer has to know as a redirect URI (http://127.0.0.1/ unless --redirect-uri says otherwise). \
            The account, its claims and its tokens are stored in one commit; where the person cancels (Ctrl-C, or the \
            page's own button) or anything goes wrong, nothing is stored. Cancelled is exit status 9.

            --device shows an address and a code instead (RFC 8628), for a machine without a browser; the person signs \
            in on any other device for as long as the code lives.

            EXAMPLES
              tokenstore login --issuer https://login.example.com --client-id my-app --scope "read write"
              tokenstore login --authority https://contoso.b2clogin.com/contoso.onmicrosoft.com --policy B2C_1_SUSI \\
                --client-id 11111111-2222-3333-4444-555555555555 --scope https://contoso.onmicrosoft.com/api/read
              tokenstore login --issuer https://login.example.com --client-id my-app --no-browser
              tokenstore login --issuer https://login.example.com --client-id my-app --device
            """
    )

    @OptionGroup(title: "Where") var place: LoginPlace

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A scope to ask for; repeatable, or a list with commas or spaces. Those for an ID token and a refresh "
                + "token are added.",
            valueName: "scope"
        )
    )
    var scope: [String] = []

    @Option(help: ArgumentHelp("The name to fill in.", valueName: "name"))
    var loginHint: String?

    @Option(help: ArgumentHelp("select_account, login, consent or create.", valueName: "prompt"))
    var prompt: Prompt?

    @OptionGroup(title: "How") var redirect: RedirectArguments

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard !redirect.device || loginHint == nil && prompt == nil else {
            throw ValidationError("--device takes no --login-hint and no --prompt; leave them out")
        }
    }

    func run() throws {
        let console = arguments.console
        let (authority, request) = (try place.whereTo(), request)
        // Nobody is asked to sign in for a store that cannot be opened; a new one is made when there is something in it.
        let existing = arguments.path.isVacant ? nil : try arguments.open(console)
        let (page, device) = (pageFlow, DeviceLogin(flow: deviceFlow))
        let browser = AnnouncedBrowser(opens: !redirect.noBrowser, isQuiet: arguments.quiet || arguments.json)
        let isOnDevice = redirect.device
        let tokens = try AsynchronousWork.runUntilInterrupted {
            isOnDevice
                ? try await device.signIn(request.scope, at: authority)
                : try await page.signIn(request, at: authority, in: browser)
        }
        let store = try existing ?? arguments.open(console)
        let result = try store.keep(tokens)
        if !result.declinedScope.isEmpty { console.note("the issuer did not grant \(result.declinedScope.text)") }
        try AccountReport(account: result.account, summary: store.summary(of: result.account))
            .write("signed in", asJSON: arguments.json, on: console)
    }

    private var transport: AsyncHTTPTransport {
        AsyncHTTPTransport(options: HTTPTransportOptions(caFile: network.caFile))
    }

    private var pageFlow: AuthorizationCodeFlow {
        var flow = AuthorizationCodeFlow(
            clientID: place.clientID,
            redirectURI: redirect.redirectURI,
            transport: transport
        )
        flow.limits = network.options(arguments).limits
        return flow
    }

    private var deviceFlow: DeviceCodeFlow {
        var flow = DeviceCodeFlow(clientID: place.clientID, transport: transport)
        flow.limits = network.options(arguments).limits
        return flow
    }

    private var request: InteractiveRequest {
        let words = scope.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) }
        var request = InteractiveRequest(scope: Scope(words))
        request.loginHint = loginHint
        request.prompt = prompt
        request.responseMode = redirect.responseMode
        request.timeLimit = .seconds(redirect.wait)
        return request
    }
}
