import HTTPTransport
import OAuth
import SignIn
import TokenManagement
import TokenStorage

/// A sign-in on the issuer's page, in a browser here or on another device.
struct PageLogin {
    let clientID: String
    let redirect: RedirectArguments
    let network: NetworkArguments
    let arguments: StoreArguments

    /// Signs in and stores the session.
    func run(_ request: InteractiveRequest, at authority: Authority) throws {
        let console = arguments.console
        // Nobody is asked to sign in for a store that cannot be opened; a new one is made when there is something in it.
        let existing = arguments.path.isVacant ? nil : try arguments.open(console)
        let (page, device) = (pageFlow, DeviceLogin(flow: deviceFlow))
        let browser = AnnouncedBrowser(opens: !redirect.noBrowser)
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
        var flow = AuthorizationCodeFlow(clientID: clientID, redirectURI: redirect.redirectURI, transport: transport)
        flow.limits = network.options(arguments).limits
        return flow
    }

    private var deviceFlow: DeviceCodeFlow {
        var flow = DeviceCodeFlow(clientID: clientID, transport: transport)
        flow.limits = network.options(arguments).limits
        flow.timeLimit = redirect.wait.map { .seconds($0) }
        return flow
    }
}
