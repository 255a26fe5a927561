import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Refreshes of many accounts by one manager.
@Suite(.onBothEngines)
struct ManyAccountsTests {
    @Test func `a refresh beyond the most that may be under way waits until one has ended`() async throws {
        let scene = try OpenScene()
        let other = try scene.addAccount("other")
        scene.expire()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        let (sent, freed) = (Counter(), Counter())
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/token"), sent.next() == 1 else { return }
            try await eventually("the end of the one who waits") { freed.value == 1 }
        }
        let manager = scene.manager({ $0.refreshesAtOnce = 1 }, transport: transport)
        var request = SilentRequest(account: scene.account, scope: "read")
        request.timeout = .seconds(300)
        let first = Task { [request] in try await manager.acquireTokenSilently(request) }
        try await eventually("the first request") { sent.value == 1 }
        request = SilentRequest(account: other, scope: "read")
        request.timeout = .milliseconds(100)
        // Nobody waits for it any more when its turn comes, and so it sends nothing then either.
        for _ in 1...2 {
            let error = try await acquisitionError { [request] in try await manager.acquireTokenSilently(request) }
            #expect(error?.code == .timedOut)
        }
        #expect(sent.value == 1)
        _ = freed.next()
        #expect(try await first.value.source == .refresh)
        request.timeout = .seconds(300)
        #expect(try await manager.acquireTokenSilently(request).accessToken.secret == Secret("at-1"))
        #expect(sent.value == 2)
    }

    @Test func `many accounts of an issuer fetch what it publishes once`() async throws {
        let scene = try OpenScene()
        scene.issuer.publish(JSONValue.Object([("jwks_uri", .string(scene.issuer.issuer + "/keys"))]))
        scene.issuer.answer(.init(#"{"keys":[]}"#), at: "/op/keys")
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        let accounts = try (1...8).map { try scene.addAccount("s\($0)") }
        scene.expire()
        let asked = Counter()
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.method == "GET" else { return }
            try await eventually("all who ask") { asked.value == accounts.count }
        }
        let manager = scene.manager(transport: transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for account in accounts {
                group.addTask {
                    var request = SilentRequest(account: account, scope: "read")
                    request.timeout = .seconds(300)
                    _ = asked.next()
                    _ = try await manager.acquireTokenSilently(request)
                }
            }
            try await group.waitForAll()
        }
        #expect(scene.issuer.metadataRequests == 1)
        #expect(scene.issuer.forms("/op/keys").count == 1)
        #expect(scene.tokenRequestCount == 8)
    }
}
