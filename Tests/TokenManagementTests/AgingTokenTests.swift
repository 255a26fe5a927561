import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import Synchronization
import TestSupport
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

    @Test func `a token of an unknown user flow is served while it is good, also when aging`() async throws {
        let (fixture, account) = try Self.ofUnknownUserFlow()
        let network = InterceptingTransport(Scene.transport) { Issue.record("asked \($0.url)") }
        let manager = TokenManager(store: fixture.store, clientID: Fixture.client, transport: network)
        let request = SilentRequest(account: account, scope: "s1")
        let result = try await manager.acquireTokenSilently(request)
        #expect(result.accessToken.secret == Secret("a1"))
        #expect(result.freshness == .aging && result.interactionSoon && !result.refreshFailed)
        guard case .serve = try manager.decider.decide(request) else { throw ExpectationFailure("serve") }
        var forced = request
        forced.forcesRefresh = true
        for request in [SilentRequest(account: account, scope: "s2"), forced] {
            let error = try await acquisitionError { try await manager.acquireTokenSilently(request) }
            #expect(error?.interaction == .noAuthority)
            #expect(error?.needsInteraction == true)
            #expect(error?.remedy?.code == .nameAuthority)
        }
        fixture.clock.seconds += 3_601
        let error = try await acquisitionError { try await manager.acquireTokenSilently(request) }
        #expect(error?.interaction == .noAuthority)
        // Who names the user flow has the token refreshed there.
        var named = request
        named.authority = try Fixture.authority("https://\(Fixture.b2cHost)/t1/b2c_1_signin")
        guard case .refresh(_, at: let place, fallback: nil) = try manager.decider.decide(named) else {
            throw ExpectationFailure("refresh")
        }
        #expect(place == named.authority)
    }

    @Test func `a sign-out from an unknown user flow removes the account, and says what is not revoked`() async throws {
        let (fixture, account) = try Self.ofUnknownUserFlow()
        let network = InterceptingTransport(Scene.transport) { Issue.record("asked \($0.url)") }
        let manager = TokenManager(store: fixture.store, clientID: Fixture.client, transport: network)
        guard case .failed(let reason) = try await manager.signOut(account) else {
            throw ExpectationFailure("failed")
        }
        #expect(reason.contains("names no user flow"), "\(reason)")
        await #expect(try fixture.store.accounts().isEmpty)
    }

    /// An imported account at a host of Azure AD B2C, with a token that is due for a refresh.
    private static func ofUnknownUserFlow() throws -> (TestStore, Account.ID) {
        let place: KeyValuePairs<String, JSONValue> = ["environment": .string(Fixture.b2cHost)]
        let due: KeyValuePairs<String, JSONValue> = ["refresh_on": .seconds(Fixture.now - 5)]
        let fixture = try TestStore(
            .cache(
                accessTokens: [.accessToken("a1", "s1").with(place).with(due)],
                refreshTokens: [.refreshToken("r1").with(place)],
                accounts: [.account().with(place)]
            )
        )
        return (fixture, try #require(try fixture.store.accounts().first).id)
    }
}
