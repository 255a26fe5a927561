public import OAuth

/// A way to send one HTTP request and read its whole answer.
///
/// A file that imports HTTPTypes, Hummingbird or Vapor as well names the types of this library by
/// `import struct HTTPTransport.HTTPRequest` and the like.
///
/// ```swift
/// struct PlainTransport: HTTPTransport {
///     func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
///         try await AsyncHTTPTransport().send(request, limits: limits)
///     }
/// }
/// ```
public protocol HTTPTransport: Sendable {
    /// Sends `request` and returns the answer, whatever its status; redirects are answers too.
    ///
    /// It has to keep `limits`, and to end when the task is cancelled. A refresh does not wait for one that does not,
    /// and others go on then: an answer that comes later is lost, and a refresh token that is sent later may end the
    /// session.
    ///
    /// - Throws: ``HTTPTransportError`` if no complete answer arrives within `limits`, `CancellationError` if the
    ///   task is cancelled.
    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse
}

/// A request to send.
public struct HTTPRequest: Sendable {
    /// The method, in capitals.
    public var method: String

    /// The absolute address.
    public var url: String

    /// The header fields, in the order in which they are sent.
    public var headers: HTTPHeaders

    /// Kept where it is wiped: the body of a token request holds refresh tokens and passwords.
    public var body: Secret?

    /// Whether it may be sent twice without harm, as GET and HEAD may: it is repeated once where the server closes the
    /// connection without an answer.
    public var isIdempotent = false

    /// A request for an absolute address.
    public init(_ method: String, _ url: String, headers: HTTPHeaders = [:], body: Secret? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

extension HTTPRequest {
    /// Whether its method or its sender says so ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)).
    var mayBeRepeated: Bool { isIdempotent || method == "GET" || method == "HEAD" }

    /// The server, as an error names it; the request where its address names none.
    package var server: String { WebAddress(secure: url)?.name ?? description }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the address without its query, which may hold a secret.
    public var description: String {
        // By bytes: together with an accent behind it, a question mark is another character.
        "\(method) \(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))"
    }

    /// The description alone.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A whole answer.
public struct HTTPResponse: Sendable {
    /// The status code, such as 200.
    public let status: Int

    /// The header fields, as they came.
    public let headers: HTTPHeaders

    /// Kept where it is wiped: the answer of a token endpoint holds tokens.
    public let body: Secret

    /// A response, for transports of your own and for tests.
    public init(status: Int, headers: HTTPHeaders = [:], body: Secret = Secret("")) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Whether the status is from 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }
}

extension HTTPResponse {
    /// The JSON object that the body is; nil if it is something else.
    ///
    /// A byte order mark before it is ignored, as RFC 8259 §8.1 allows: some servers write one, and tokens behind it
    /// are nowhere else. With `mending`, a fault in one value does not affect the others; with `forgiving` neither does
    /// one that other readers refuse. It is closed in any case: what is cut off within it is none.
    package func jsonObject(mending: Bool = false, forgiving: Bool = false) -> JSONValue.Object? {
        body.withUnsafeBytes { bytes -> JSONValue.Object? in
            let document = UnsafeRawBufferPointer(rebasing: bytes[JSONReader.start(of: bytes)...])
            let value =
                try? mending || forgiving
                ? JSONValue(mending: document, forgives: forgiving) : JSONValue(parsing: document)
            return value?.object
        }
    }
}

extension HTTPResponse: CustomStringConvertible {
    public var description: String { "HTTP \(status), \(body.count) bytes" }
}

/// The header fields of a message, in order; names are compared without regard to case.
public struct HTTPHeaders: Sendable {
    /// The names and values, in the order in which they came or are sent.
    public private(set) var fields: [(name: String, value: String)]

    /// Fields by name, in this order; a name may occur more than once.
    public init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

    /// The first value of a field; setting one replaces every value the field had.
    public subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// Every value of a field.
    public func values(of name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.lowercased() == right.lowercased()
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { (name: $0.0, value: $0.1) })
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
    /// The names alone: a value may be a token or a cookie.
    public var description: String { fields.map(\.name).joined(separator: ", ") }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// How long an exchange may take and how much of an answer is read.
public struct HTTPLimits: Hashable, Sendable {
    /// Until the status and the headers of the answer have arrived.
    public var head: Duration

    /// Until the whole answer has arrived, connecting included.
    public var total: Duration

    /// The largest body, in bytes.
    public var bodySize: Int

    /// Limits for the head of a response, for all of it, and for its bytes.
    public init(head: Duration, total: Duration, bodySize: Int) {
        self.head = head
        self.total = total
        self.bodySize = bodySize
    }

    /// For the endpoints of an issuer: ten seconds and one megabyte.
    public static let issuer = HTTPLimits(head: .seconds(10), total: .seconds(10), bodySize: 1 << 20)

    /// For web APIs: thirty seconds and sixteen megabytes.
    public static let webAPI = HTTPLimits(head: .seconds(30), total: .seconds(30), bodySize: 1 << 24)

    /// The same for a request that has no more than `time`.
    package func shortened(to time: Duration) -> HTTPLimits {
        HTTPLimits(head: min(head, time), total: min(total, time), bodySize: bodySize)
    }
}
