#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How requests reach the network.
public struct HTTPTransportOptions: Sendable {
    /// How long to wait for a connection.
    public var connectTimeout: Duration = .seconds(5)

    /// A PEM file of the certificate authorities to trust; nil: `SSL_CERT_FILE`, else the system's.
    public var caFile: String?

    /// Where `SSL_CERT_FILE` and the proxies are looked up.
    public var environment: [String: String]

    public init(caFile: String? = nil) {
        self.caFile = caFile
        environment = ProcessInfo.processInfo.environment
    }
}
