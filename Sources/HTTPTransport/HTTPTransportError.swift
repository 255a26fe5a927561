import AsyncHTTPClient
package import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a complete answer was not received.
public enum HTTPTransportError: Error, Hashable {
    /// The text is not an `https` URL; plain `http` is for loopback addresses.
    case invalidURL(String)

    /// The configured CA file or proxy is invalid.
    case configuration(String)

    /// No connection came about, so nothing was sent.
    case notConnected(host: String, reason: String)

    /// The server's certificate was refused, so nothing was sent.
    case notTrusted(host: String, reason: String)

    /// The server's certificate is not good at the time that this machine's clock shows, so nothing was sent.
    case outdated(host: String, flaw: String)

    /// A time limit passed.
    case timedOut(host: String)

    /// The connection ended before the answer did.
    case interrupted(host: String, reason: String)

    /// The answer is larger than the limit.
    case tooLarge(host: String, limit: Int)

    /// The answer is compressed, which was not asked for, in a way that cannot be undone.
    case undecodable(host: String, coding: String)
}

extension HTTPTransportError {
    /// Whether the server may have received the request and acted on it.
    public var mayHaveTakenEffect: Bool {
        switch self {
        case .invalidURL, .configuration, .notConnected, .notTrusted, .outdated: false
        case .timedOut, .interrupted, .tooLarge, .undecodable: true
        }
    }

    /// Whether the same request may succeed when repeated.
    public var isTransient: Bool {
        switch self {
        case .notConnected, .timedOut, .interrupted: true
        case .invalidURL, .configuration, .notTrusted, .outdated, .tooLarge, .undecodable: false
        }
    }
}

extension HTTPTransportError {
    /// The same of a connection that goes through a proxy.
    func by(proxy: String?) -> HTTPTransportError {
        guard let proxy else { return self }
        switch self {
        case .notConnected(let host, let reason):
            return .notConnected(host: host, reason: "by the proxy \(proxy), \(reason)")
        case .interrupted(let host, let reason):
            return .interrupted(host: host, reason: "by the proxy \(proxy), \(reason)")
        case .timedOut(let host): return .timedOut(host: "\(host), by the proxy \(proxy),")
        default: return self
        }
    }
}

extension HTTPTransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidURL(let url):
            "'\(url)' is not an https address, and plain http is for loopback only; correct the address"
        case .configuration(let sentence): sentence
        case .notConnected(let host, let reason):
            "no connection to \(host) (\(reason)); check the network and try again"
        case .notTrusted(let host, let reason):
            "the certificate of \(host) is not trusted (\(reason)); name the right authorities with --ca-file"
        case .outdated(let host, let flaw):
            "the certificate of \(host) \(flaw) by this machine's clock; correct the clock, or have the server renew it"
        case .timedOut(let host): "\(host) did not answer in time; try again later"
        case .interrupted(let host, let reason):
            "the connection to \(host) ended before the answer did (\(reason)); try again"
        case .tooLarge(let host, let limit):
            "the answer of \(host) is larger than \(limit) bytes; check the address"
        case .undecodable(let host, let coding):
            "the answer of \(host) is compressed (\(coding)) and cannot be read; check the address and the proxy"
        }
    }
}

extension HTTPTransportError {
    /// Translates an error of the HTTP client for the caller.
    init(_ error: any Error, host: String) {
        switch error {
        case let error as HTTPTransportError: self = error
        case let error as HTTPClientError: self.init(error, at: host)
        case let error as NIOConnectionError:
            let reason = error.connectionErrors.first.map { Self.reason(of: $0.error) } ?? "its name is unknown"
            self = .notConnected(host: host, reason: reason)
        case is SocketAddressError: self = .notConnected(host: host, reason: "its name is unknown")
        case let error as NIOSSLError: self.init(error, at: host)
        case let error as NIOSSLExtraError: self = .notTrusted(host: host, reason: Self.short("\(error)"))
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            self = .notConnected(host: host, reason: error.words)
        case let error as IOError: self = .interrupted(host: host, reason: error.words)
        default: self = .interrupted(host: host, reason: Self.short("\(error)"))
        }
    }

    private init(_ error: HTTPClientError, at host: String) {
        switch error {
        case .connectTimeout: self = .notConnected(host: host, reason: "no answer in time")
        case .deadlineExceeded, .readTimeout, .writeTimeout: self = .timedOut(host: host)
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout, .tlsHandshakeTimeout, .proxyAuthenticationRequired:
            self = .notConnected(host: host, reason: error.shortDescription)
        default: self = .interrupted(host: host, reason: Self.short(error.shortDescription))
        }
    }

    private init(_ error: NIOSSLError, at host: String) {
        guard case .handshakeFailed(let failure) = error else {
            self = .interrupted(host: host, reason: Self.short("\(error)"))
            return
        }
        let reason = Self.reason(ofTLS: "\(failure)")
        self =
            reason.contains("certificate")
            ? .notTrusted(host: host, reason: reason) : .notConnected(host: host, reason: "no TLS, \(reason)")
    }

    private static func reason(of error: any Error) -> String {
        (error as? IOError)?.words ?? short("\(error)")
    }

    /// The words in `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at FILE:LINE`.
    private static func reason(ofTLS text: String) -> String {
        guard let place = text.firstRange(of: "OPENSSL_internal:") else { return short(text) }
        let name = text[place.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return name.lowercased().replacing("_", with: " ")
    }

    /// Errors of the layers below can be long, and they repeat what the sentence says already.
    private static func short(_ reason: String) -> String {
        let line = reason.prefix { !$0.isNewline }
        return line.count > 120 ? line.prefix(117) + "..." : String(line)
    }
}

extension IOError {
    /// What the system says, without what the client adds to it.
    package var words: String {
        errnoCode == ECONNREFUSED ? "refused" : String(cString: strerror(errnoCode)).lowercased()
    }
}
