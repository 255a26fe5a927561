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
    /// An API that refuses every request with this body.
    private struct RefusingTransport: HTTPTransport {
        let body: String

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            HTTPResponse(status: 403, body: Secret(body))
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
            #expect(error.failure?.message?.count ?? 0 < 1_300)
        }
    }
}
