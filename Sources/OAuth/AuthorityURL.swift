/// The parts of a URL that an authority is made of.
struct AuthorityURL {
    /// The host, lower-cased, with its port unless that is the scheme's own.
    let environment: String

    /// `https`, or `http` on loopback.
    let scheme: String

    /// The path segments that are not empty.
    let path: [String]

    init(_ text: String) throws(AuthorityError) {
        guard let address = WebAddress(text) else { throw .notAURL(text) }
        guard address.isSecure else { throw .notSecure(text) }
        scheme = address.scheme
        environment = address.place.name
        path = address.rest.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").map(String.init)
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
