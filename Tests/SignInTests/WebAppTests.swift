import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// A sign-in that one process of an app begins and another finishes.
@Suite(.onBothEngines)
struct WebAppTests {
    static let redirectURI = "msauth.com.example.tokenstore://auth"

    /// An app that shares nothing with another but the store.
    static func application(
        _ scene: SignInScene,
        redirectURI: String = redirectURI,
        _ change: (inout PublicClientConfiguration) -> Void = { _ in }
    ) throws -> PublicClientApplication {
        try scene.application(AbsentUser(), redirectURI: redirectURI, change)
    }

    /// Begins a sign-in, and lets a person go through the pages.
    static func begin(
        _ scene: SignInScene,
        _ request: InteractiveRequest = InteractiveRequest(scope: SignInScene.toDo),
        as person: (name: String, password: String) = (SignInScene.ana, SignInScene.anasPassword),
        change: (inout PublicClientConfiguration) -> Void = { _ in }
    ) async throws -> (secret: Secret, answer: String) {
        let (address, pending) = try await application(scene, change).beginSignIn(request)
        let browser = try ScriptedBrowser()
        try await browser.open(address)
        try await browser.signIn(person.name, person.password)
        let query = await browser.address.split(separator: "?", maxSplits: 1).last ?? ""
        return (pending.secret, String(query))
    }

