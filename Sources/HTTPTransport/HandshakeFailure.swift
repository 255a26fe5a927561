import NIOSSL

/// Why a TLS handshake failed, as the TLS library reports it.
///
/// Its list begins with the innermost error, such as wrong padding in a signature; what failed by that stands behind
/// it. So the whole list counts, and not its first entry.
package struct HandshakeFailure {
    /// The names of the errors, such as `CERTIFICATE_VERIFY_FAILED`.
    private let names: [String]

    /// Errors that say which versions the other side speaks.
    private static let aboutVersions: Set = ["UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION"]

    /// Takes errors such as `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at FILE:LINE`.
    package init(_ errors: [String]) {
        names = errors.map { text in
            guard let place = text.firstRange(of: "OPENSSL_internal:") else { return text }
            return String(text[place.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        }
    }

    /// Whether the server's certificate, or a signature that it stands for, was refused.
    private var isAboutCertificate: Bool {
        names.contains { name in
            // An alert is what the server refused.
            !name.hasPrefix("TLSV1_") && !name.hasPrefix("SSLV3_")
                && (name.contains("CERT") || name.contains("SIGNATURE"))
        }
    }

    /// Whether the server refused what this side showed of itself, or that it showed nothing.
    ///
    /// In TLS 1.3 it says so when the client has already begun to send, and it does not read what was sent.
    package var isRefusalOfClient: Bool {
        names.contains { name in
            name.contains("_ALERT_")
                && ["CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED", "HANDSHAKE_FAILURE"].contains { name.contains($0) }
        }
    }

    /// The last error in words, which is what failed by the others.
    fileprivate var reason: String {
        HTTPTransportError.short((names.last ?? "no reason").lowercased().replacing("_", with: " "))
    }

    /// The error, which the same handshake meets again however often it is repeated.
    package func error(at host: String) -> HTTPTransportError {
        if isAboutCertificate { return .notTrusted(host: host, reason: reason) }
        if names.contains(where: Self.aboutVersions.contains) { return .oldTLS(host: host, reason: reason) }
        // What came has no record of TLS at its beginning.
        if names.contains("WRONG_VERSION_NUMBER") { return .noTLS(host: host, reason: "its answer is not TLS") }
        return .noTLS(host: host, reason: reason)
    }
}

extension HTTPTransportError {
    /// Only a connection that breaks off is worth another attempt: what the two sides do not agree on stays as it is,
    /// and a certificate that is refused may be that of an attacker.
    init(_ error: NIOSSLError, at host: String) {
        switch error {
        case .handshakeFailed(.sslError(let errors)), .handshakeFailed(.unknownError(let errors)):
            let isEnd =
                errors.contains(.eofDuringHandshake) || errors.contains(.eofDuringAdditionalCertficiateChainValidation)
            self =
                isEnd
                ? .notConnected(host: host, reason: "no TLS, the connection ended")
                : HandshakeFailure(errors.map { "\($0)" }).error(at: host)
        case .handshakeFailed(let failure):
            self = .notConnected(host: host, reason: "no TLS, \(Self.short("\(failure)"))")
        case .noCertificateToValidate: self = .notTrusted(host: host, reason: "there is none")
        case .unableToValidateCertificate, .cannotFindPeerIP:
            self = .notTrusted(host: host, reason: "it cannot be checked")
        case .cannotMatchULabel: self = .otherName(host: host)
        default: self = .interrupted(host: host, reason: Self.short("\(error)"))
        }
    }

    /// An error of TLS that came after the handshake, as this side saw it.
    init(_ error: BoringSSLError, at host: String, isSent: Bool?) {
        switch error {
        case .sslError(let errors), .unknownError(let errors):
            let failure = HandshakeFailure(errors.map { "\($0)" })
            self =
                failure.isRefusalOfClient || isSent == false
                ? failure.error(at: host) : .interrupted(host: host, reason: failure.reason)
        default: self = .interrupted(host: host, reason: Self.short("\(error)"))
        }
    }

    init(_ error: NIOSSLExtraError, at host: String) {
        switch error {
        case .failedToValidateHostname, .serverHostnameImpossibleToMatch: self = .otherName(host: host)
        case .cannotUseIPAddressInSNI, .invalidSNIHostname:
            self = .noTLS(host: host, reason: "its name cannot be sent")
        default: self = .interrupted(host: host, reason: Self.short("\(error)"))
        }
    }
}
