import ArgumentParser
import SignIn

/// How the issuer's page is shown and its answer received.
struct RedirectArguments: ParsableArguments {
    @Flag(help: "Print the address of the page instead of opening it.")
    var noBrowser = false

    @Flag(help: "Show a code to enter on another device; nothing is opened or listened to here.")
    var device = false

    @Option(
        help: ArgumentHelp(
            "The loopback address that is registered for the client; without a port any free one is used.",
            valueName: "uri"
        ),
        transform: { text in
            do { return try RedirectURI(text) } catch { throw ValidationError("\(error)") }
        }
    )
    var redirectURI = RedirectURI.anyPort

    @Option(help: ArgumentHelp("How the browser brings the answer: query or form_post.", valueName: "mode"))
    var responseMode = ResponseMode.query

    @Option(
        help: ArgumentHelp(
            "How long to wait for the person. Default: 300, and with --device as long as the code lives.",
            valueName: "seconds"
        )
    )
    var wait: Double?

    /// How long a person at a browser may take.
    var timeLimit: Duration { .seconds(wait ?? 300) }

    func validate() throws {
        guard !device || !noBrowser else {
            throw ValidationError("--device opens no browser here anyway; leave --no-browser out")
        }
        if let wait, !(wait > 0 && wait <= 1e6) {
            throw ValidationError("--wait is not a time; give a number of seconds")
        }
        guard redirectURI.isLoopback else {
            throw ValidationError("--redirect-uri is not on loopback; use one such as http://127.0.0.1/")
        }
    }
}
