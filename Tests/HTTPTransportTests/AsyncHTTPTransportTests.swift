import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct AsyncHTTPTransportTests {
    private static let transport = AsyncHTTPTransport()
    private static let limits = HTTPLimits(head: .seconds(40), total: .seconds(40), bodySize: 100_000)

    /// For servers that never come to an end.
    private static let short = HTTPLimits(head: .milliseconds(300), total: .milliseconds(400), bodySize: 100_000)

    private static func send(
        _ server: RawServer,
        limits: HTTPLimits = limits,
        _ change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        defer { server.stop() }
        var request = HTTPRequest("GET", server.url)
        change(&request)
        return try await transport.send(request, limits: limits)
    }

    private static func error(_ server: RawServer, limits: HTTPLimits = limits) async -> HTTPTransportError? {
        do {
            _ = try await send(server, limits: limits)
            return nil
        } catch {
            return error as? HTTPTransportError
        }
    }

    @Test func `an answer comes whole, with its status and headers`() async throws {
        let server = try RawServer("HTTP/1.1 201 Created\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi")
        let response = try await Self.send(server) {
            $0.method = "POST"
            $0.body = Secret("a=b")
        }
        #expect(response.status == 201)
        #expect(response.headers["x-a"] == "b")
        #expect(response.body == Secret("hi"))
        #expect(server.requests.first?.hasSuffix("a=b") == true)
    }

    @Test func `a request that is shown has no query and no value of a header`() {
        let url = "https://i.example/x?code=c1#c2"
        let request = HTTPRequest("GET", url, headers: ["cookie": "c3"], body: Secret("c4"))
        var shown = "\(request) \(String(reflecting: request))"
        dump(request, to: &shown)
        #expect(shown.contains("GET https://i.example/x"))
        for secret in ["c1", "c2", "c3", "c4"] { #expect(!shown.contains(secret)) }
    }

    @Test func `a redirect is an answer, and is not followed`() async throws {
        let server = try RawServer("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        #expect(try await Self.send(server).status == 302)
    }

    @Test func `R10: a silent server ends at the time limit for the head`() async throws {
        let server = try RawServer("", .hangs)
        let error = await Self.error(server, limits: Self.short)
        #expect(error?.isTransient == true, "\(String(describing: error))")
    }

    @Test func `R10: a body that drips for ever ends at the time limit for the whole request`() async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\n\r\n", .drips)
        let error = await Self.error(server, limits: Self.short)
        guard error?.code == .timedOut else {
            Issue.record("no time limit: \(String(describing: error))")
            return
        }
    }

    @Test func `R10: a body beyond the limit is refused`() async throws {
        let body = String(repeating: "x", count: 200_000)
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n\(body)")
        guard await Self.error(server)?.limit == 100_000 else {
            Issue.record("no size limit")
            return
        }
    }

    @Test func `R10: a truncated body is an error of a request that may have taken effect`() async throws {
        let error = await Self.error(try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"))
        #expect(error?.mayHaveTakenEffect == true)
        #expect(error?.isTransient == true)
    }

    @Test(arguments: ["\0\0\0\u{4}\0\0\0\0\0", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/7.1 200 OK\r\n\r\n"])
    func `an answer of another protocol is said to be one, and not worth a repetition`(answer: String) async throws {
        let server = try RawServer(answer)
        let error = await Self.error(server)
        #expect(error?.code == .notHTTP, "\(String(describing: error))")
        #expect(error?.problem.hasPrefix("the answer of 127.0.0.1:\(server.port) is not HTTP/1.1 (") == true)
        #expect(error?.mayHaveTakenEffect == true)
        #expect(error?.isTransient == false)
    }

    @Test func `a refused connection has taken no effect`() async throws {
        let port = try UnusedPort().number
        let error = await #expect(throws: HTTPTransportError.self) {
            try await Self.transport.send(HTTPRequest("GET", "http://127.0.0.1:\(port)/"), limits: Self.limits)
        }
        guard error?.code == .notConnected, error?.reason == "refused" else {
            Issue.record("not refused: \(String(describing: error))")
            return
        }
        #expect(error?.mayHaveTakenEffect == false)
    }

    @Test func `a time limit before a connection is made leaves a request without effect`() async throws {
        let longer = HTTPLimits(head: .seconds(4), total: .seconds(5), bodySize: 100_000)
        for (scheme, limits, mayHaveTakenEffect) in [("https", Self.short, false), ("http", longer, true)] {
            let server = try RawServer("", .hangs)
            defer { server.stop() }
            var request = HTTPRequest("POST", "\(scheme)://127.0.0.1:\(server.port)/")
            request.body = Secret("a=b")
            let error = await #expect(throws: HTTPTransportError.self) {
                try await Self.transport.send(request, limits: limits)
            }
            #expect(error?.mayHaveTakenEffect == mayHaveTakenEffect, "\(String(describing: error))")
            #expect(error?.isTransient == true)
        }
    }

    @Test func `a refused connection has the same error text for every address tried`() async throws {
        let port = try UnusedPort().number
        for place in ["https://127.0.0.1", "https://localhost", "http://localhost"] {
            let error = await #expect(throws: HTTPTransportError.self) {
                try await Self.transport.send(HTTPRequest("GET", "\(place):\(port)/"), limits: Self.limits)
            }
            guard error?.code == .notConnected, error?.reason == "refused" else {
                Issue.record("other words: \(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: [
        "http://example.com/", "ftp://127.0.0.1/", "https://a b/", "https://u@h/", "http://127.0.0.1.example/",
        "https://h:+443/", "https://h:0443/", "https://[::1]]:443/", "https://h%2eexample/", "https://h\\@example/",
        "https://h/a\\b",
    ])
    func `plain http outside loopback and malformed addresses are refused`(url: String) async throws {
        let error = await #expect(throws: HTTPTransportError.self) {
            try await Self.transport.send(HTTPRequest("GET", url), limits: Self.limits)
        }
        guard error?.code == .invalidURL else {
            Issue.record("not refused: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["?secret=x", "?\u{301}secret=x", "#secret", "#\u{5BF}secret"])
    func `the description of a request leaves its query out`(query: String) {
        #expect("\(HTTPRequest("GET", "https://h/a" + query))" == "GET https://h/a")
    }

    @Test func `a malformed CA file is an error that names the file`() async throws {
        let transport = AsyncHTTPTransport(options: HTTPTransportOptions(caFile: "/dev/null"))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest("GET", "https://127.0.0.1:1/"), limits: Self.limits)
        }
        #expect("\(String(describing: error))".contains("/dev/null"))
    }

    @Test func `a closed connection is retried once when a repetition does no harm`()
        async throws
    {
        for (method, isIdempotent, isRepeated) in [
            ("GET", false, true), ("HEAD", false, true), ("POST", true, true), ("POST", false, false),
            ("PUT", false, false),
        ] {
            // A server that closes the connection just when the request arrives.
            let isFirst = Mutex(true)
            let server = try RawServer { _ in
                let isClosing = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                return isClosing ? "" : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            }
            let response = try? await Self.send(server) {
                $0.method = method
                $0.isIdempotent = isIdempotent
            }
            #expect(response?.status == (isRepeated ? 200 : nil))
            #expect(server.requests.count == (isRepeated ? 2 : 1))
        }
        let closing = try RawServer("")
        #expect(await Self.error(closing)?.isTransient == true)
        #expect(closing.requests.count == 2)
    }

    @Test func `a request says what sends it, unless its caller has said so`() async throws {
        for (own, sent) in [(nil, "tokenstore"), ("app/1", "app/1")] {
            let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            _ = try await Self.send(server) { $0.headers["user-agent"] = own }
            let lines = try #require(server.requests.first).lowercased().split(separator: "\r\n")
            #expect(lines.filter { $0.hasPrefix("user-agent:") } == ["user-agent: \(sent)"])
        }
    }

    @Test func `a request with a truncated answer is not repeated`() async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")
        #expect(await Self.error(server) != nil)
        #expect(server.requests.count == 1)
    }

    @Test(
        arguments: [
            ("Transfer-Encoding: chunked\r\n\r\n7\r\n", "\r\n"), ("Content-Length: 50\r\n\r\n", ""), ("\r\n", ""),
        ],
        [RawServer.Ending.closes, .hangs]
    )
    func `an object of JSON is whole although the end of its framing is cut off or never comes`(
        head: (start: String, end: String),
        ending: RawServer.Ending
    ) async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\n\(head.start){\"a\":1}\(head.end)", ending)
        // The answer has to be there by then, on a machine that is busy with other tests.
        let patient = HTTPLimits(head: .seconds(5), total: .seconds(5), bodySize: 100_000)
        let limits = ending == .hangs ? patient : Self.limits
        let response = try await Self.send(server, limits: limits) { $0.method = "POST" }
        #expect(response.body == Secret(#"{"a":1}"#))
        #expect(server.requests.count == 1)
    }

    private static func sendForm(_ server: RawServer) async throws -> HTTPResponse {
        try await send(server) {
            $0.method = "POST"
            $0.headers["content-type"] = "application/x-www-form-urlencoded"
        }
    }

    @Test(
        arguments: [
            ("200 OK", "\u{FEFF}{\"a\":1}"), ("201 Created", #"{"a":1}"#), ("200 OK", "{\"a\":1}\0"),
            ("203 X", #"{"a":1,}"#), ("200 OK", #"{"a":1}</html>"#),
        ]
    )
    func `what is cut off behind a form's object is not missed`(status: String, body: String) async throws {
        let server = try RawServer("HTTP/1.1 \(status)\r\nContent-Length: 50\r\n\r\n\(body)")
        #expect(try await Self.sendForm(server).body == Secret(body))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["", #"{"a":1"#, "\u{FEFF}{\"a\":\"1", #"{"a":{"b":1}"#, #"["a"]"#, "<html>"])
    func `an answer to a form that is cut off within its object is none`(body: String) async throws {
        let server = try RawServer("HTTP/1.1 201 X\r\nContent-Length: 50\r\n\r\n\(body)")
        await #expect(throws: HTTPTransportError.self) { try await Self.sendForm(server) }
    }

    @Test(
        arguments: [
            ("POST", "200 OK", #"{"a":1"#), ("POST", "400 Bad", #"{"a":1}"#), ("GET", "200 OK", #"{"a":1}"#),
            ("POST", "200 OK", "{\"a\":1}\n{\"a\":"),
        ]
    )
    func `another answer that is cut off is none`(method: String, status: String, body: String) async throws {
        let server = try RawServer("HTTP/1.1 \(status)\r\nContent-Length: 50\r\n\r\n\(body)")
        await #expect(throws: HTTPTransportError.self) { try await Self.send(server) { $0.method = method } }
    }

    @Test func `a cancelled task gets its error at once`() async throws {
        let server = try RawServer("", .hangs)
        defer { server.stop() }
        let task = Task { try await Self.transport.send(HTTPRequest("GET", server.url), limits: .issuer) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `many requests to one host are under way at once`() async throws {
        let count = 24
        let arrived = Mutex(0)
        // It answers once all of them are there, and otherwise later than a connection is waited for.
        let server = try RawServer { _ in
            arrived.withLock { $0 += 1 }
            let end = ContinuousClock.now + .seconds(20)
            while arrived.withLock(\.self) < count, ContinuousClock.now < end { usleep(10_000) }
            return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        }
        defer { server.stop() }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...count {
                group.addTask {
                    try await Self.transport.send(HTTPRequest("GET", server.url), limits: Self.limits).status
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: count))
    }
}
