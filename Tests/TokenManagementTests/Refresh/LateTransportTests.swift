import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import Synchronization
import TestTraits
import Testing
import TokenManagement

/// Refreshes over a transport that keeps no limits.
@Suite(.onBothEngines)
struct LateTransportTests {
    /// A transport that answers when a test lets it, whatever its limits and whether it is cancelled.
    private final class LateTransport: HTTPTransport {
        private let waiters = LockedValue<[CheckedContinuation<Void, Never>]>([])

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            await withCheckedContinuation { continuation in waiters.withLock { $0.append(continuation) } }
            return HTTPResponse(status: 500)
        }

        func answer() {
            for waiter in waiters.withLock(\.self) { waiter.resume() }
        }
    }

    @Test func `a request that does not end is given up when the refresh has to end`() async throws {
        let transport = LateTransport()
        let bounded = BoundedTransport(transport, end: .now + .seconds(2))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await bounded.send(HTTPRequest("POST", "https://issuer.example/token"), limits: .issuer)
        }
        #expect(error?.code == .timedOut)
        #expect(error?.mayHaveTakenEffect == true)
        transport.answer()
    }

    @Test func `the next refresh of the account does not wait for it`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#))
        _ = try await scene.acquire { $0.forcesRefresh = true }
        let transport = LateTransport()
        let late = scene.manager({ $0.refreshLimit = .seconds(2) }, transport: transport)
        var request = SilentRequest(account: scene.account, scope: "read")
        request.forcesRefresh = true
        request.timeout = .seconds(300)
        let wanted = request
        let error = try await acquisitionError { try await late.acquireTokenSilently(wanted) }
        #expect(error?.networkError?.code == .timedOut)
        #expect(try await scene.acquire { $0.forcesRefresh = true }.source == .refresh)
        transport.answer()
    }
}
