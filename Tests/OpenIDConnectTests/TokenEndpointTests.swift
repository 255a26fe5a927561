import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import Testing

/// What issuers answer to a token request (RFC 6749 §5), over HTTP.
struct TokenEndpointTests {
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)

    private func answer(_ body: String) async throws -> TokenEndpointAnswer {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        defer { server.stop() }
        let endpoint = TokenEndpoint(server.url, transport: AsyncHTTPTransport(), limits: Self.limits)
        return try await endpoint.send(.refreshToken, FormParameters(), now: 1_000)
    }

    @Test(arguments: ["[]", "null", "\"a\"", "", "<html>"])
    func `an answer that is not a JSON object is unusable`(body: String) async {
        await #expect(throws: UnusableAnswer(status: 200, isJSON: false)) { try await answer(body) }
    }

    @Test func `a field that cannot be read does no harm to the tokens beside it`() async throws {
        let response = try await answer(#"{"access_token":"a","refresh_token":"r","scope":"\ud800"}"#).response
        #expect(response.accessToken == Secret("a"))
        #expect(response.refreshToken == Secret("r"))
    }
}
