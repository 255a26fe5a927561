import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import Synchronization
import TestSupport
import Testing
import TokenManagement
import TokenStorage

struct InteractiveTests {
    @Test func `S09, S12, N63: the authorization request is complete and names the user flow`() async throws {
        try await SignInScene.open { scene in
            let seen = Mutex("")
            let visitor = try ScriptedBrowser()
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.prompt = .selectAccount
            request.extraParameters = ["ui_locales": "es"]
            let application = try scene.application(
                ReactingUser { address in
                    seen.withLock { $0 = address }
                    try await visitor.open(address)
                    try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
                }
            )
            let result = try await application.acquireToken(request)
            let sent = parameters(of: seen.withLock(\.self))
            #expect(sent["scope"] == "openid profile offline_access \(SignInScene.toDo.text)")
            #expect(sent["prompt"] == "select_account")
            #expect(sent["code_challenge_method"] == "S256")
            #expect(sent["code_challenge"]?.count == 43)
            #expect(sent["state"]?.count == 43)
            #expect(sent["nonce"]?.count == 43)
            #expect(sent["ui_locales"] == "es")
            #expect(sent["response_type"] == "code")
            #expect(sent["response_mode"] == nil)
            #expect(result.account.id.homeAccountID.contains("-b2c_1_susi."))
            #expect(result.account.userFlow == "b2c_1_susi")
            #expect(result.idToken.claims[path: "tfp"]?.text == "b2c_1_susi")
            #expect(result.account.name == "Ana Rojas")
            #expect(result.token?.source == .signIn)
            #expect(result.scope.covers(SignInScene.toDo))
            #expect(try await application.accounts().map(\.id) == [result.account.id])
            #expect(await visitor.page.contains("You can close this window"))
        }
    }

