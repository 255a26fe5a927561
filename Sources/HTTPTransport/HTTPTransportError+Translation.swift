import AsyncHTTPClient
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension HTTPTransportError {
    /// Translates an error of the HTTP client for the caller.
    ///
    /// `isSent` is whether a connection has asked for the body of the request; nil where it has none. The server cannot
    /// have acted on a body that nothing asked for.
    package init(_ error: any Error, host: String, isSent: Bool?) {
        self.init(error, at: host, isSent)
        if isSent == false, code == .timedOut || code == .interrupted {
            self = .notConnected(host: host, reason: reason ?? "no answer in time")
        }
    }

    private init(_ error: any Error, at host: String, _ isSent: Bool?) {
        switch error {
        case let error as HTTPTransportError: self = error
        case let error as HTTPClientError: self.init(error, at: host)
        case let error as NIOConnectionError:
            let reason = error.connectionErrors.first.map { Self.reason(of: $0.error) } ?? "its name is unknown"
            self = .notConnected(host: host, reason: reason)
        case is SocketAddressError: self = .notConnected(host: host, reason: "its name is unknown")
        case let error as ServerIdentity.Mismatch:
            self = error.namesServers ? .otherName(host: host) : .noName(host: host)
        case let error as NIOSSLError: self.init(error, at: host)
        case let error as NIOSSLExtraError: self.init(error, at: host)
        case let error as BoringSSLError: self.init(error, at: host, isSent: isSent)
        case let error as IOError where error.isOfConnecting && isSent != true:
            self = .notConnected(host: host, reason: error.words)
        case let error as IOError: self = .interrupted(host: host, reason: error.words)
        // That one is about an answer that is cut off. What any other is about would come again.
        case let error as HTTPParserError where error != .invalidEOFState:
            self = .notHTTP(host: host, reason: Self.short("\(error)"))
        default: self = .interrupted(host: host, reason: Self.short("\(error)"))
        }
    }

    private init(_ error: HTTPClientError, at host: String) {
        switch error {
        case .connectTimeout: self = .notConnected(host: host, reason: "no answer in time")
        case .deadlineExceeded, .readTimeout, .writeTimeout: self = .timedOut(host: host)
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout, .tlsHandshakeTimeout, .proxyAuthenticationRequired,
            .invalidProxyResponse, .getConnectionFromPoolTimeout:
            self = .notConnected(host: host, reason: Self.short(error.shortDescription))
        default: self = .interrupted(host: host, reason: Self.short(error.shortDescription))
        }
    }

    private static func reason(of error: any Error) -> String {
        (error as? IOError)?.words ?? short("\(error)")
    }

    /// Errors of the layers below can be long, and they repeat what the sentence says already.
    static func short(_ reason: String) -> String {
        let line = reason.prefix { !$0.isNewline }
        return line.count > 120 ? line.prefix(117) + "..." : String(line)
    }
}

extension IOError {
    /// What the system says, without what the client adds to it.
    package var words: String {
        errnoCode == ECONNREFUSED ? "refused" : String(cString: strerror(errnoCode)).lowercased()
    }

    /// Whether it is what the system says of connections that do not come about.
    fileprivate var isOfConnecting: Bool {
        [ECONNREFUSED, ENETUNREACH, ENETDOWN, EHOSTUNREACH, ETIMEDOUT, EACCES, EADDRNOTAVAIL].contains(errnoCode)
    }
}
