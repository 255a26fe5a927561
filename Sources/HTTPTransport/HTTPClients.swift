import AsyncHTTPClient
import NIOCore
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The clients of one transport: one that goes straight, and one that goes through the proxy if there is one.
struct HTTPClients: Sendable {
    private let direct: HTTPClient
    private let proxied: HTTPClient?
    private let proxies: ProxySettings

    init(_ options: HTTPTransportOptions) throws(HTTPTransportError) {
        proxies = try ProxySettings(environment: options.environment)
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = TimeAmount(options.connectTimeout)
        configuration.tlsConfiguration = try Self.tls(options)
        configuration.httpVersion = .http1Only
        // A refused handshake would otherwise be repeated until the time to connect is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.idleTimeout = .seconds(20)
        direct = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        guard let proxy = proxies.proxy else {
            proxied = nil
            return
        }
        configuration.proxy = proxy
        proxied = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func client(for address: HTTPAddress) -> HTTPClient {
        guard let proxied, proxies.applies(to: address) else { return direct }
        return proxied
    }

    /// The proxy on the way to `address`, without its password.
    func proxyName(for address: HTTPAddress) -> String? {
        guard let proxy = proxies.proxy, proxies.applies(to: address) else { return nil }
        return "\(proxy.host):\(proxy.port)"
    }

    func shutdown() {
        for client in [direct, proxied].compactMap(\.self) { client.shutdown { _ in } }
    }

    private static func tls(_ options: HTTPTransportOptions) throws(HTTPTransportError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996 and RFC 9700 (section 2.6): what is older protects no token.
        tls.minimumTLSVersion = .tlsv12
        let given = options.caFile.map { ("--ca-file", $0) }
        let named = given ?? options.environment["SSL_CERT_FILE"].map { ("SSL_CERT_FILE", $0) }
        guard let (name, path) = named, !path.isEmpty else { return tls }
        guard access(path, R_OK) == 0 else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw .configuration("\(path), named by \(name), cannot be read (\(reason)); name a file that can")
        }
        do {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
        } catch {
            throw .configuration("\(path), named by \(name), holds no certificates in PEM; name a file that does")
        }
        return tls
    }
}
