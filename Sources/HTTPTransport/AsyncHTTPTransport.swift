import AsyncHTTPClient
import NIOCore
import NIOHTTP1
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

/// HTTP over the network, by async-http-client.
///
/// Its client starts at the first request, so that a program that finds its token in the store pays nothing.
public final class AsyncHTTPTransport: HTTPTransport {
    private let options: HTTPTransportOptions
    private let clients = LockedValue<HTTPClients?>(nil)

    /// A transport with connections of its own, which end with it.
    public init(options: HTTPTransportOptions = HTTPTransportOptions()) { self.options = options }

    deinit {
        // A failure to close idle connections cannot be reported to a caller.
        clients.withLock(\.self)?.shutdown()
    }

    public func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        guard let address = WebAddress(secure: request.url) else {
            throw HTTPTransportError.invalidURL(request.description)
        }
        let client = try client(for: address)
        do {
            return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                group.addTask { try await Self.exchange(request, by: client, address, limits) }
                // The client's own time limit ends with the head of the answer; a body may drip for ever.
                group.addTask {
                    try await Task.sleep(for: limits.total.sleepable)
                    throw HTTPTransportError.timedOut(host: address.name)
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        } catch {
            try Task.checkCancellation()
            throw await failure(HTTPTransportError(error, host: address.name), at: address)
        }
    }

    /// The failure with what only the transport knows of it.
    private func failure(_ failure: HTTPTransportError, at address: WebAddress) async -> HTTPTransportError {
        let proxy = clients.withLock { $0?.proxyName(for: address) }
        guard proxy == nil, failure.code == .notTrusted, let host = failure.host else {
            return failure.by(proxy: proxy)
        }
        let flaw = await CertificateTimes.shown(at: address)?.flaw(at: Int64(time(nil)))
        return flaw.map { .outdated(host: host, flaw: $0) } ?? failure
    }

    private static func exchange(
        _ request: HTTPRequest,
        by client: HTTPClient,
        _ address: WebAddress,
        _ limits: HTTPLimits
    ) async throws -> HTTPResponse {
        let response = try await head(of: request, by: client, before: .now() + TimeAmount(limits.head))
        var body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: limits.bodySize)
        } catch is NIOTooManyBytesError {
            throw HTTPTransportError.tooLarge(host: address.name, limit: limits.bodySize)
        }
        let answer = HTTPResponse(
            status: Int(response.status.code),
            headers: HTTPHeaders(response.headers.map { (name: $0.name, value: $0.value) }),
            body: body.withUnsafeMutableReadableBytes { bytes in
                defer { wipe(bytes) }
                return Secret(copying: UnsafeRawBufferPointer(bytes))
            }
        )
        // Who names codings undoes them.
        guard request.headers["accept-encoding"] == nil else { return answer }
        return try answer.decoded(limit: limits.bodySize, host: address.name)
    }

    /// Sends a request until the head of its answer is there.
    ///
    /// A server may close a connection just when the next request is on its way there, without having read it. Only the
    /// sender knows whether it may go twice.
    private static func head(
        of request: HTTPRequest,
        by client: HTTPClient,
        before deadline: NIODeadline
    ) async throws -> HTTPClientResponse {
        let outgoing = outgoing(request)
        do {
            return try await client.execute(outgoing, deadline: deadline)
        } catch  where request.mayBeRepeated && isClosing(error) {
            return try await client.execute(outgoing, deadline: deadline)
        }
    }

    /// Whether the connection ended before the first byte of an answer.
    private static func isClosing(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
        default: false
        }
    }

    private static func outgoing(_ request: HTTPRequest) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers.fields { outgoing.headers.add(name: name, value: value) }
        // What a proxy compresses all the same is undone below.
        if request.headers["accept-encoding"] == nil {
            outgoing.headers.add(name: "accept-encoding", value: "identity")
        }
        if let body = request.body {
            outgoing.body = .bytes(body.withUnsafeBytes { ByteBuffer(bytes: $0) })
        }
        return outgoing
    }

    private func client(for address: WebAddress) throws -> HTTPClient {
        try clients.withLock { clients in
            let started = try clients ?? HTTPClients(options)
            clients = started
            return started.client(for: address)
        }
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
    }
}

/// The clients of one transport: one that goes straight, and one that goes through the proxy if there is one.
private struct HTTPClients: Sendable {
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

    func client(for address: WebAddress) -> HTTPClient {
        guard let proxied, proxies.applies(to: address) else { return direct }
        return proxied
    }

    /// The proxy on the way to `address`, without its password.
    func proxyName(for address: WebAddress) -> String? {
        guard let proxy = proxies.proxy, proxies.applies(to: address) else { return nil }
        return "\(proxy.host):\(proxy.port)"
    }

    func shutdown() {
        for client in [direct, proxied].compactMap(\.self) { client.shutdown { _ in } }
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

    /// A PEM file of the certificate authorities to trust; nil: `SSL_CERT_FILE`, else the system's.
    public var caFile: String?

    /// Where `SSL_CERT_FILE` and the proxies are looked up.
    public var environment: [String: String]

    /// Options with a file of certificates to trust beside the system's, in PEM; nil: the system's alone.
    public init(caFile: String? = nil) {
        self.caFile = caFile
        environment = ProcessInfo.processInfo.environment
    }
}
