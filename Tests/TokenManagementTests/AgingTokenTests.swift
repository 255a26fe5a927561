import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import Synchronization
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// A token that is good to use, and worth a refresh.
@Suite(.onBothEngines)
struct AgingTokenTests {
    @Test func `a refresh that had no answer is not tried again for a minute while a token is good`() async throws {
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { scene in
            let requests = LockedValue(0)
            let silent = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                requests.withLock { $0 += 1 }
                throw HTTPTransportError.timedOut(host: "x")
            }
            scene.clock.advance(by: 1_801)
            var sent = 0
            // One of this process may be under way for 22 seconds.
            for pause in [0.0, 22, 37] {
                scene.clock.advance(by: pause)
                let result = try await scene.manager(transport: silent).acquireTokenSilently(scene.request())
                #expect(result.freshness == .aging && result.refreshFailed)
                if pause == 0 { sent = requests.withLock(\.self) }
                #expect(sent > 0)
                #expect(requests.withLock(\.self) == sent)
            }
            scene.clock.advance(by: 1)
            _ = try await scene.manager(transport: silent).acquireTokenSilently(scene.request())
            #expect(requests.withLock(\.self) > sent)
            sent = requests.withLock(\.self)
            // Without a token it is.
            scene.expire()
            let error = try await acquisitionError {
                try await scene.manager(transport: silent).acquireTokenSilently(scene.request())
            }
            #expect(error?.code == .network)
            #expect(requests.withLock(\.self) > sent)
        }
    }
}
