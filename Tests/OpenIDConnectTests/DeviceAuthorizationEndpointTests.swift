import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import Synchronization
import Testing

/// What issuers answer to a device (RFC 8628 §3.2), over HTTP.
struct DeviceAuthorizationEndpointTests {
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)

    private func answer(_ body: String, status: Int = 200, headers: String = "") async throws -> DeviceAuthorization {
        let server = try RawServer(
            "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
        )
        defer { server.stop() }
        let endpoint = DeviceAuthorizationEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        var form = FormParameters()
        form.append("client_id", "app")
        form.append("scope", "openid read")
        let authorization = try await endpoint.send(form, now: 1_000)
        #expect(server.requests.last?.hasSuffix("\r\n\r\nclient_id=app&scope=openid+read") == true)
        return authorization
    }

    private func body(_ changes: KeyValuePairs<String, JSONValue?> = [:]) -> String {
        var object = JSONValue.Object([
            ("device_code", "d"), ("user_code", "ABCD-EFGH"), ("verification_uri", "https://i.example/device"),
        ])
        for (name, value) in changes { object[name] = value }
        return JSONValue.object(object).serialized
    }

    @Test func `absent fields have their default, and extreme values are bounded`() async throws {
        let usual = try await answer(body())
        #expect(usual.interval == .seconds(5))
        #expect(usual.lifetime == .seconds(1_800))
        #expect(usual.verificationURIComplete == nil)
        #expect(usual.userCode == "ABCD-EFGH")
        #expect(usual.verificationURI == "https://i.example/device")
        let odd = try await answer(body(["interval": 0, "expires_in": "99999999999"]))
        #expect(odd.interval == .seconds(1))
        #expect(odd.lifetime == .seconds(86_400))
        let text = try await answer(body(["interval": "7", "expires_in": 60]))
        #expect(text.interval == .seconds(7))
        #expect(text.lifetime == .seconds(60))
    }

    @Test func `codes are asked for again where the connection closes under the request`() async throws {
        let isFirst = Mutex(true)
        let answer = body()
        let server = try RawServer { _ in
            let isClosing = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return isClosing ? "" : "HTTP/1.1 200 OK\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)"
        }
        defer { server.stop() }
        let endpoint = DeviceAuthorizationEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        var form = FormParameters()
        form.append("client_id", "app")
        #expect(try await endpoint.send(form, now: 1_000).userCode == "ABCD-EFGH")
        #expect(server.requests.count == 2)
    }

    @Test func `a byte order mark before an answer is ignored`() async throws {
        #expect(try await answer("\u{FEFF}" + body()).userCode == "ABCD-EFGH")
        await #expect(throws: OAuthError(code: .unauthorizedClient)) {
            try await answer("\u{FEFF}" + #"{"error":"unauthorized_client"}"#, status: 400)
        }
    }

    @Test func `verification_url and verification_uri_complete are accepted`() async throws {
        let complete = "https://i.example/device?user_code=ABCD-EFGH"
        let authorization = try await answer(
            body([
                "verification_uri": nil, "verification_url": "https://i.example/d",
                "verification_uri_complete": .string(complete),
            ])
        )
        #expect(authorization.verificationURI == "https://i.example/d")
        #expect(authorization.verificationURIComplete == complete)
        let both = try await answer(body(["verification_uri": .null, "verification_url": "https://i.example/d"]))
        #expect(both.verificationURI == "https://i.example/d")
        let unfit = try await answer(body(["verification_uri_complete": "javascript:alert(1)"]))
        #expect(unfit.verificationURIComplete == nil)
    }

    @Test(
        arguments: [
            ("device_code", nil), ("device_code", ""), ("device_code", 7), ("user_code", nil), ("user_code", ""),
            ("user_code", "AB\u{1B}[2J"), ("user_code", "AB\nCD"), ("user_code", "ÄÖÜ"),
            ("user_code", .string(String(repeating: "A", count: 65))), ("verification_uri", nil),
            ("verification_uri", "http://i.example/device"), ("verification_uri", "file:///etc/passwd"),
            ("verification_uri", "https://i.example/\u{1B}]8;;"), ("verification_uri", "javascript:alert(1)"),
        ] as [(String, JSONValue?)]
    )
    func `an answer that cannot be used or shown is refused`(name: String, value: JSONValue?) async throws {
        await #expect(throws: DeviceAuthorizationError.incomplete(name)) {
            try await answer(body([name: value]))
        }
    }

    @Test func `a refusal, an outage and an unrelated answer have different errors`() async throws {
        await #expect(throws: OAuthError(code: .unauthorizedClient)) {
            try await answer(#"{"error":"unauthorized_client"}"#, status: 400)
        }
        for (wait, seconds) in [("-5", 1), ("0", 1), ("3601", 3_600), ("9223372036854775807", 3_600)] {
            await #expect(throws: IssuerUnavailable(status: 503, retryAfter: .seconds(seconds))) {
                try await answer("", status: 503, headers: "Retry-After: \(wait)\r\n")
            }
        }
        await #expect(throws: IssuerUnavailable(status: 429, retryAfter: .seconds(7))) {
            try await answer("", status: 429, headers: "Retry-After: 7\r\n")
        }
        await #expect(throws: IssuerUnavailable(status: 502)) { try await answer("<h1>Bad gateway</h1>", status: 502) }
        await #expect(throws: DeviceAuthorizationError.unusable(status: 200)) { try await answer("<h1>Hotel</h1>") }
        await #expect(throws: DeviceAuthorizationError.unusable(status: 404)) { try await answer("{}", status: 404) }
    }

    @Test func `no description of a device authorization shows its device code`() async throws {
        let authorization = try await answer(body(["device_code": "the-device-code"]))
        var dumped = ""
        dump(authorization, to: &dumped)
        #expect(!"\(authorization) \(String(reflecting: authorization)) \(dumped)".contains("the-device-code"))
    }
}
