public import OAuth

/// A request to send.
public struct HTTPRequest: Sendable {
    public var method: String
    public var url: String
    public var headers: HTTPHeaders

    /// Kept where it is wiped: the body of a token request holds refresh tokens and passwords.
    public var body: Secret?

    /// Whether it may be sent twice without harm, as GET and HEAD may: it is repeated once where the server closes the
    /// connection without an answer.
    public var isIdempotent = false

    public init(_ method: String = "GET", _ url: String, headers: HTTPHeaders = [:], body: Secret? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

extension HTTPRequest {
    /// Whether its method or its sender says so ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)).
    var mayBeRepeated: Bool { isIdempotent || method == "GET" || method == "HEAD" }
}

extension HTTPRequest: CustomStringConvertible {
    /// The method and the address without its query, which may hold a secret.
    public var description: String {
        // By bytes: together with an accent behind it, a question mark is another character.
        "\(method) \(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))"
    }
}
