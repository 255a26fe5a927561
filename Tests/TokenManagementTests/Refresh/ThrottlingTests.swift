import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenStorage

@testable import TokenManagement

/// What is not asked again so soon, by any process.
@Suite(.onBothEngines)
struct ThrottlingTests {
    @Test func `C71 and C74: every process keeps to the issuer's Retry-After`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.provider.faults.add(.tooManyRequests(seconds: 256, at: "token"))
            for (advance, expected, net) in [(0, 256, 1), (255, 1, 1)] {
                scene.clock.advance(by: TimeInterval(advance))
                // Another manager with its own store connection, as in another process.
                let manager = try scene.manager()
                let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                guard let answer = error, answer.code == .unavailable else { throw ExpectationFailure("unavailable") }
                #expect(answer.retryAfter == .seconds(expected))
                #expect(answer.status == 429)
                #expect(scene.tokenRequestCount == net)
            }
            scene.clock.advance(by: 1)
            #expect(try await scene.manager().acquireTokenSilently(scene.request()).source == .refresh)
            #expect(scene.tokenRequestCount == 2)
        }
    }

    @Test func `C71 and C74: every process keeps to the Retry-After of the metadata`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let path = "/op/.well-known/openid-configuration"
        scene.issuer.answer(.init(status: 429, headers: ["Retry-After: 600"]), at: path)
        let steps: [(Int64, Bool, Int64)] = [(0, false, 600), (0, true, 600), (599, true, 1)]
        for (advance, isThrottled, left) in steps {
            scene.clock.seconds += advance
            let error = try await scene.failure()
            #expect(error?.code == .unavailable)
            #expect(error?.isThrottled == isThrottled)
            #expect(error?.retryAfter == .seconds(left))
            #expect(error?.status == 429)
            #expect(scene.issuer.metadataRequests == 1)
        }
        let forced = try await acquisitionError { try await scene.acquire { $0.forcesRefresh = true } }
        #expect(forced?.isThrottled == true)
        #expect(scene.issuer.metadataRequests == 1)
        scene.clock.seconds += 600
        scene.issuer.publish()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await scene.acquire().source == .refresh)
    }

    @Test(arguments: ["unavailable", "unpublishedKey"])
    func `a wait that a store has until beyond any calendar is the longest there is`(kind: String) {
        let throttle = Throttle(beganAt: 0, expiresAt: .max, failure: JSONValue.Object([("kind", .string(kind))]))
        #expect(AcquisitionError(throttle, now: -1).retryAfter == .seconds(Int64.max))
    }

    @Test func `a sign-in ends the wait that an issuer's metadata asked for`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let path = "/op/.well-known/openid-configuration"
        scene.issuer.answer(.init(status: 503, headers: ["Retry-After: 600"]), at: path)
        #expect(try await scene.failure()?.isThrottled == false)
        scene.issuer.publish()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await scene.failure()?.isThrottled == true)
        let documents = IssuerDocuments(of: try scene.authority, transport: Scene.transport)
        _ = try await documents.metadata()
        try documents.replaceKept(in: scene.store)
        #expect(try await scene.acquire().source == .refresh)
    }

    @Test(arguments: [("5000", 3_600...3_600), ("date", 90...90), ("abc", 60...60)])
    func `C72: Retry-After is seconds or a date, at most an hour, a minute if invalid`(
        header: String,
        wait: ClosedRange<Int64>
    ) async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            var fault = Fault.tooManyRequests(seconds: 1, at: "token")
            if header == "date" {
                // A date counts from the clock of the issuer's answer.
                fault = .tooManyRequests(until: scene.clock.now + 90, at: "token")
            } else {
                fault.retryAfter = header
            }
            scene.provider.faults.add(fault)
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            guard let answer = error, !answer.isThrottled else {
                throw ExpectationFailure("unavailable")
            }
            #expect(wait.contains(answer.retryAfter?.secondsRoundedUp ?? 0))
        }
    }

    @Test func `C73: a refusal is kept a minute for its scope, or until a sign-in`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let manager = try scene.manager()
            scene.refuse("invalid_grant", suberror: "basic_action", numbers: "[50076]")
            for advance in [0.0, 59] {
                scene.clock.advance(by: advance)
                let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                guard let refusal = error?.refusal else {
                    throw ExpectationFailure("a refusal")
                }
                #expect(refusal.suberror == "basic_action")
                #expect(refusal.numbers == [50_076])
                #expect(scene.tokenRequestCount == 1)
            }
            _ = try await manager.acquireTokenSilently(scene.request(Scene.demo))
            #expect(scene.tokenRequestCount == 2)
        }
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let manager = try scene.manager()
            scene.refuse("invalid_grant")
            _ = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            try await scene.signIn(scope: Scene.demo)
            scene.clock.advance(by: 1)
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .refresh)
        }
    }

    @Test func `C75: a request whose answer was lost is repeated once`() async throws {
        try await Scene.open(grace: 10) { scene in
            scene.expire()
            scene.provider.faults.add(.lostResponse(at: "token"))
            let manager = try scene.manager()
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .refresh)
            #expect(scene.tokenRequestCount == 2)
            scene.expire()
            scene.provider.faults.add(.lostResponse(at: "token", times: 2))
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            guard error?.code == .network else { throw ExpectationFailure("network") }
            #expect(scene.tokenRequestCount == 4)
        }
    }

    @Test func `a refusal with Retry-After is a refusal`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 400, headers: ["Retry-After: 120"], #"{"error":"invalid_grant"}"#))
        guard let refusal = try await scene.failure()?.refusal else {
            throw ExpectationFailure("a refusal")
        }
        #expect(refusal.code == .invalidGrant)
        #expect(refusal.retryAfter == .seconds(120))
        #expect(scene.tokenRequestCount == 1)
    }

    @Test(
        arguments: [
            (400, #"{"error":"temporarily_unavailable"}"#, .temporarilyUnavailable),
            (503, #"{"error":"invalid_grant"}"#, nil), (429, #"{"error":"invalid_grant"}"#, nil), (403, "<html>", nil),
            (401, "", nil),
        ] as [(Int, String, OAuthError.Code?)]
    )
    func `an outage, and Retry-After without a refusal, last as long as it says`(
        status: Int,
        body: String,
        code: OAuthError.Code?
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: status, headers: ["Retry-After: 120"], body))
        guard let outage = try await scene.failure(), !outage.isThrottled else {
            throw ExpectationFailure("unavailable")
        }
        let expected = IssuerUnavailable(status: status, retryAfter: .seconds(120), error: code)
        #expect(outage.failure?.kind == .unavailable(expected))
        #expect(scene.tokenRequestCount == 1)
    }

    @Test func `a forced refresh passes the minute after an outage of an issuer that asks for no wait`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 500))
        guard try await scene.failure()?.code == .unavailable else { throw ExpectationFailure("unavailable") }
        guard try await scene.failure()?.isThrottled == true else {
            throw ExpectationFailure("a wait")
        }
        #expect(scene.tokenRequestCount == 2)
        scene.issuer.answer(.init(#"{"access_token":"new","expires_in":3600}"#))
        #expect(try await scene.acquire { $0.forcesRefresh = true }.source == .refresh)
        #expect(try await scene.acquire().source == .cache)
    }

    /// The status, `Retry-After`, and the seconds that are waited for it.
    private static let waits: [(Int, String, Int64)] = [(429, "86400", 3_600), (503, "300", 300), (429, "", 60)]

    @Test(arguments: waits)
    func `C71: a forced refresh keeps to the wait of the issuer`(
        status: Int,
        wait: String,
        seconds: Int64
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: status, headers: wait.isEmpty ? [] : ["Retry-After: \(wait)"]))
        guard try await scene.failure()?.code == .unavailable else { throw ExpectationFailure("unavailable") }
        scene.issuer.answer(.init(#"{"access_token":"new","expires_in":3600}"#))
        scene.clock.seconds += seconds - 1
        let forced = try await acquisitionError { try await scene.acquire { $0.forcesRefresh = true } }
        #expect(forced?.isThrottled == true)
        #expect(scene.tokenRequestCount == 1)
        scene.clock.seconds += 1
        #expect(try await scene.acquire { $0.forcesRefresh = true }.source == .refresh)
    }

    @Test(arguments: ["0", "-5", "\"0\""])
    func `an issuer for which every token is worth a refresh at once is asked once`(refreshIn: String) async throws {
        let scene = try OpenScene()
        scene.expire()
        let body = #"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1","refresh_in":\#(refreshIn)}"#
        scene.issuer.answer(.init(body))
        #expect(try await scene.acquire().source == .refresh)
        scene.clock.seconds += 2
        #expect(try await scene.acquire().source == .cache)
        #expect(scene.tokenRequestCount == 1)
    }

    @Test(arguments: [300 * 86_400, 1_800, 1])
    func `a wait that began on a clock that was ahead ends when it is set back`(seconds: Int64) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.clock.seconds += seconds
        scene.issuer.answer(.init(status: 429, headers: ["Retry-After: 3600"]))
        guard try await scene.failure()?.code == .unavailable else { throw ExpectationFailure("unavailable") }
        scene.clock.seconds -= seconds
        scene.issuer.answer(.init(#"{"access_token":"new","expires_in":3600}"#))
        #expect(try await scene.acquire().source == .refresh)
    }

    @Test(.aboutFiles("the row is altered in the file")) func `a stored wait of more than an hour is ignored`()
        async throws
    {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 429, headers: ["Retry-After: 3600"]))
        guard try await scene.failure()?.code == .unavailable else { throw ExpectationFailure("unavailable") }
        try scene.store.withWriter { session in
            let assignments = "ends_at = ends_at + 300 * 86400, failure = json_remove(failure, '$.began_at')"
            try session.update("throttle", set: assignments)
        }
        scene.issuer.answer(.init(#"{"access_token":"new","expires_in":3600}"#))
        #expect(try await scene.acquire().source == .refresh)
    }
}
