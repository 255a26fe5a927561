import OAuth

/// Where the issuer sends the browser with its answer ([RFC 8252
/// §7](https://www.rfc-editor.org/rfc/rfc8252#section-7)).
public struct RedirectURI: Hashable, Sendable {
    /// As it is registered at the issuer.
    public let text: String

    /// The part of a loopback URI that listening needs; nil: the app is handed the URL and hands it in.
    package let loopback: Loopback?

    /// Whether a listener on this machine receives the answer.
    public var isLoopback: Bool { loopback != nil }

    /// A place on this machine.
    package struct Loopback: Hashable, Sendable {
        /// Lower-cased, an IPv6 address in brackets.
        package let host: String

        /// The scheme and the host as they stand in the URI.
        let origin: String

        /// nil: any that is free.
        package let port: Int?
        package let path: String

        /// The addresses to listen on; a browser may take `localhost` for either.
        var addresses: [String] {
            switch host {
            case "localhost": ["127.0.0.1", "::1"]
            case "[::1]": ["::1"]
            default: [host]
            }
        }

        /// The URI with the port that is listened on, and otherwise as it is registered, letter by letter.
        package func text(port: Int) -> String { "\(origin):\(port)\(path)" }
    }

    /// A loopback URI with any free port.
    public static let anyPort = RedirectURI("http://127.0.0.1/", .any)

    private init(_ text: String, _ loopback: Loopback?) {
        self.text = text
        self.loopback = loopback
    }

    /// Reads `http://127.0.0.1`, with a port or without one, `localhost` or `[::1]`; a scheme of the app's own such as
    /// `msauth.com.example.app://auth`; or an `https` address that the system hands to the app.
    ///
    /// - Throws: ``SignInError/Code/invalidRedirectURI``.
    public init(_ text: String) throws(SignInError) {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Self.refusal(text, "is not a valid address") }
        guard !text.contains("#"), !text.contains("?") else { throw Self.refusal(text, "has a query or a fragment") }
        self.text = text
        let scheme = text[..<colon].lowercased()
        guard !["http", "https"].contains(scheme) || WebAddress(text) != nil else {
            throw Self.refusal(text, "is not a valid address")
        }
        switch scheme {
        case "https":
            guard let address = WebAddress(secure: text), !address.isLoopback else {
                throw Self.refusal(text, "is https on loopback, where the listener has no certificate")
            }
            loopback = nil
        case "http":
            guard let place = Loopback(text) else { throw Self.refusal(text, "is plain http beyond loopback") }
            loopback = place
        default:
            // RFC 8252 §7.1: a scheme with a dot is named after a domain; MSAL's older one after the client.
            guard scheme.contains(".") || scheme.hasPrefix("msal"), Self.isScheme(scheme) else {
                throw Self.refusal(text, "has a scheme that is not the app's own")
            }
            loopback = nil
        }
    }

    /// The parameters of `url` if it is this URI with some, as the system hands it to the app.
    package func query(of url: String) -> Substring? {
        // By bytes: together with an accent behind it, a question mark is another character.
        let bytes = url.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        guard bytes[end...].first == UInt8(ascii: "?") else { return nil }
        guard Self.normalized(url[..<end]).elementsEqual(Self.normalized(text[...])) else { return nil }
        return Substring(bytes[end...].dropFirst().prefix { $0 != UInt8(ascii: "#") })
    }

    /// Systems add the slash after a host, and take the scheme in lower case.
    private static func normalized(_ url: Substring) -> Substring.UTF8View {
        let bytes = Substring(url.lowercased()).utf8
        return bytes.last == UInt8(ascii: "/") ? bytes.dropLast() : bytes
    }

    private static func isScheme(_ scheme: String) -> Bool {
        scheme.first?.isLetter == true && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
    }

    private static func refusal(_ text: String, _ flaw: String) -> SignInError {
        .invalidRedirectURI("the redirect URI '\(text)' \(flaw)")
    }
}

extension RedirectURI.Loopback {
    /// nil unless `text` is `http` on a loopback address.
    fileprivate init?(_ text: String) {
        guard let address = WebAddress(secure: text), address.isLoopback, address.scheme == "http",
            let start = text.firstRange(of: "://")?.upperBound
        else { return nil }
        let authority = text[start...].prefix { $0 != "/" }
        host = address.urlHost
        let end = text.index(start, offsetBy: host.count)
        origin = String(text[..<end])
        port = end < authority.endIndex ? address.port : nil
        path = String(text[authority.endIndex...])
    }

    fileprivate static let any = Self(host: "127.0.0.1", origin: "http://127.0.0.1", port: nil, path: "/")
}
