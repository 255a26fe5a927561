public import OAuth

/// Why a complete answer was not received.
public struct HTTPTransportError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text is not an `https` URL; plain `http` is for loopback addresses.
        public static let invalidURL = Code(rawValue: "invalid_url")
        /// The configured CA file or proxy is invalid, or the proxy wants another user name or password.
        public static let configuration = Code(rawValue: "configuration")
        /// No connection came about, so nothing was sent.
        public static let notConnected = Code(rawValue: "not_connected")
        /// The server's certificate was refused, so nothing was sent.
        public static let notTrusted = Code(rawValue: "not_trusted")
        /// The server's certificate is not good at the time that this machine's clock shows, so nothing was sent.
        public static let outdated = Code(rawValue: "outdated")
        /// A time limit passed.
        public static let timedOut = Code(rawValue: "timed_out")
        /// The connection ended before the answer did.
        public static let interrupted = Code(rawValue: "interrupted")
        /// The answer is larger than the limit.
        public static let tooLarge = Code(rawValue: "too_large")
        /// The answer is compressed, which was not asked for, in a way that cannot be undone.
        public static let undecodable = Code(rawValue: "undecodable")
        /// The server and this machine did not agree on TLS, so nothing was sent.
        public static let noTLS = Code(rawValue: "no_tls")
        /// The answer is not one of a web server that speaks HTTP/1.1.
        public static let notHTTP = Code(rawValue: "not_http")

        /// Those of this version; a later one may have more.
        public static let known = [
            invalidURL, configuration, notConnected, notTrusted, outdated, timedOut, interrupted, tooLarge,
            undecodable, noTLS, notHTTP,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "HTTPTransport.HTTPTransportError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// The server.
    public private(set) var host: String?

    /// What the system or the server's certificate says.
    public private(set) var reason: String?

    /// How many bytes an answer may have.
    public private(set) var limit: Int?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension HTTPTransportError {
    /// Whether the server may have received the request and acted on it.
    public var mayHaveTakenEffect: Bool {
        ![.invalidURL, .configuration, .notConnected, .notTrusted, .outdated, .noTLS].contains(code)
    }

    /// Whether the same request may succeed when repeated.
    public var isTransient: Bool { [.notConnected, .timedOut, .interrupted].contains(code) }
}

extension HTTPTransportError {
    package static func invalidURL(_ url: String) -> HTTPTransportError {
        HTTPTransportError(
            .invalidURL,
            "'\(url)' is not an https address, and plain http is for loopback only",
            .correct("correct the address")
        )
    }

    static func configuration(_ problem: String, _ advice: String) -> HTTPTransportError {
        HTTPTransportError(.configuration, problem, .correct(advice))
    }

    package static func notConnected(host: String, reason: String) -> HTTPTransportError {
        HTTPTransportError(
            .notConnected,
            "no connection to \(host) (\(reason))",
            Remedy(.checkNetwork, "check the network and try again")
        ).about(host, reason)
    }

    /// The time for a request was over before it was sent, which is not the network's doing.
    package static func tooLate(host: String) -> HTTPTransportError {
        HTTPTransportError(
            .notConnected,
            "no time was left to send anything to \(host), as when this program is stopped for a while",
            .retry
        ).about(host, "no time was left")
    }

    /// What a proxy answered that makes no connection; a later answer of it may be another.
    static func refused(host: String, proxy: String) -> HTTPTransportError {
        HTTPTransportError(
            .notConnected,
            "the proxy \(proxy) refused the connection to \(host)",
            Remedy(.checkNetwork, "check the proxy and try again")
        ).about(host, "refused by the proxy \(proxy)")
    }

    package static func notTrusted(host: String, reason: String) -> HTTPTransportError {
        HTTPTransportError(
            .notTrusted,
            "the certificate of \(host) is not trusted (\(reason))",
            Remedy(.trustAuthority, "name the right certificate authorities")
        ).about(host, reason)
    }

    static func otherName(host: String) -> HTTPTransportError {
        HTTPTransportError(
            .notTrusted,
            "the certificate of \(host) is for another name",
            Remedy(.checkSource, "check the address, and any proxy in front of it")
        ).about(host)
    }

    static func noName(host: String) -> HTTPTransportError {
        HTTPTransportError(
            .notTrusted,
            "the certificate of \(host) has no name in its subjectAltName",
            Remedy(.checkSource, "have it issued with one")
        ).about(host)
    }

    static func outdated(host: String, flaw: String) -> HTTPTransportError {
        HTTPTransportError(
            .outdated,
            "the certificate of \(host) \(flaw) by this machine's clock",
            Remedy(.correctClock, "correct the clock, or have the server renew it")
        ).about(host, flaw)
    }

    static func noTLS(host: String, reason: String) -> HTTPTransportError {
        HTTPTransportError(
            .noTLS,
            "\(host) and this machine do not agree on TLS (\(reason))",
            Remedy(.checkSource, "check the address, and any proxy in front of it")
        ).about(host, reason)
    }

    static func oldTLS(host: String, reason: String) -> HTTPTransportError {
        HTTPTransportError(
            .noTLS,
            "\(host) speaks no version of TLS that is accepted, which are 1.2 and 1.3",
            Remedy(.askOperator, "have the server speak one of them")
        ).about(host, reason)
    }

    package static func timedOut(host: String, proxy: String? = nil) -> HTTPTransportError {
        let way = proxy.map { ", by the proxy \($0)," } ?? ""
        return HTTPTransportError(.timedOut, "\(host)\(way) did not answer in time", .retryLater).about(host)
    }

    static func interrupted(host: String, reason: String) -> HTTPTransportError {
        HTTPTransportError(
            .interrupted,
            "the connection to \(host) ended before the answer did (\(reason))",
            .retry
        ).about(host, reason)
    }

    package static func tooLarge(host: String, limit: Int) -> HTTPTransportError {
        var error = HTTPTransportError(
            .tooLarge,
            "the answer of \(host) is larger than \(limit) bytes",
            Remedy(.checkSource, "check the address")
        ).about(host)
        error.limit = limit
        return error
    }

    static func undecodable(host: String, coding: String) -> HTTPTransportError {
        HTTPTransportError(
            .undecodable,
            "the answer of \(host) is compressed (\(coding)) and cannot be read",
            Remedy(.checkSource, "check the address and the proxy")
        ).about(host, coding)
    }

    static func notHTTP(host: String, reason: String) -> HTTPTransportError {
        HTTPTransportError(
            .notHTTP,
            "the answer of \(host) is not HTTP/1.1 (\(reason))",
            Remedy(.checkSource, "check the address, and any proxy in front of it")
        ).about(host, reason)
    }

    private func about(_ host: String, _ reason: String? = nil) -> HTTPTransportError {
        var error = self
        error.host = host
        error.reason = reason
        return error
    }

    /// The same of a connection that goes through a proxy.
    func by(proxy: String?) -> HTTPTransportError {
        guard let proxy, let host else { return self }
        let reason = "by the proxy \(proxy), \(reason ?? "")"
        switch code {
        case .notConnected: return .notConnected(host: host, reason: reason)
        case .interrupted: return .interrupted(host: host, reason: reason)
        case .timedOut: return .timedOut(host: host, proxy: proxy)
        default: return self
        }
    }
}
