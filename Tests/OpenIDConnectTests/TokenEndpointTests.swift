import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import Testing

/// What issuers answer to a token request (RFC 6749 §5), over HTTP.
struct TokenEndpointTests {
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)

    private func answer(
        _ body: String,
        status: Int = 200,
        headers: String = ""
    ) async throws -> TokenEndpointAnswer {
        let server = try RawServer(
            "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
        )
        defer { server.stop() }
        let endpoint = TokenEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        return try await endpoint.send(.refreshToken, FormParameters(), now: 1_000)
    }

    @Test(arguments: ["[]", "null", "\"a\"", "", "<html>"])
    func `an answer that is not a JSON object is unusable`(body: String) async {
        await #expect(throws: UnusableAnswer(status: 200, isJSON: false, isEmpty: body.isEmpty)) {
            try await answer(body)
        }
    }

    @Test(arguments: [200, 201, 203])
    func `tokens count with any success, and behind a byte order mark`(status: Int) async throws {
        let body = "\u{FEFF}" + #"{"access_token":"a","refresh_token":"r"}"#
        let response = try await answer(body, status: status, headers: "Retry-After: 5\r\n").response
        #expect(response.accessToken == Secret("a"))
        #expect(response.refreshToken == Secret("r"))
    }

    @Test(arguments: [("{}", true), ("", false), ("[]", false)])
    func `another success than 200 without tokens is unusable`(body: String, isJSON: Bool) async {
        let expected = UnusableAnswer(status: 202, isJSON: isJSON, isEmpty: body.isEmpty)
        await #expect(throws: expected) { try await answer(body, status: 202) }
    }

    @Test func `an answer that wants a browser is a refusal, unless tokens are beside it`() async throws {
        let redirect = #""challenge_type":"redirect","redirect_reason":"need MFA""#
        let expected = OAuthError(code: .interactionRequired, serverDescription: "need MFA", status: 200)
        await #expect(throws: expected) { try await answer("{\(redirect)}") }
        let response = try await answer(#"{\#(redirect),"refresh_token":"r"}"#).response
        #expect(response.refreshToken == Secret("r"))
    }

    @Test func `a refusal that repeats a token of the same answer is shown without it`() async {
        let expected = OAuthError(code: .invalidGrant, serverDescription: "See <redacted> for more")
        let text = #""error_description":"See own-token-1 for more""#
        await #expect(throws: expected) {
            try await answer(#"{"error":"invalid_grant",\#(text),"access_token":"own-token-1"}"#, status: 400)
        }
    }

    @Test func `what an answer shows has no secret of the request or of the answer in it`() async throws {
        let server = try RawServer { _ in
            let body =
                #"{"access_token":"own-access-1","token_type":"x-sent-refresh-1","foci":"sent-refresh-1""#
                + #","scope":"read sent-refresh-1 own%2Daccess%2D1 write","refresh_token":"own-refresh-1"}"#
            return "HTTP/1.1 200 X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        defer { server.stop() }
        let endpoint = TokenEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        var form = FormParameters()
        form.append("refresh_token", Secret("sent-refresh-1"))
        let response = try await endpoint.send(.refreshToken, form, now: 1_000).response
        #expect(response.scope == "read write")
        #expect(response.tokenType == "x-<redacted>")
        #expect(response.familyID == "<redacted>")
        #expect(response.refreshToken == Secret("own-refresh-1"))
    }

    @Test(arguments: [("<html>", false), ("Unauthorized", false), ("", false), ("{}", true)])
    func `status 401 without an error is none of the issuer's words`(body: String, isJSON: Bool) async {
        let answer = UnusableAnswer(status: 401, isJSON: isJSON, isEmpty: body.isEmpty)
        await #expect(throws: answer) { try await self.answer(body, status: 401) }
        #expect(answer.problem.hasPrefix("the token endpoint answered 401 "))
        #expect(answer.remedy.code == .checkRegistration)
    }

    @Test(arguments: [
        (#"{"errorCode":"E0000011","errorSummary":"Invalid token provided."}"#, "Invalid token provided"),
        (#"{"error":{"code":400,"message":"API key expired"}}"#, "API key expired"),
        (#"{"message":"Forbidden\nmore"}"#, "Forbidden"),
        (#"{"message":"no own-token-1","id_token":"own-token-1"}"#, "no <redacted>"),
    ])
    func `what an issuer says in other words than OAuth's is shown`(body: String, words: String) async {
        let error = await #expect(throws: UnusableAnswer.self) { try await answer(body, status: 400) }
        #expect(error?.problem == "the token endpoint answered 400 without tokens: \(words)")
    }

    @Test func `a refusal behind a byte order mark is one`() async {
        await #expect(throws: OAuthError(code: .invalidGrant)) {
            try await answer("\u{FEFF}" + #"{"error":"invalid_grant"}"#, status: 400)
        }
    }

    @Test(arguments: [200, 400, 401])
    func `a token that the issuer knows no more is revoked`(status: Int) async throws {
        let body = #"{"error":"invalid_token"}"#
        let server = try RawServer("HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        defer { server.stop() }
        let endpoint = RevocationEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        let revocation = await Task { try await endpoint.revoke(Secret("r"), clientID: "app") }.result
        #expect((try? revocation.get()) != nil || status == 401)
        #expect((try? revocation.get()) == nil || status != 401)
    }

    @Test(arguments: [("", true), ("{}", true), (#"{"error":null}"#, true), (#"{"error":"invalid_client"}"#, false)])
    func `a revocation that is answered with 200 and an error failed`(body: String, isRevoked: Bool) async throws {
        let server = try RawServer("HTTP/1.1 200 X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        defer { server.stop() }
        let endpoint = RevocationEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        let revocation = await Task { try await endpoint.revoke(Secret("r"), clientID: "app") }.result
        #expect(((try? revocation.get()) != nil) == isRevoked)
    }

    @Test func `a revocation that is refused behind a byte order mark says why`() async throws {
        let body = "\u{FEFF}" + #"{"error":"unsupported_token_type"}"#
        let server = try RawServer("HTTP/1.1 400 X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        defer { server.stop() }
        let endpoint = RevocationEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        let error = await #expect(throws: RevocationError.self) {
            try await endpoint.revoke(Secret("r"), clientID: "app")
        }
        let refusal = error?.reason as? OAuthError
        #expect(refusal == OAuthError(code: .unsupportedTokenType))
    }

    @Test func `a field that cannot be read does no harm to the tokens beside it`() async throws {
        let response = try await answer(#"{"access_token":"a","refresh_token":"r","scope":"\ud800"}"#).response
        #expect(response.accessToken == Secret("a"))
        #expect(response.refreshToken == Secret("r"))
    }
}
