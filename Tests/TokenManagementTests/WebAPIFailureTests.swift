import HTTPTransport
import LocalIdentityProvider
import OAuth
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What an API says of its own failure.
@Suite(.onBothEngines)
struct WebAPIFailureTests {
    /// An API that refuses every request with this body, with the token for `TOKEN` in it.
    private struct RefusingTransport: HTTPTransport {
        let body: String

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            let token = request.headers["authorization"]?.split(separator: " ").last ?? ""
            let answer = [UInt8](body.utf8).replacing("TOKEN".utf8, with: token.utf8)
            return HTTPResponse(status: 403, body: Secret(String(decoding: answer, as: UTF8.self)))
        }
    }

    private static func failure(_ scene: Scene, _ body: String) async throws -> WebAPIError {
        let url = "\(scene.provider.baseURL)/api1"
        let api = AuthorizedTransport(
            WebAPI(url: url, scope: Scene.toDo),
            account: scene.account,
            manager: try scene.manager(),
            transport: RefusingTransport(body: body)
        )
        return try await #require(throws: WebAPIError.self) { try await api.json(HTTPRequest("GET", url)) }
    }

    @Test func `the code and the message of an API's error are in its terms, and nothing else`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let error = try await Self.failure(
                scene,
                #"{"error":{"code":"Request_Denied","message":"No rights.","innerError":{"token":"t0p"}},"x":"t0p"}"#
            )
            #expect(error.status == 403)
            #expect(error.failure?.code == "Request_Denied")
            #expect(error.failure?.message == "No rights.")
            #expect(error.problem == "the API answered 403")
            var shown = ""
            dump(error, to: &shown)
            #expect(!shown.contains("t0p"))
        }
    }

    @Test(arguments: ["", "<html>", "[]", #"{"error":"x"}"#, #"{"error":{"code":7,"message":""}}"#, #"{"code":"x"}"#])
    func `an answer that names no error has none`(body: String) async throws {
        try await Scene.open { (scene: Scene) async throws in
            let error = try await Self.failure(scene, body)
            #expect(error == WebAPIError.status(403))
            #expect(error.failure == nil)
        }
    }

    @Test func `an API's words are bounded, and none is as long as a token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let token = String(repeating: "a", count: 300)
            let long = String(repeating: "ab ", count: 2_000)
            let error = try await Self.failure(scene, #"{"error":{"code":"Bearer \#(token)","message":"\#(long)"}}"#)
            #expect(error.failure?.code == "Bearer [...]")
            let count = try #require(error.failure?.message).count
            #expect((1_000..<1_300).contains(count))
        }
    }

    @Test func `an API's words may have many combining marks`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let odd = String(repeating: "\u{301}\u{323}", count: 200_000)
            let error = try await Self.failure(scene, #"{"error":{"code":"\#(odd)","message":"TOKEN is \#(odd) bad"}}"#)
            #expect(error.failure?.code == "[...]")
            #expect(error.failure?.message == "[...] is [...] bad")
        }
    }

    @Test func `the token of the call is left out of an API's words, however short it is`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.answer(#"{"access_token":"opaque-2f9c81d04b7e","expires_in":3600}"#)
            let error = try await Self.failure(
                scene,
                #"{"error":{"code":"Bad_TOKEN","message":"The token 'TOKEN' (TOKEN) is bad."}}"#
            )
            #expect(error.failure?.code == "Bad_[...]")
            #expect(error.failure?.message == "The token '[...]' ([...]) is bad.")
        }
    }
}