    @Test func `another process finishes it from what was kept`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await Self.begin(scene)
            #expect(secret.count < 2_000)
            let result = try await Self.application(scene).finishSignIn(PendingAuthorization(secret), answer: answer)
            #expect(result.account.name == "Ana Rojas")
            #expect(try await scene.store.accounts().map(\.id) == [result.account.id])
            let request = SilentRequest(account: result.account.id, scope: SignInScene.toDo)
            #expect(try await Self.application(scene).acquireTokenSilently(request).source == .cache)
        }
    }

    @Test func `page and code are sent with the claims and what the client can do`() async throws {
        try await SignInScene.open { scene in
            let change: (inout PublicClientConfiguration) -> Void = { $0.tokenOptions.clientCapabilities = ["CP1"] }
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.claims = ["access_token": ["nbf": nil]]
            let wanted: JSONValue = ["access_token": ["nbf": nil, "xms_cc": ["values": ["CP1"]]]]
            let address = try await Self.application(scene, change).beginSignIn(request).address
            #expect(parameters(of: address)["claims"] == wanted.serialized)
            let (secret, answer) = try await Self.begin(scene, request, change: change)
            let recorder = RecordingTransport()
            let application = try scene.application(
                AbsentUser(),
                redirectURI: Self.redirectURI,
                transport: recorder,
                change
            )
            _ = try await application.finishSignIn(PendingAuthorization(secret), answer: answer)
            #expect(recorder.forms.map { $0["claims"] } == [wanted.serialized])
        }
    }

    @Test func `any number are under way at once, and none takes the answer to another`() async throws {
        try await SignInScene.open { scene in
            let first = try await Self.begin(scene)
            let second = try await Self.begin(scene, as: (SignInScene.cleo, SignInScene.cleosPassword))
            let application = try Self.application(scene)
            for answer in [second.answer, "code=x", "error=access_denied", "", first.answer + "&state=x"] {
                let error = try await signInError {
                    _ = try await application.finishSignIn(PendingAuthorization(first.secret), answer: answer)
                }
                #expect(error?.code == .stateMismatch, "\(answer)")
            }
            #expect(scene.tokenRequestCount == 0)
            #expect(try scene.isUntouched)
            let pending = try PendingAuthorization(first.secret)
            #expect(try await application.finishSignIn(pending, answer: first.answer).account.name == "Ana Rojas")
        }
    }

    @Test func `an answer is taken once, from the issuer that was asked, and in time`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await Self.begin(scene)
            let (application, pending) = (try Self.application(scene), try PendingAuthorization(secret))
            let foreign = answer.replacing(#/iss=[^&]*/#, with: "") + "&iss=https%3A%2F%2Fother.example"
            let other = try await signInError { _ = try await application.finishSignIn(pending, answer: foreign) }
            #expect(other?.code == .otherIssuer)
            _ = try await application.finishSignIn(pending, answer: answer)
            let again = try await signInError { _ = try await application.finishSignIn(pending, answer: answer) }
            #expect(again == nil)
            #expect(scene.tokenRequestCount == 1)
            scene.provider.clock.advance(by: 301)
            let late = try await signInError { _ = try await application.finishSignIn(pending, answer: answer) }
            #expect(late == .timedOut)
        }
    }

    @Test func `a sign-in of another client, redirect URI or authority is not finished`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await Self.begin(scene)
            let pending = try PendingAuthorization(secret)
            let elsewhere = try Self.application(scene, redirectURI: "http://127.0.0.1/")
            let error = try await signInError { _ = try await elsewhere.finishSignIn(pending, answer: answer) }
            #expect(error?.code == .invalidRequest)
            var configuration = try PublicClientConfiguration(
                clientID: "b2c-app",
                redirectURI: RedirectURI(Self.redirectURI),
                authority: scene.authority(SignInScene.editProfile)
            )
            configuration.knownAuthorities = []
            let stranger = try PublicClientApplication(
                configuration,
                store: scene.store,
                transport: SignInScene.transport
            )
            let unknown = try await signInError { _ = try await stranger.finishSignIn(pending, answer: answer) }
            #expect(unknown?.code == .unknownAuthority)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `the account that was asked for, or none, signs in`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let silent = SilentRequest(account: account.id, scope: SignInScene.toDo)
            let request = InteractiveRequest(after: silent, account: account)
            let wrong = try await Self.begin(scene, request, as: (SignInScene.cleo, SignInScene.cleosPassword))
            let application = try Self.application(scene)
            let error = try await signInError {
                _ = try await application.finishSignIn(PendingAuthorization(wrong.secret), answer: wrong.answer)
            }
            #expect(error == .accountMismatch)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            let right = try await Self.begin(scene, request)
            let pending = try PendingAuthorization(right.secret)
            #expect(try await application.finishSignIn(pending, answer: right.answer).account.id == account.id)
        }
    }

    @Test func `tokens are bound to the key that the first process made`() async throws {
        try await SignInScene.open { scene in
            let change: (inout PublicClientConfiguration) -> Void = { $0.tokenOptions.dpop = .required }
            let (secret, answer) = try await Self.begin(scene, change: change)
            let application = try Self.application(scene, change)
            let result = try await application.finishSignIn(PendingAuthorization(secret), answer: answer)
            #expect(result.accessToken?.isDPoP == true)
        }
    }

    @Test func `how long ago the person may have signed in is kept, and older texts have none`() async throws {
        try await SignInScene.open { scene in
            let (application, browser) = (try Self.application(scene), try ScriptedBrowser())
            var request = InteractiveRequest(scope: SignInScene.toDo)
            try await browser.open(try await application.beginSignIn(request).address)
            try await browser.signIn(SignInScene.ana, SignInScene.anasPassword)
            // The browser is known to the issuer, which asks for no password.
            scene.provider.clock.advance(by: 200)
            request.extraParameters = ["max_age": "3600"]
            let (address, pending) = try await application.beginSignIn(request)
            try await browser.open(address)
            let answer = String(await browser.address.split(separator: "?", maxSplits: 1).last ?? "")
            let text = pending.secret.reveal()
            #expect(text.contains(#""max_age":3600"#))
            let altered = try PendingAuthorization(Secret(text.replacing(#""max_age":3600"#, with: #""max_age":60"#)))
            let error = try await signInError { _ = try await application.finishSignIn(altered, answer: answer) }
            #expect(error == .invalidIDToken(.oldSignIn))
            request.extraParameters = [:]
            let older = try await application.beginSignIn(request).pending.secret
            #expect(!older.reveal().contains("max_age"))
            #expect(try PendingAuthorization(older).secret == older)
            // What a person does on the pages makes a sign-in no older.
            request.extraParameters = ["max_age": "3600"]
            let (page, slow) = try await application.beginSignIn(request)
            try await browser.open(page)
            let late = String(await browser.address.split(separator: "?", maxSplits: 1).last ?? "")
            let begun = try #require(JSONValue(parsing: slow.secret.reveal()).object?["begun"]?.seconds)
            let earlier = slow.secret.reveal().replacing(#""max_age":3600"#, with: #""max_age":60"#)
                .replacing("\"begun\":\(begun)", with: "\"begun\":\(begun - 200)")
            let result = try await application.finishSignIn(PendingAuthorization(Secret(earlier)), answer: late)
            #expect(result.account.name == "Ana Rojas")
        }
    }

    @Test(arguments: ["", "{}", #"{"v":2}"#, #"{"v":1,"client":"b2c-app","state":"","nonce":"","verifier":""}"#, "é"])
    func `a text that is no sign-in is refused`(text: String) {
        #expect(throws: SignInError.self) { try PendingAuthorization(Secret(text)) }
    }

    @Test func `a refusal says so, and what was kept shows no secret`() async throws {
        try await SignInScene.open { scene in
            let (address, pending) = try await Self.application(scene)
                .beginSignIn(InteractiveRequest(scope: SignInScene.toDo))
            let state = parameters(of: address)["state"] ?? ""
            let answer = "error=access_denied&state=\(state)"
            let error = try await signInError {
                _ = try await Self.application(scene).finishSignIn(pending, answer: answer)
            }
            #expect(error?.code == .cancelled)
            for text in ["\(pending)", String(reflecting: pending), "\(pending.secret)"] {
                #expect(!text.contains(state), "\(text)")
            }
        }
    }
}
