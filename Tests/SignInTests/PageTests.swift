import HTTPTransport
import LocalIdentityProvider
import OAuth
import SignIn
import Synchronization
import Testing
import TokenStorage

/// What the page is asked for, and what it says to the person.
struct PageTests {
    /// Signs Ana in and returns what the address asked for.
    private func asked(_ request: InteractiveRequest, _ scene: SignInScene) async throws -> [String: String] {
        let seen = Mutex<[String: String]>([:])
        let visitor = try ScriptedBrowser()
        let application = try scene.application(
            ReactingUser { address in
                seen.withLock { $0 = parameters(of: address) }
                try await visitor.open(address)
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            }
        )
        _ = try await application.acquireToken(request)
        return seen.withLock(\.self)
    }

    @Test func `S02: no broker is called`() async throws {
        try await SignInScene.open { scene in
            let sent = try await asked(InteractiveRequest(scope: SignInScene.toDo), scene)
            #expect(
                sent.keys.sorted() == [
                    "client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_type",
                    "scope", "state",
                ]
            )
            let own = try scene.application(AbsentUser(), redirectURI: "msauth.com.example.tokenstore://auth")
            for scheme in ["msauthv2", "msauthv3"] { #expect(!own.handle(redirect: "\(scheme)://auth?code=x&state=y")) }
        }
    }

    @Test func `S34: an empty field is an error on the page, without a token request`() async throws {
        try await SignInScene.open { scene in
            let messages = Mutex<[String]>([])
            let user = try ScriptedUser { visitor in
                for fields in [
                    ["username": SignInScene.ana, "password": ""], ["username": "", "password": "x"], [:],
                ] {
                    try await visitor.press("sign_in", fields)
                    let message = await visitor.message
                    messages.withLock { $0.append(message) }
                }
                try await visitor.press("cancel")
            }
            let error = try await signInError {
                _ = try await scene.application(user).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error == .cancelled)
            let shown = messages.withLock(\.self)
            #expect(shown.count == 3)
            #expect(!shown.contains(""))
            #expect(scene.tokenRequestCount == 0)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `S36: without scopes openid, profile and offline_access are requested`()
        async throws
    {
        try await SignInScene.open { scene in
            let sent = try await asked(InteractiveRequest(scope: Scope([])), scene)
            #expect(sent["scope"] == "openid profile offline_access")
            let status = try await scene.store.status()
            #expect(status.accessTokens == 1)
            #expect(status.refreshTokens == 1)
            #expect(status.idTokens == 1)
        }
    }
}
