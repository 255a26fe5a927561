import HTTPTransport
import InMemoryTracing
import LocalIdentityProvider
import OAuth
import TestTraits
import Testing
import TokenManagement
import Tracing

/// What a tracer sees.
@Suite(.aboutFiles("spans are collected once for the process"))
struct TracingTests {
    /// The spans of this library in what `body` does.
    private func spans(_ body: () async throws -> Void) async throws -> [FinishedInMemorySpan] {
        let tracer = InMemoryTracer()
        try await withTracer(tracer) { () async throws in try await body() }
        return tracer.finishedSpans.filter { $0.operationName.hasPrefix("tokenstore.") }
    }

    @Test func `a refresh and its commit are spans, the second in the first, and a stored token is none`() async throws
    {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            #expect(try await spans { _ = try await manager.acquireTokenSilently(scene.request()) }.isEmpty)
            scene.expire()
            let spans = try await spans { _ = try await manager.acquireTokenSilently(scene.request()) }
            #expect(spans.map(\.operationName) == ["tokenstore.save", "tokenstore.refresh"])
            #expect(spans.first?.parentSpanID == spans.last?.spanID)
            #expect(spans.last?.attributes.get("server.address") == .string("127.0.0.1"))
        }
    }

    @Test func `a web API call has OpenTelemetry's attributes, and names no account, path or token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            scene.expire()
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: Scene.toDo)
            let transport = manager.authorized(api, account: scene.account)
            let request = HTTPRequest("GET", api.url + "/notfound?person=ana")
            let spans = try await spans { _ = try await transport.send(request) }
            let call = try #require(spans.last)
            #expect(call.operationName == "tokenstore.web_api")
            #expect(call.attributes.get("http.request.method") == .string("GET"))
            #expect(call.attributes.get("http.response.status_code") == .int64(404))
            #expect(call.attributes.get("url.scheme") == .string("http"))
            #expect(call.attributes.get("error.type") == .string("404"))
            #expect(spans.map(\.operationName) == ["tokenstore.save", "tokenstore.refresh", "tokenstore.web_api"])
            let token = try await manager.acquireTokenSilently(scene.request()).accessToken.secret.reveal()
            for span in spans {
                let text = "\(span)"
                for secret in [token, "person=", "notfound", "ana.rojas", scene.account.homeAccountID] {
                    #expect(!text.contains(secret))
                }
            }
        }
    }

    @Test func `a failed refresh has the kind of its error, and not its text`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            scene.expire()
            scene.refuse("invalid_grant")
            let spans = try await spans {
                _ = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            }
            #expect(spans.map(\.operationName) == ["tokenstore.refresh"])
            #expect(spans.first?.attributes.get("error.type") == .string("interaction_required"))
            #expect(spans.first?.status?.code == .error)
            #expect(spans.first?.errors.isEmpty == true)
        }
    }
}