    @Test func `S09: with a session in the browser the provider shows an account chooser`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            _ = try await scene.signIn(in: visitor)
            let heading = Mutex("")
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.prompt = .selectAccount
            let user = try ScriptedUser(visitor) { visitor in
                let shown = await visitor.heading
                heading.withLock { $0 = shown }
                try await visitor.press("", ["account": "0b8f7a9e-1111-4c7d-9c1e-a1a1a1a1a1a1"])
            }
            _ = try await scene.application(user).acquireToken(request)
            #expect(heading.withLock(\.self) == "Choose an account")
        }
    }

    @Test func `S10: a new user signs up on the page`() async throws {
        try await SignInScene.open { scene in
            let user = try ScriptedUser { visitor in
                try await visitor.press("sign_up_now")
                try await visitor.press(
                    "sign_up",
                    ["username": "eva@example.org", "password": "Llanura-5-Viento", "displayName": "Eva Mora"]
                )
                try await visitor.press("submit_code", ["code": scene.code(to: "eva@example.org")])
            }
            let result = try await scene.application(user).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            #expect(result.account.name == "Eva Mora")
            #expect(result.account.username == "eva@example.org")
        }
    }

    @Test func `S11, S13, N65: a cancelled sign-in stores nothing`() async throws {
        try await SignInScene.open { scene in
            let user = try ScriptedUser { try await $0.press("cancel") }
            let error = try await signInError {
                _ = try await scene.application(user).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error == .cancelled)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `S01: a redirect URI that is not registered is refused before any page asks`() async throws {
        try await SignInScene.open { scene in
            let heading = Mutex("")
            let user = try ScriptedUser { visitor in
                let shown = await visitor.heading
                heading.withLock { $0 = shown }
                throw CancellationError()
            }
            let application = try scene.application(user, redirectURI: "msauth.com.example.other://auth")
            let error = try await signInError {
                _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error == .cancelled)
            #expect(heading.withLock(\.self) == "Something went wrong")
        }
    }

    @Test func `S01: an app with an own scheme handles the redirect once`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            let application = Mutex<PublicClientApplication?>(nil)
            let taken = Mutex<[Bool]>([])
            let user = try ScriptedUser(visitor) { visitor in
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
                let address = await visitor.address
                let own = application.withLock(\.self)
                for text in ["msauth.com.example.tokenstore://other?code=x&state=y", address, address] {
                    let isTaken = own?.handle(redirect: text) ?? false
                    taken.withLock { $0.append(isTaken) }
                }
            }
            let own = try scene.application(user, redirectURI: "msauth.com.example.tokenstore://auth")
            application.withLock { $0 = own }
            let result = try await own.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            #expect(result.account.name == "Ana Rojas")
            #expect(taken.withLock(\.self) == [false, true, false])
            #expect(!own.handle(redirect: await visitor.address))
        }
    }

    @Test func `a code that the browser posts as a form is accepted`() async throws {
        try await SignInScene.open { scene in
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.responseMode = .formPost
            let user = try ScriptedUser { visitor in
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
                try await visitor.press("")
                #expect(await visitor.page.contains("You can close this window"))
                #expect(await !visitor.address.contains("code="))
            }
            let result = try await scene.application(user).acquireToken(request)
            #expect(result.account.name == "Ana Rojas")
        }
    }

    @Test func `S03: no request carries a client secret`() async throws {
        try await SignInScene.open { scene in
            let transport = RecordingTransport()
            let user = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
            let application = try scene.application(user, transport: transport)
            let result = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            var silent = SilentRequest(account: result.account.id, scope: SignInScene.toDo)
            silent.forcesRefresh = true
            _ = try await application.acquireTokenSilently(silent)
            #expect(transport.forms.count == 2)
            for form in transport.forms { #expect(form.keys.allSatisfy { !$0.contains("secret") }) }
            #expect(transport.requests.allSatisfy { $0.headers["authorization"] == nil })
            #expect(transport.forms[0]["code_verifier"]?.count == 43)
            #expect(transport.forms[0]["client_info"] == "1")
        }
    }

    @Test func `S22, N67: a login hint fills the name in, and another user is refused`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let before = try scene.store.exported()
            let hint = Mutex<String?>(nil)
            let visitor = try ScriptedBrowser()
            var request = InteractiveRequest(
                after: SilentRequest(account: account.id, scope: SignInScene.toDo),
                account: account
            )
            request.loginHint = "not used"
            let application = try scene.application(
                ReactingUser { address in
                    hint.withLock { $0 = parameters(of: address)["login_hint"] }
                    try await visitor.open(address)
                    try await visitor.signIn(SignInScene.cleo, SignInScene.cleosPassword)
                }
            )
            let error = try await signInError { _ = try await application.acquireToken(request) }
            #expect(error == .accountMismatch)
            #expect(hint.withLock(\.self) == SignInScene.ana)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try scene.store.exported() == before)
        }
    }

    @Test func `S29, N69: a profile is edited, and the user flows stay apart`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.authority = try scene.authority(SignInScene.editProfile)
            request.account = account
            let user = try ScriptedUser { visitor in
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
                try await visitor.press("save", ["displayName": "Ana Vélez"])
            }
            let application = try scene.application(user)
            let edited = try await application.acquireToken(request)
            #expect(edited.account.name == "Ana Vélez")
            #expect(edited.account.userFlow == "b2c_1_edit")
            #expect(edited.account.id != account.id)
            #expect(try await application.accounts().count == 2)
            #expect(try await application.account(for: .userFlow("B2C_1_SUSI"))?.id == account.id)
            var crossed = SilentRequest(account: account.id, scope: SignInScene.toDo)
            crossed.authority = try scene.authority(SignInScene.editProfile)
            let net = scene.tokenRequestCount
            await #expect(throws: TokenStoreError.self) { try await application.acquireTokenSilently(crossed) }
            #expect(scene.tokenRequestCount == net)
        }
    }

    @Test func `a forgotten password has its own error, and the reset flow signs in`() async throws {
        try await SignInScene.open { scene in
            let user = try ScriptedUser { visitor in
                guard await visitor.heading != "Sign in" else { return try await visitor.press("forgot") }
                try await visitor.press("send_reset", ["username": SignInScene.ana])
                try await visitor.press("submit_code", ["code": scene.code(to: SignInScene.ana)])
                try await visitor.press("set_password", ["password": "Llanura-5-Viento"])
            }
            let application = try scene.application(user)
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.authority = try scene.authority(SignInScene.forwarding)
            let error = try await signInError { _ = try await application.acquireToken(request) }
            guard error?.code == .forgotPassword else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try scene.isUntouched)
            request.authority = try scene.authority(SignInScene.resetPassword)
            #expect(try await application.acquireToken(request).account.userFlow == SignInScene.resetPassword)
        }
    }
}
