import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import TestSupport
import Testing
import TokenManagement
import TokenStorage

/// A sign-in with a device code from beginning to end, over HTTP.
struct DeviceCodeTests {
    @Test func `the request for tokens says what the client can do`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let recorder = RecordingTransport()
            _ = try await scene.approved(by: recorder, capabilities: ["CP1"])
            #expect(recorder.forms.last?["claims"] == #"{"access_token":{"xms_cc":{"values":["CP1"]}}}"#)
        }
    }

    @Test func `C90: pending, slow_down and success wait 5, 5 and 10 seconds`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            scene.provider.faults.add(
                Fault(route: "token") {
                    $0.after = 1
                    $0.status = 400
                    $0.body = #"{"error":"slow_down"}"#
                }
            )
            let device = try await scene.begin()
            #expect(device.authorization.interval == .seconds(5))
            #expect(device.authorization.lifetime == .seconds(900))
            scene.pauses.during(3) { try await Approver(DeviceScene.transport).approve(device) }
            let signedIn = try await scene.signedIn(device)
            #expect(scene.pauses.seconds == [5, 5, 10])
            #expect(scene.provider.audit.count(of: "token") == 3)
            #expect(signedIn.account.name == "Ana Rojas")
            #expect(signedIn.idToken.claims.name == "Ana Rojas")
            #expect(
                try scene.store.rows("Account").map { $0["account_source"] } == [.string(Grant.deviceCode.rawValue)]
            )
            let manager = scene.manager()
            let request = SilentRequest(account: signedIn.account.id, scope: DeviceScene.toDo)
            #expect(try await manager.acquireTokenSilently(request).source == .cache)
            scene.provider.clock.advance(by: 3_601)
            #expect(try await manager.acquireTokenSilently(request).source == .refresh)
        }
    }

    @Test(arguments: [TokenStoreError.Code.busy, .file])
    func `a store without room for the answer is waited for, or is the error`(code: TokenStoreError.Code) async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let looks = LockedValue(0)
            var pending = try await scene.begin()
            pending.flow.answerSpace = {
                let look = looks.withLock { count in
                    count += 1
                    return count
                }
                if look == 2 { throw TokenStoreError(code, "the store has no room") }
                return nil
            }
            let device = pending
            scene.pauses.during(1) { try await Approver(DeviceScene.transport).approve(device) }
            if code == .busy {
                #expect(try await scene.signedIn(device).account.name == "Ana Rojas")
            } else {
                looks.withLock { $0 = 1 }
                let error = await #expect(throws: TokenStoreError.self) { try await device.tokens() }
                #expect(error?.code == .file)
            }
        }
    }

    @Test func `a refused sign-in leaves nothing in the store`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let device = try await scene.begin()
            scene.pauses.during(2) { try await Approver(DeviceScene.transport).refuse(device) }
            #expect(try await scene.failure { try await scene.signedIn(device) } == .cancelled)
            #expect(try scene.isEmpty)
        }
    }

    @Test func `a code that is not entered times out when it expires`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let device = try await scene.begin()
            #expect(try await scene.failure { try await scene.signedIn(device) } == .codeEnded)
            #expect(scene.pauses.seconds.reduce(0, +) == 900)
            #expect(scene.pauses.seconds.count == 180)
            #expect(try scene.isEmpty)
        }
    }

    @Test(arguments: [-86_400, 86_400] as [TimeInterval])
    func `a clock that is set meanwhile makes no wait longer or shorter`(change: TimeInterval) async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            var pending = try await scene.begin(within: .seconds(30))
            pending.flow.now = { [now = pending.flow.now] in now().addingTimeInterval(change) }
            let device = pending
            #expect(try await scene.failure { try await scene.signedIn(device) } == .timedOut)
            #expect(scene.pauses.seconds.reduce(0, +) == 30)
        }
    }

    @Test func `a request whose connection closes is repeated at once`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let issuer = try HandmadeIssuer()
            let places = [("device_authorization_endpoint", "/device"), ("jwks_uri", "/keys")]
            issuer.publish(JSONValue.Object(places.map { ($0.0, .string(issuer.issuer + $0.1)) }))
            issuer.answer(.init(#"{"keys":[]}"#), at: "/op/keys")
            let page = #""verification_uri":"\#(issuer.baseURL)/page""#
            issuer.answer(.init(#"{"device_code":"d","user_code":"W",\#(page),"interval":5}"#), at: "/op/device")
            let (pending, denied) = (#"{"error":"authorization_pending"}"#, #"{"error":"access_denied"}"#)
            issuer.answer(.closing, .init(status: 400, pending), .closing, .init(status: 400, denied))
            let device = try await scene.begin(at: Authority(issuer: issuer.issuer))
            #expect(try await scene.failure { try await scene.signedIn(device) } == .cancelled)
            #expect(scene.pauses.seconds == [5, 5])
            #expect(issuer.forms().count == 4)
        }
    }

    @Test func `Retry-After on a pending answer is kept once, for at most a minute`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            for (error, wait) in [
                ("authorization_pending", "7"), ("authorization_pending", "3600"), ("authorization_pending", "2"),
                ("slow_down", "3"), ("slow_down", "30"),
            ] {
                scene.provider.faults.add(
                    Fault(route: "token") {
                        $0.status = 400
                        $0.body = #"{"error":"\#(error)"}"#
                        $0.retryAfter = wait
                    }
                )
            }
            let device = try await scene.begin()
            scene.pauses.during(6) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(scene.pauses.seconds == [5, 7, 60, 5, 10, 30])
        }
    }

    @Test func `a refusal with Retry-After ends the sign-in at once`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            scene.provider.faults.add(
                Fault(route: "token") {
                    $0.status = 400
                    $0.body = #"{"error":"access_denied"}"#
                    $0.retryAfter = "60"
                }
            )
            let device = try await scene.begin()
            #expect(try await scene.failure { try await scene.signedIn(device) } == .cancelled)
            #expect(scene.pauses.seconds == [5])
            #expect(try scene.isEmpty)
        }
    }

    @Test func `an answer that cannot become right is not requested again`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let body = String(repeating: " ", count: 2 << 20)
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let device = try await scene.begin()
            guard try await scene.failure({ try await scene.signedIn(device) }).networkError?.code == .tooLarge else {
                throw ExpectationFailure("tooLarge")
            }
            #expect(scene.pauses.seconds == [5])
        }
    }

    @Test func `a cancellation during a wait or a request takes effect at once`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            for isHanging in [false, true] {
                if isHanging { scene.provider.faults.add(.hang(at: "token")) }
                let device = try await scene.begin()
                let sending = AsyncStream<Void>.makeStream()
                scene.pauses.during(scene.pauses.seconds.count + 1) {
                    sending.continuation.yield()
                    if !isHanging { try await Task.sleep(for: .seconds(600)) }
                }
                let task = Task { try await device.tokens() }
                for await _ in sending.stream { break }
                task.cancel()
                await #expect(throws: SignInError.cancelled) { try await task.value }
            }
            #expect(try scene.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `an ID token that comes with the first refresh names the account`(isOpenID: Bool) async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let withheld = ChangedAnswers(DeviceScene.transport) { request, answer in
                guard request.body?.reveal().contains("device_code=") == true else { return }
                answer["id_token"] = nil
                answer["client_info"] = nil
            }
            let authority = isOpenID ? try scene.openID : try scene.tenant
            let signedIn = try await scene.approved(at: authority, by: withheld)
            #expect(signedIn.account.username == Login.ana)
            #expect(scene.provider.audit.count(of: "token") == 2)
            // What is stored is the refresh token of the refresh, which has spent the first one.
            scene.provider.clock.advance(by: 3_601)
            let request = SilentRequest(account: signedIn.account.id, scope: DeviceScene.toDo)
            #expect(try await scene.manager().acquireTokenSilently(request).source == .refresh)
        }
    }

    @Test func `what came with the first refresh token stays where the first refresh brings no other`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let changed = ChangedAnswers(DeviceScene.transport) { request, answer in
                let isFirst = request.body?.reveal().contains("device_code=") == true
                if isFirst { answer["foci"] = "1" }
                answer[isFirst ? "id_token" : "refresh_token"] = nil
            }
            let account = try await scene.approved(at: scene.tenant, by: changed).account
            let tokens = try await scene.store.refreshTokens(of: account.id, client: DeviceScene.client)
            #expect(tokens.map(\.familyID) == ["1"])
        }
    }

    @Test func `the first refresh is repeated after a network error, but not after a refusal`()
        async throws
    {
        for isRefused in [false, true] {
            try await DeviceScene.open { (scene: DeviceScene) async throws in
                let withheld = ChangedAnswers(DeviceScene.transport) { request, answer in
                    if request.body?.reveal().contains("device_code=") == true { answer["id_token"] = nil }
                }
                let fault =
                    isRefused
                    ? Fault.answer(status: 400, body: #"{"error":"invalid_grant"}"#, at: "token")
                    : Fault.status(503, at: "token", times: 2)
                var late = fault
                late.after = 1
                scene.provider.faults.add(late)
                if isRefused {
                    let error = try await scene.failure { try await scene.approved(by: withheld) }
                    #expect(error == .refused(OAuthError(code: .invalidGrant)))
                } else {
                    _ = try await scene.approved(by: withheld)
                }
                #expect(try scene.isEmpty == isRefused)
                #expect(scene.pauses.seconds == (isRefused ? [5] : [5, 2, 4]))
            }
        }
    }

    @Test func `the first refresh waits no longer than the code lives`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let withheld = ChangedAnswers(DeviceScene.transport) { request, answer in
                if request.body?.reveal().contains("device_code=") == true { answer["id_token"] = nil }
            }
            var late = Fault.tooManyRequests(seconds: 1_000_000, at: "token")
            late.after = 1
            scene.provider.faults.add(late)
            _ = try await scene.approved(by: withheld)
            #expect(scene.pauses.seconds == [5, 895])
        }
    }

    @Test func `tokens that name no user are revoked`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let withheld = ChangedAnswers(DeviceScene.transport) { $1["id_token"] = nil }
            #expect(try await scene.failure { try await scene.approved(by: withheld) } == .noIDToken)
            #expect(try scene.isEmpty)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
        }
    }
}
