import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import TestSupport
import Testing

/// A sign-in with a device code whose issuer does not serve for a while, or until the code ends.
struct DeviceOutageTests {
    @Test func `an unreachable issuer is asked at growing intervals until it answers`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let faults = scene.provider.faults
            faults.add(.lostResponse(at: "token"))
            faults.add(.html(at: "token"))
            faults.add(.truncatedBody(at: "token"))
            faults.add(.status(503, at: "token"))
            faults.add(.answer(status: 400, body: #"{"error":"temporarily_unavailable"}"#, at: "token"))
            faults.add(.tooManyRequests(seconds: 100, at: "token"))
            let device = try await scene.begin()
            scene.pauses.during(6) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(scene.pauses.seconds == [5, 10, 20, 40, 60, 100])
        }
    }

    @Test(arguments: [(60, 60), (7, 7), (100_000, 900)] as [(Int64, Int64)])
    func `every wait ends with the code or the time limit, with any Retry-After`(
        limit: Int64,
        total: Int64
    ) async throws {
        for status in [429, 503] {
            try await DeviceScene.open { (scene: DeviceScene) async throws in
                scene.provider.faults.add(
                    Fault(route: "token", times: nil) {
                        $0.status = status
                        $0.retryAfter = "9223372036854775807"
                    }
                )
                let device = try await scene.begin(within: .seconds(limit))
                #expect(device.timeLimit == .seconds(total))
                #expect(try await scene.failure { try await scene.signedIn(device) }.code == .unavailable)
                #expect(scene.pauses.seconds == [5, total - 5])
            }
        }
    }

    @Test func `an outage until the end is the error, and one that was over before is not`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            scene.provider.faults.add(.status(503, at: "token"))
            let passed = try await scene.begin(within: .seconds(60))
            #expect(try await scene.failure { try await scene.signedIn(passed) } == .timedOut)
            for (fault, code) in [
                (Fault.status(400, at: "token", times: nil), SignInError.Code.refused),
                (Fault.lostResponse(at: "token", times: nil), SignInError.Code.network),
            ] {
                scene.provider.faults.add(fault)
                let lasting = try await scene.begin(within: .seconds(60))
                let error = try await scene.failure { try await scene.signedIn(lasting) }
                #expect(error.code == code)
                #expect(error.isOutage)
                scene.provider.faults.removeAll()
            }
            #expect(try scene.isEmpty)
        }
    }
}
