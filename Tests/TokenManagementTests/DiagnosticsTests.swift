import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import Metrics
import MetricsTestKit
import OAuth
import Synchronization
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What is counted and what is logged.
@Suite(.onBothEngines)
struct DiagnosticsTests {
    @Test func `stored tokens, refreshes, failures, waits and throttles are counted`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let metrics = TestMetrics()
            try await withMetricsFactory(metrics) { () async throws in
                let isSharing = LockedValue(false)
                let transport = InterceptingTransport(Scene.transport) { request in
                    guard request.url.hasSuffix("/token"), isSharing.withLock(\.self) else { return }
                    try await eventually("two callers who wait") {
                        metrics.counterTotal(label: "tokenstore.refresh.waited") == 2
                    }
                }
                let manager = try scene.manager(transport: transport)
                for _ in 1...2 { _ = try await manager.acquireTokenSilently(scene.request()) }
                scene.expire()
                isSharing.withLock { $0 = true }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 1...3 {
                        group.addTask { _ = try await manager.acquireTokenSilently(scene.request()) }
                    }
                    try await group.waitForAll()
                }
                isSharing.withLock { $0 = false }
                scene.expire()
                scene.refuse("invalid_scope")
                scene.provider.faults.add(.tooManyRequests(seconds: 30, at: "token"))
                for _ in 1...3 {
                    _ = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                }
            }
            func failures(_ reason: String) -> Int64 {
                metrics.counterTotal(label: "tokenstore.tokens.failed", dimensions: [("reason", reason)])
            }
            #expect(metrics.counterTotal(label: "tokenstore.tokens.from_cache") == 2)
            #expect(metrics.counterTotal(label: "tokenstore.tokens.refreshed") == 3)
            #expect(metrics.counterTotal(label: "tokenstore.refresh.waited") == 2)
            #expect(metrics.counterTotal(label: "tokenstore.refresh.throttled") == 1)
            #expect(failures("invalid_scope") == 1)
            #expect(failures("unavailable") == 1)
            #expect(failures("throttled") == 1)
            let durations = try metrics.expectTimer("tokenstore.refresh.duration").values
            #expect(durations.count == 3)
            #expect(durations.allSatisfy { $0 > 0 })
        }
    }

    /// Every way a refresh can go, with everything logged.
    @Test func `no secret is in a log at any level, in an error or in a file in the clear`() async throws {
        try await Scene.open(grace: 10, answering: .init(refreshIn: .seconds(1_800))) { (scene: Scene) async throws in
            let log = KeptLog()
            let manager = try scene.manager { $0.logger = log.logger }
            var (secrets, errors) = (Set<String>(), "")
            let faults: [Fault] = [
                .status(503, at: "token"), .lostResponse(at: "token"), .truncatedBody(at: "token"),
                .tooManyRequests(seconds: 1, at: "token"), .emptyBadRequest(at: "token"),
                .answer(status: 400, body: #"{"error":"invalid_grant","suberror":"bad_token"}"#, at: "revoke"),
                .wrongIDToken(.signature), .answer(body: #"{"access_token":"planted-access"}"#, at: "token"),
            ]
            for fault in faults {
                scene.provider.faults.removeAll()
                scene.provider.faults.add(fault)
                scene.clock.advance(by: 4_000)
                secrets.formUnion(try scene.refreshTokens.map { $0.secret.reveal() })
                do {
                    let result = try await manager.acquireTokenSilently(scene.request())
                    secrets.insert(result.accessToken.secret.reveal())
                    errors += String(reflecting: result)
                } catch {
                    errors += "\(error)\n\(String(reflecting: error))\n"
                }
            }
            scene.provider.faults.add(faults[5])
            _ = try await manager.signOut(scene.account)
            #expect(secrets.count > 6)
            #expect(log.lines.count > 8)
            let findings = try secrets.filter { secret in
                try log.text.contains(secret) || errors.contains(secret) || scene.files(contain: Secret(secret))
            }
            #expect(findings.isEmpty)
        }
    }
}
