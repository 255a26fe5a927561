import AsyncHTTPClient
import Foundation
import IssuerSupport
import LocalIdentityProvider
import NIOCore
import NIOHTTP1

/// A started provider and short ways to talk to it over HTTP.
struct Site: Sendable {
    static let start = Date(timeIntervalSince1970: 1_790_000_000)
    static let ana = "ana.rojas@example.org"
    static let anasPassword = "Quinoa-7-Lunas"
    static let bo = "bo@example.org"
    static let cleo = "cleo@example.org"
    static let cleosPassword = "Marmol-4-Rios"
    static let everyType = "oob password redirect"
    static let callback = "http://127.0.0.1:53211/"

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: .init(redirectConfiguration: .disallow)
    )

    let provider: LocalIdentityProvider
    var tenant: String { provider.baseURL + "/fabrikvine.onmicrosoft.com" }
    var susi: String { provider.baseURL + "/tfp/fabrikvine.onmicrosoft.com/b2c_1_susi" }

    /// Runs `body` against a provider whose time stands still unless a test moves it.
    static func open(
        grace: Double = 10,
        seed: Seed? = nil,
        tls: LocalIdentityProvider.Certificate? = nil,
        clock: ProviderClock = ProviderClock { start },
        requestTimeout: Int = 10,
        _ body: (Site) async throws -> Void
    ) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.hosts = LocalIdentityProvider.Configuration().hosts
        configuration.clock = clock
        configuration.adminKey = "test-key"
        configuration.refreshGrace = grace
        configuration.seed = seed
        configuration.tls = tls
        configuration.requestTimeout = requestTimeout
        try await LocalIdentityProvider.running(configuration) { provider in try await body(Site(provider: provider)) }
    }

    // MARK: Requests

    static func send(
        _ method: String,
        _ url: String,
        headers: [String: String] = [:],
        body: [UInt8]? = nil,
        seconds: Int64 = 60
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: .seconds(seconds))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name.lowercased(), $0.value) },
            body: Array(bytes.readableBytesView)
        )
    }

    static func get(_ url: String, headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", url, headers: headers)
    }

    static func post(_ url: String, _ form: [String: String], headers: [String: String] = [:]) async throws -> Answer {
        let headers = headers.merging(["content-type": "application/x-www-form-urlencoded"]) { given, _ in given }
        return try await send("POST", url, headers: headers, body: Array(encode(form).utf8))
    }

    func send(
        _ method: String,
        _ url: String,
        headers: [String: String] = [:],
        body: [UInt8]? = nil,
        seconds: Int64 = 60
    ) async throws -> Answer {
        try await Self.send(method, url, headers: headers, body: body, seconds: seconds)
    }

    func get(_ url: String, headers: [String: String] = [:]) async throws -> Answer {
        try await Self.get(url, headers: headers)
    }

    func post(_ url: String, _ form: [String: String], headers: [String: String] = [:]) async throws -> Answer {
        try await Self.post(url, form, headers: headers)
    }

    static func encode(_ form: [String: String]) -> String {
        form.sorted { $0.key < $1.key }.map { "\(escape($0.key))=\(escape($0.value))" }.joined(separator: "&")
    }

    static func escape(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return text.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + hexadecimal($0) }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.count == 1 ? "0" + text : text
    }

    // MARK: Control

    func code(to recipient: String) throws -> String {
        guard let message = provider.outbox.messages(to: recipient).last else {
            throw ExpectationFailure("a code to \(recipient)")
        }
        return message.code
    }

    func requests(to route: String) -> Int { provider.audit.count(of: route) }

    /// A code that is certainly not the one sent last.
    func wrongCode(to recipient: String) throws -> String {
        try code(to: recipient) == "00000000" ? "00000001" : "00000000"
    }
}
