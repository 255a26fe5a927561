import InMemoryTracing
import LocalIdentityProvider
import OAuth
import SignIn
import Testing
import Tracing

struct TracingTests {
    @Test func `a sign-in and its commit are spans that name no account`() async throws {
        try await SignInScene.open { scene in
            let tracer = InMemoryTracer()
            let result = try await withTracer(tracer) { () async throws in try await scene.signIn() }
            let spans = tracer.finishedSpans.filter { $0.operationName.hasPrefix("tokenstore.") }
            #expect(spans.map(\.operationName) == ["tokenstore.sign_in", "tokenstore.save"])
            #expect(spans.first?.attributes.get("server.address") == .string("127.0.0.1"))
            for span in spans {
                #expect(!"\(span)".contains(SignInScene.ana))
                #expect(!"\(span)".contains(result.account.id.homeAccountID))
            }
        }
    }
}
