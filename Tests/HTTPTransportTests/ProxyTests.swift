import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct ProxyTests {
    private static let limits = HTTPLimits(head: .seconds(40), total: .seconds(40), bodySize: 100_000)

    @Test func `a proxy of the environment is used, but not for loopback`() async throws {
        let proxy = try RawServer("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        defer { proxy.stop() }
        var options = HTTPTransportOptions()
        options.environment = ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)", "NO_PROXY": ".direct.invalid"]
        let transport = AsyncHTTPTransport(options: options)
        await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://issuer.invalid/"), limits: Self.limits)
        }
        #expect(proxy.requests.first?.hasPrefix("CONNECT issuer.invalid:443") == true)
        await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://a.direct.invalid/"), limits: Self.limits)
        }
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        defer { server.stop() }
        #expect(try await transport.send(HTTPRequest("GET", server.url), limits: Self.limits).status == 200)
        #expect(proxy.requests.count == 1)
    }

    @Test(arguments: [
        ("us%40er:p%3Aw%2Fd%25", "us@er:p:w/d%"), ("user:a:b", "user:a:b"), ("user", "user:"), ("%C3%BC:x", "\u{FC}:x"),
    ])
    func `the user and the password of a proxy are decoded`(written: String, meant: String) async throws {
        let proxy = try RawServer("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        defer { proxy.stop() }
        var options = HTTPTransportOptions()
        options.environment = ["https_proxy": "http://\(written)@127.0.0.1:\(proxy.port)"]
        let transport = AsyncHTTPTransport(options: options)
        await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://issuer.invalid/"), limits: Self.limits)
        }
        let sent = "Basic \(Data(meant.utf8).base64EncodedString())"
        #expect(proxy.requests.first?.lowercased().contains("proxy-authorization: \(sent.lowercased())\r\n") == true)
        #expect(proxy.requests.first?.contains(sent) == true)
    }

    @Test(arguments: [
        "us%er:secret", "user:secret%", "user:secret%4", "us%3Aer:secret", "user:secret%0A", "%FF:secret",
    ])
    func `malformed proxy credentials are an error that does not show them`(written: String) async throws {
        var options = HTTPTransportOptions()
        options.environment = ["ALL_PROXY": "http://\(written)@127.0.0.1:1"]
        let transport = AsyncHTTPTransport(options: options)
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://issuer.invalid/"), limits: Self.limits)
        }
        let sentence = error.map { "\($0)" } ?? ""
        #expect(sentence.contains("ALL_PROXY"), "\(sentence)")
        #expect(!sentence.contains("secret"), "\(sentence)")
    }

    @Test(arguments: ["socks5://user:secret@127.0.0.1:1", "socks5h://secret@127.0.0.1:1"])
    func `a user name for a SOCKS proxy is refused`(proxy: String) async throws {
        var options = HTTPTransportOptions()
        options.environment = ["ALL_PROXY": proxy]
        let transport = AsyncHTTPTransport(options: options)
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://issuer.invalid/"), limits: Self.limits)
        }
        let sentence = error.map { "\($0)" } ?? ""
        #expect(sentence.contains("ALL_PROXY has a user for a SOCKS proxy"), "\(sentence)")
        #expect(!sentence.contains("secret"), "\(sentence)")
    }

    private static func error(_ environment: [String: String]) async throws -> HTTPTransportError {
        var options = HTTPTransportOptions()
        options.environment = environment
        let transport = AsyncHTTPTransport(options: options)
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://issuer.invalid/"), limits: Self.limits)
        }
        return try #require(error)
    }

    @Test(arguments: ["403 Forbidden", "502 Bad Gateway", "503 Service Unavailable"])
    func `a proxy that makes no connection is named, and nothing was sent`(status: String) async throws {
        let proxy = try RawServer("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
        defer { proxy.stop() }
        let error = try await Self.error(["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
        #expect(error.problem == "the proxy 127.0.0.1:\(proxy.port) refused the connection to issuer.invalid")
        #expect(error.code == .notConnected)
        #expect(!error.mayHaveTakenEffect)
    }

    @Test(arguments: [("", "wants a user name and a password"), ("user:secret@", "does not accept the user name")])
    func `a proxy that asks for a password says which variable to correct`(user: String, words: String) async throws {
        let proxy = try RawServer("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        defer { proxy.stop() }
        let error = try await Self.error(["HTTPS_PROXY": "http://\(user)127.0.0.1:\(proxy.port)"])
        #expect(error.problem.hasPrefix("the proxy 127.0.0.1:\(proxy.port) \(words)"), "\(error)")
        let sentence = "\(error.problem) \(error.remedy?.advice ?? "")"
        #expect(sentence.contains("HTTPS_PROXY"))
        #expect(!"\(error)".contains("secret"))
        #expect(!error.isTransient)
    }

    @Test(arguments: [
        ["\u{5}\0", "\u{5}\u{5}\0\u{1}\0\0\0\0\0\0"], ["\u{5}\0", ""], [""], ["HTTP/1.1 400 Bad Request\r\n\r\n"],
    ])
    func `a SOCKS proxy that makes no connection is named, and nothing was sent`(answers: [String]) async throws {
        let proxy = try PlainServer(answers)
        defer { proxy.stop() }
        let error = try await Self.error(["ALL_PROXY": "socks5://127.0.0.1:\(proxy.port)"])
        #expect(error.code == .notConnected)
        #expect(error.problem == "the proxy 127.0.0.1:\(proxy.port) refused the connection to issuer.invalid")
        #expect(!error.mayHaveTakenEffect)
        #expect(error.isTransient)
    }

    @Test func `a SOCKS proxy that wants a user is an error of the configuration`() async throws {
        let proxy = try PlainServer(["\u{5}\u{2}"])
        defer { proxy.stop() }
        let error = try await Self.error(["ALL_PROXY": "socks5://127.0.0.1:\(proxy.port)"])
        #expect(error.code == .configuration)
        #expect(error.problem == "the SOCKS proxy 127.0.0.1:\(proxy.port) wants a user, which is not supported")
        #expect(error.remedy?.advice.hasSuffix("in ALL_PROXY") == true)
        #expect(!error.isTransient)
    }

    @Test func `a proxy that cannot be used does no harm where it is not used`() async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        defer { server.stop() }
        var options = HTTPTransportOptions()
        options.environment = ["HTTPS_PROXY": "https://proxy.invalid:8080"]
        let transport = AsyncHTTPTransport(options: options)
        #expect(try await transport.send(HTTPRequest("GET", server.url), limits: Self.limits).status == 200)
        #expect(try await Self.error(options.environment).code == .configuration)
    }

    @Test(arguments: ["issuer.invalid:443", "*.invalid", "invalid:443", "*.invalid:443", "*", "x, .invalid"])
    func `a host that NO_PROXY lists, with its port or a star, is reached directly`(list: String) async throws {
        let error = try await Self.error(["HTTPS_PROXY": "https://proxy.invalid:8080", "NO_PROXY": list])
        #expect(error.code == .notConnected, "\(error)")
    }

    @Test(arguments: ["issuer.invalid:8443", "nissuer.invalid", "uer.invalid", ".", "*."])
    func `a host that NO_PROXY does not list goes through the proxy`(list: String) async throws {
        let error = try await Self.error(["HTTPS_PROXY": "https://proxy.invalid:8080", "NO_PROXY": list])
        #expect(error.code == .configuration, "\(error)")
    }
}
