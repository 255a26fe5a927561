import ArgumentParser
import HTTPTransport
import OAuth
import SignIn
import TokenManagement
import TokenStorage

/// How the issuer's session in the browser is ended.
struct BrowserLogout: ParsableArguments {
    @Flag(help: "Also end the issuer's session in the browser, so that the next sign-in there asks the person.")
    private var browser = false

    @Option(
        help: ArgumentHelp(
            "With --browser: the loopback address registered as post-logout redirect URI. Default port: any free one.",
            valueName: "uri"
        ),
        transform: { try RedirectURI(argument: $0) }
    )
    private var redirectURI: RedirectURI?

    @Option(
        help: ArgumentHelp(
            "With --browser: how long to wait for the browser to come back. Default: 60.",
            valueName: "seconds"
        )
    )
    private var wait: Double?

    var isAsked: Bool { browser }

    func validate() throws {
        guard browser || redirectURI == nil && wait == nil else {
            throw ValidationError("--redirect-uri and --wait need --browser", hint: "add it")
        }
        try RedirectArguments.check(redirectURI, wait: wait)
    }

    /// Opens the issuer's logout page; Ctrl-C goes on without its answer.
    func end(
        _ session: EndingSession,
        _ store: TokenStore,
        _ network: NetworkArguments,
        _ arguments: StoreArguments
    ) throws -> BrowserSessionReport {
        let transport = try network.transport()
        var flow = EndSessionFlow(redirectURI: redirectURI ?? .anyPort, store: store, transport: transport)
        flow.limits = network.options(arguments).limits
        flow.timeLimit = .seconds(wait ?? 60)
        let logout = flow
        return try AsynchronousWork.run(keepingAnswersOf: nil, throwsInterrupt: true) {
            await logout.run(session, in: LogoutBrowser())
        }
    }
}

/// The person's browser, which is led to the issuer's page by an address of this machine only.
private struct LogoutBrowser: UserAgent {
    func open(_ address: String) async throws { try await SystemBrowser().open(address) }

    func open(_ address: String, startingAt start: String?) async throws {
        // The address itself has the ID token in it, which is for neither a terminal nor the arguments of a program.
        let shown = start ?? ""
        StandardError.write(
            "tokenstore: your browser opens to sign out there too, Ctrl-C leaves that out; "
                + "if it does not, open this address:\n\(shown)\n"
        )
        try await SystemBrowser().open(shown)
    }
}

extension BrowserSessionReport {
    /// What is left to do for the person; nil where nothing is.
    var advice: String? {
        let place = address.map { "; to end it, open \($0)" } ?? ""
        let cause = reason.map { " (\($0))" } ?? ""
        return switch outcome {
        case .ended: nil
        case .notOffered: "the issuer offers no way to end its session in the browser; close the browser"
        case .notConfirmed: "the issuer did not confirm that its session in the browser has ended\(cause)\(place)"
        case .notShown: "the issuer's session in the browser was not ended\(cause)\(place)"
        }
    }
}
