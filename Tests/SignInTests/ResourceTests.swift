import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import TestSupport
import Testing

/// The API that a sign-in names ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)).
struct ResourceTests {
    private static let asked = ["resource": "https://api.example.com/"]

    @Test func `the code is redeemed for the resource that the page was asked for`() async throws {
        try await SignInScene.open { scene in
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.extraParameters = Self.asked
            let redirectURI = "msauth.com.example.tokenstore://auth"
            let recorder = RecordingTransport()
            let application = try scene.application(AbsentUser(), redirectURI: redirectURI, transport: recorder)
            let (address, pending) = try await application.beginSignIn(request)
            #expect(parameters(of: address)["resource"] == "https://api.example.com/")
            let browser = try ScriptedBrowser()
            try await browser.open(address)
            try await browser.signIn(SignInScene.ana, SignInScene.anasPassword)
            let answer = await browser.address.split(separator: "?", maxSplits: 1).last ?? ""
            // As another process of a web app does it.
            let kept = try PendingAuthorization(pending.secret)
            _ = try await application.finishSignIn(kept, answer: String(answer))
            #expect(recorder.forms.map { $0["resource"] } == ["https://api.example.com/"])
        }
    }

    @Test func `device codes are asked for and redeemed for the resource`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let recorder = RecordingTransport()
            let device = try await scene.begin(by: recorder, parameters: Self.asked)
            scene.pauses.during(1) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(recorder.forms.count > 1)
            #expect(recorder.forms.allSatisfy { $0["resource"] == "https://api.example.com/" })
        }
    }

    @Test func `a sign-in without one sends none`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let recorder = RecordingTransport()
            let device = try await scene.begin(by: recorder)
            scene.pauses.during(1) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(recorder.forms.allSatisfy { $0["resource"] == nil })
        }
    }
}
