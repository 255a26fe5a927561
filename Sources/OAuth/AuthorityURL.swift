/// The parts of a URL that an authority is made of.
struct AuthorityURL {
    /// The host, lower-cased, with its port unless that is the scheme's own.
    let environment: String

    /// `https`, or `http` on loopback.
    let scheme: String

    /// The path segments that are not empty.
    let path: [String]

    init(_ text: String) throws(AuthorityError) {
        // A backslash is a slash to some readers, and no part of a URL to others.
        guard let colon = text.firstRange(of: "://"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { throw .notAURL(text) }
        scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = HostAndPort(segments[0], usualPort: scheme == "https" ? 443 : 80) else {
            throw .notAURL(text)
        }
        environment = place.name
        guard scheme == "https" || scheme == "http" && place.isLoopback else { throw .notSecure(text) }
        path = segments.dropFirst().filter { !$0.isEmpty }.map(String.init)
    }
}

/// Why a text names no authority.
public enum AuthorityError: Error, Hashable, CustomStringConvertible {
    case notAURL(String)
    case notSecure(String)
    case noTenant(String)
    case noPolicy(String)

    public var description: String {
        switch self {
        case .notAURL(let text): "'\(text)' is not a URL; give one such as https://login.example.com/tenant"
        case .notSecure(let text): "'\(text)' is not https; plain http is for loopback addresses only"
        case .noTenant(let text): "'\(text)' names no tenant; add one, such as /contoso.onmicrosoft.com"
        case .noPolicy(let text): "'\(text)' names no user flow; add one, such as /B2C_1_SignIn"
        }
    }
}
