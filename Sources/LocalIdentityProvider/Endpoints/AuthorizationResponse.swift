import Foundation

/// The way back to the client (RFC 6749 section 4.1.2).
struct AuthorizationResponse: Sendable {
    let redirectURI: String
    let mode: String
    let state: String?

    func success(_ code: String) -> Reply { reply([("code", code)], outcome: "code") }

    func failure(_ error: String, _ text: String) -> Reply {
        reply([("error", error), ("error_description", text)], outcome: error)
    }

    private func reply(_ parameters: [(String, String)], outcome: String) -> Reply {
        let parameters = parameters + (state.map { [("state", $0)] } ?? [])
        if mode == "form_post" { return formPost(parameters, outcome) }
        let encoded = parameters.map { "\($0)=\(Self.encode($1))" }.joined(separator: "&")
        let separator = mode == "fragment" ? "#" : (redirectURI.contains("?") ? "&" : "?")
        return .found(redirectURI + separator + encoded, outcome: outcome)
    }

    private func formPost(_ parameters: [(String, String)], _ outcome: String) -> Reply {
        let fields = parameters.map { name, value -> HTML in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        let nonce = RandomToken.make()
        let page = Page(
            title: "Back to the app",
            content: """
                <form method="post" action="\(redirectURI)">\(fields)<button>Continue</button></form>\
                <script nonce="\(nonce)">document.forms[0].submit()</script>
                """
        )
        var reply = page.reply(outcome: outcome)
        reply.headers["content-security-policy"]? += "; script-src 'nonce-\(nonce)'"
        return reply
    }

    /// Leaves only the unreserved characters of RFC 3986.
    static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    )
}
