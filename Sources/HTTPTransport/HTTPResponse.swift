public import OAuth

/// A whole answer.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: HTTPHeaders

    /// Kept where it is wiped: the answer of a token endpoint holds tokens.
    public let body: Secret

    public init(status: Int, headers: HTTPHeaders = [:], body: Secret = Secret("")) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public var isSuccess: Bool { (200..<300).contains(status) }
}

extension HTTPResponse: CustomStringConvertible {
    public var description: String { "HTTP \(status), \(body.count) bytes" }
}
