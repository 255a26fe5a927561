/// The parts of a URL that an authority is made of.
struct AuthorityURL {
    /// The host, lower-cased, with its port unless that is the scheme's own.
    let environment: String

    /// `https`, or `http` on loopback.
    let scheme: String

    /// The path segments that are not empty.
    let path: [String]

    init(_ text: String) throws(AuthorityError) {
        guard let colon = text.firstRange(of: "://") else { throw .notAURL(text) }
        scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
        let address = segments[0].lowercased()
        guard !address.isEmpty, !address.contains("@"), address.allSatisfy({ $0.isASCII && !$0.isWhitespace }) else {
            throw .notAURL(text)
        }
        let defaultPort = scheme == "https" ? ":443" : ":80"
        environment = address.hasSuffix(defaultPort) ? String(address.dropLast(defaultPort.count)) : address
        guard scheme == "https" || scheme == "http" && Self.isLoopback(environment) else { throw .notSecure(text) }
        path = segments.dropFirst().filter { !$0.isEmpty }.map(String.init)
    }

    private static func isLoopback(_ environment: String) -> Bool {
        if environment.hasPrefix("[::1]") { return true }
        let host = environment.prefix { $0 != ":" }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost"
            || octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
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
