import AsyncHTTPClient
import NIOCore
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
    /// What an error of the client means for whoever sent the request.
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
