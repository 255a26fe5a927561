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
        let store = try arguments.openOrDefer(console)
        defer { store.close() }
        let (page, device) = (pageFlow(store), DeviceLogin(flow: deviceFlow(store)))
        let browser = AnnouncedBrowser(opens: !redirect.noBrowser)
        let isOnDevice = redirect.device
        let result = try AsynchronousWork.run(keepingAnswersOf: store, throwsInterrupt: true) {
            let tokens =
                isOnDevice
                ? try await device.signIn(request.scope, at: authority)
                : try await page.signIn(request, at: authority, in: browser)
            return try await store.perform { try $0.keep(tokens) }
        }
        if let reason = result.pendingReason { console.notePending(reason) }
        if !result.declinedScope.isEmpty { console.note("the issuer did not grant \(result.declinedScope.text)") }
        let summary = result.pendingReason == nil ? try store.summary(of: result.account) : nil
        try AccountReport(account: result.account, summary: summary)
            .write("signed in", asJSON: arguments.json, on: console)
    }

    private var transport: AsyncHTTPTransport {
        AsyncHTTPTransport(options: HTTPTransportOptions(caFile: network.caFile))
    }

    private func pageFlow(_ store: TokenStore) -> AuthorizationCodeFlow {
        var flow = AuthorizationCodeFlow(clientID: clientID, redirectURI: redirect.redirectURI, transport: transport)
        flow.limits = network.options(arguments).limits
        flow.answerSpace = { try await store.perform { try $0.reserveAnswerSpace() } }
        return flow
    }

    private func deviceFlow(_ store: TokenStore) -> DeviceCodeFlow {
        var flow = DeviceCodeFlow(clientID: clientID, transport: transport)
        flow.limits = network.options(arguments).limits
        flow.timeLimit = redirect.wait.map { .seconds($0) }
        flow.answerSpace = { try await store.perform { try $0.reserveAnswerSpace() } }
        return flow
    }
}
