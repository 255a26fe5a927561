import NIOHTTP1

/// What a browser is answered.
struct RedirectPage: Sendable {
    let status: HTTPResponseStatus
    private let title: String
    private let message: String

    /// Where the browser goes on to.
    private var location: String?

    /// The app goes on with the code; whether it is good shows there.
    static let done = RedirectPage(.ok, "Thank you", "You can close this window and go back to the app.")
    static let signedOut = RedirectPage(.ok, "Signed out", "You can close this window and go back to the app.")
    static let refused = RedirectPage(.ok, "Not signed in", "You can close this window and go back to the app.")
    static let foreign = RedirectPage(
        .badRequest,
        "Not this sign-in",
        "This page does not belong to the current sign-in. You can close this window."
    )
    static let spent = RedirectPage(.gone, "Already answered", "This sign-in is over. You can close this window.")
    static let unknown = RedirectPage(.notFound, "Nothing here", "You can close this window.")
    static let usedUp = RedirectPage(.gone, "Opened before", "Go back to the app, which says what to do.")
    static let wrongMethod = RedirectPage(.methodNotAllowed, "Nothing here", "You can close this window.")

    static func leading(to address: String) -> RedirectPage {
        var page = RedirectPage(.found, "Signing in", "The sign-in page opens.")
        page.location = address
        return page
    }

    private init(_ status: HTTPResponseStatus, _ title: String, _ message: String) {
        self.status = status
        self.title = title
        self.message = message
    }

    var text: String {
        """
        <!doctype html><html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
        <meta name="viewport" content="width=device-width"><style>body{font:16px/1.5 system-ui,sans-serif;\
        color-scheme:light dark;display:grid;place-content:center;min-height:90vh;text-align:center}</style></head>
        <body><main><h1>\(title)</h1><p>\(message)</p></main></body></html>

        """
    }

    /// The address of the page holds a code, or where it leads to: neither goes to a cache or to another site.
    var headers: NIOHTTP1.HTTPHeaders {
        var headers: NIOHTTP1.HTTPHeaders = [
            "content-type": "text/html; charset=utf-8", "content-length": "\(text.utf8.count)",
            "cache-control": "no-store", "referrer-policy": "no-referrer", "x-content-type-options": "nosniff",
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
            "connection": "close",
        ]
        if let location { headers.add(name: "location", value: location) }
        return headers
    }
}
