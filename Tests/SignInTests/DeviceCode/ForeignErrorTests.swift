import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import Testing

/// What transports and user agents of an app's own throw.
struct ForeignErrorTests {
    private struct OwnError: Error {}

    /// Fails some requests for tokens in words of its own.
    private final class FailingTransport: HTTPTransport {
        private let left: LockedValue<Int>

        init(times: Int) { left = LockedValue(times) }

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            guard request.url.hasSuffix("/token") else {
                return try await SignInScene.transport.send(request, limits: limits)
            }
            let fails = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if fails { throw OwnError() }
            return try await SignInScene.transport.send(request, limits: limits)
        }
    }

    @Test func `a transport's own error ends a sign-in as a broken connection`() async throws {
        try await SignInScene.open { scene in
            let user = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
            let application = try scene.application(user, transport: FailingTransport(times: 1))
            let error = try await signInError {
                _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error?.networkError?.code == .interrupted)
            #expect(error?.isOutage == true)
            #expect(error?.problem.contains("OwnError") == true)
        }
    }

    @Test func `a sign-in with a device code waits a transport's own error out`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let device = try await scene.begin(by: FailingTransport(times: 2))
            scene.pauses.during(3) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(scene.pauses.seconds == [5, 10, 20])
        }
    }

    @Test func `an issuer that has had too many requests is waited for, whatever it calls that`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            scene.provider.faults.add(.answer(status: 403, body: #"{"error":"rate_limit_exceeded"}"#, at: "token"))
            let device = try await scene.begin()
            scene.pauses.during(2) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(scene.pauses.seconds == [5, 10])
            #expect(SignInError.refused(OAuthError(code: .init(rawValue: "rate_limit_exceeded"))).isOutage)
        }
    }

    @Test func `a user agent's own error is that the page could not be shown`() async throws {
        try await SignInScene.open { scene in
            let application = try scene.application(AbsentUser())
            let error = try await signInError {
                _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error?.code == .noBrowser)
            #expect(error?.problem.contains("Asked") == true)
        }
    }
}
