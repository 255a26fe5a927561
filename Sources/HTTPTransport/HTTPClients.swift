import AsyncHTTPClient
import NIOCore
import NIOSSL
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clients of one transport: one for each host and way to it, so that each knows whose certificate it is to see.
struct HTTPClients: Sendable {
    private let configuration: HTTPClient.Configuration
    private let proxies: ProxySettings
    private var clients: [String: HTTPClient] = [:]

    init(_ options: HTTPTransportOptions) throws(HTTPTransportError) {
        proxies = ProxySettings(environment: options.environment)
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = TimeAmount(options.connectTimeout)
        configuration.tlsConfiguration = try Self.tls(options)
        // The identity of a server is checked for this version alone.
        configuration.httpVersion = .http1Only
        // A refused handshake would otherwise be repeated until the time to connect is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.idleTimeout = .seconds(20)
        // Its own eight are few for a server, whose other requests would fail although the host serves.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(options.connectionsPerHost, 1)
        self.configuration = configuration
    }

    /// - Throws: ``HTTPTransportError/Code/configuration`` if the way leads through a proxy that cannot be used.
    mutating func client(for address: WebAddress) throws(HTTPTransportError) -> HTTPClient {
        let proxy = try proxies.proxy(for: address)
        let isEncrypted = address.scheme == "https"
        let name = (proxy == nil ? "" : "proxy ") + (isEncrypted ? address.host : "")
        if let client = clients[name] { return client }
        var configuration = configuration
        configuration.proxy = proxy?.proxy
        if isEncrypted {
            let identity = ServerIdentity(host: address.host)
            configuration.http1_1ConnectionDebugInitializer = { identity.check($0) }
            // It would compare the certificate with the address of the proxy.
            if proxy != nil, identity.isAddress {
                configuration.tlsConfiguration?.certificateVerification = .noHostnameVerification
            }
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        clients[name] = client
        return client
    }

    /// The proxy on the way to `address`; nil if there is none that can be used.
    func proxy(for address: WebAddress) -> NamedProxy? {
        do {
            return try proxies.proxy(for: address)
        } catch {
            return nil
        }
    }

    func shutdown() {
        for client in clients.values { client.shutdown { _ in } }
    }

    private static func tls(_ options: HTTPTransportOptions) throws(HTTPTransportError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996 and RFC 9700 (section 2.6): older versions do not protect a token.
        tls.minimumTLSVersion = .tlsv12
        guard let path = options.caFile ?? options.environment["SSL_CERT_FILE"], !path.isEmpty else { return tls }
        let file = options.caFile == nil ? "\(path), named by SSL_CERT_FILE," : "the CA file \(path)"
        guard access(path, R_OK) == 0 else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw .configuration("\(file) cannot be read (\(reason))", "name a file that can")
        }
        do {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
        } catch {
            throw .configuration("\(file) holds no certificates in PEM", "name a file that does")
        }
        return tls
    }
}

/// How requests reach the network.
public struct HTTPTransportOptions: Sendable {
    /// How long to wait for a connection.
    public var connectTimeout: Duration = .seconds(5)

    /// How many requests to one host may be under way at once.
    ///
    /// Each has a connection of its own. One more waits for the end of another, and fails as one that is not connected
    /// where that takes longer than ``connectTimeout``.
    public var connectionsPerHost = 128

    /// A PEM file of the certificate authorities to trust; nil: `SSL_CERT_FILE`, else the system's.
    public var caFile: String?

    /// Where `SSL_CERT_FILE` and the proxies are looked up.
    public var environment: [String: String]

    /// Options with a PEM file of certificates to trust instead of the system's; nil: those that ``caFile`` describes.
    public init(caFile: String? = nil) {
        self.caFile = caFile
        environment = ProcessInfo.processInfo.environment
    }
}

extension HTTPTransportOptions: CustomReflectable {
    /// Without the environment, which may hold passwords of proxies and others.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "connectTimeout": connectTimeout, "connectionsPerHost": connectionsPerHost, "caFile": caFile as Any,
            ]
        )
    }
}
