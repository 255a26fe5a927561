import Foundation
import IssuerSupport
import LocalIdentityProvider
import MSAL
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// Code written after the documents, run as it stands there.
@MainActor
struct NativeDocumentTests {
    @Test func `S48, S53 to S59: sign-in by code`() async throws {
        try await NativeScene.open { scene in
            let screen = CodeSignInViewController(try scene.msal())
            screen.emailTextField.text = NativeScene.bo
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next() == "Verification code sent to b***o@e***e.org")
            screen.newState?.resendCode(delegate: screen)
            #expect(await screen.resultTextView.next() == "Another code sent to b***o@e***e.org")
            // The person mistypes, and is asked again.
            screen.userSuppliedCode = try scene.code().reveal()
            screen.newState?.submitCode(code: try scene.wrongCode().reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Signed in successfully as bo@example.org.")
            #expect(await screen.resultTextView.next().hasPrefix("Signed in. Access Token: ey"))
            #expect(scene.requests["token"] == 2)
        }
    }

    @Test(arguments: ["nobody@example.org", ""])
    func `S51, S57: an unknown and an empty username give the same error`(name: String) async throws {
        try await NativeScene.open { scene in
            let screen = CodeSignInViewController(try scene.msal())
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next() == "email not set")
            screen.emailTextField.text = name
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next() == "Invalid username")
        }
    }

    @Test func `S49, S55: sign-in by password, in both spellings`() async throws {
        try await NativeScene.open { scene in
            let screen = PasswordSignInViewController(try scene.msal("pwd-app"))
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next() == "Email or password not set")
            (screen.emailTextField.text, screen.passwordTextField.text) = (NativeScene.ana, "wrong")
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next().hasPrefix("Error signing in: the issuer answered"))
            screen.passwordTextField.text = NativeScene.anasPassword.reveal()
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next().hasPrefix("Signed in. Access Token: ey"))
            screen.signInWithParametersPressed(self)
            #expect(await screen.resultTextView.next().hasPrefix("Signed in. Access Token: ey"))
        }
    }

    @Test func `D10: a callback that the delegate lacks is reported as an error`() async throws {
        try await NativeScene.open { scene in
            let screen = PasswordSignInViewController(try scene.msal())
            (screen.emailTextField.text, screen.passwordTextField.text) = (NativeScene.bo, "unused")
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next().contains("the delegate has no onSignInCodeRequired"))
        }
    }

    @Test func `S61 to S63: the account is there at the next start, not after a sign-out`() async throws {
        try await NativeScene.open { scene in
            let first = PasswordSignInViewController(try scene.msal("pwd-app"))
            first.signOutPressed(self)
            #expect(await first.resultTextView.next() == "Not currently signed in")
            (first.emailTextField.text, first.passwordTextField.text) = (
                NativeScene.ana, NativeScene.anasPassword.reveal()
            )
            first.signInPressed(self)
            _ = await first.resultTextView.next()
            let second = PasswordSignInViewController(try scene.msal("pwd-app", store: scene.reopened()))
            let account = try #require(second.accountResult?.account)
            #expect(account.username == NativeScene.ana)
            #expect(account.accountClaims?["name"] as? String == "Ana Rojas")
            #expect(account.identifier == account.homeAccountId?.identifier)
            #expect(account.homeAccountId?.tenantId != nil)
            second.signOutPressed(self)
            #expect(await second.resultTextView.next() == "Signed out")
            #expect(first.nativeAuth.getNativeAuthUserAccount() == nil)
        }
    }

    @Test func `S66 to S69, S76, S77: sign-up by code, and the sign-in after it`() async throws {
        try await NativeScene.open { scene in
            let screen = SignUpViewController(try scene.msal())
            screen.signUpPressed(self)
            #expect(await screen.resultTextView.next() == "Email or password not set")
            screen.emailTextField.text = NativeScene.new
            screen.signUpPressed(self)
            #expect(await screen.resultTextView.next() == "Verification code sent to e***a@e***e.org")
            screen.newState?.submitCode(code: try scene.wrongCode(to: NativeScene.new).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next().hasPrefix("Error verifying code: "))
            screen.newState?.submitCode(code: try scene.code(to: NativeScene.new).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Signed up successfully!")
            #expect(await screen.resultTextView.next() == "Signed in successfully")
        }
    }

    @Test func `S66, S70: sign-up by password with the attributes at the start`() async throws {
        try await NativeScene.open { scene in
            let screen = SignUpViewController(try scene.msal("pwd-app"))
            screen.signUpWithPasswordPressed(self)
            #expect(await screen.resultTextView.next() == "Email or password not set")
            (screen.emailTextField.text, screen.passwordTextField.text) = (
                NativeScene.new, NativeScene.newPassword.reveal()
            )
            screen.signUpWithAttributesPressed(self)
            _ = await screen.resultTextView.next()
            screen.newState?.submitCode(code: try scene.code(to: NativeScene.new).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Signed up successfully!")
            #expect(await screen.resultTextView.next() == "Signed in successfully")
        }
    }

    @Test(arguments: NativeScene.signUpProblems)
    func `S75: each problem of a sign-up has its own error`(email: String, password: String, text: String) async throws
    {
        try await NativeScene.open { scene in
            let screen = SignUpViewController(try scene.msal("pwd-app"))
            (screen.emailTextField.text, screen.passwordTextField.text) = (email, password)
            screen.signUpWithPasswordPressed(self)
            #expect(await screen.resultTextView.next() == text)
        }
    }

    @Test func `S71, N75: refused attributes are named, and malformed JSON is not sent`()
        async throws
    {
        try await NativeScene.open { scene in
            let screen = SignUpViewController(try scene.msal("pwd-app"))
            screen.nativeAuth.signUp(username: NativeScene.new, attributes: ["country": "1"], delegate: screen)
            #expect(await screen.resultTextView.next() == "Invalid attributes  [\"country\"]")
            scene.provider.audit.reset()
            screen.nativeAuth.signUp(
                username: NativeScene.new,
                attributes: ["country": Date.distantPast],
                delegate: screen
            )
            #expect(await screen.resultTextView.next().hasPrefix("Unexpected error signing up: "))
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `S72 to S74: the attributes over several pages`() async throws {
        try await NativeScene.open { scene in
            let screen = PagesViewController(try scene.msal("pwd-app"))
            (screen.emailTextField.text, screen.passwordTextField.text) = (
                NativeScene.new, NativeScene.newPassword.reveal()
            )
            screen.signUpPressed(self)
            _ = await screen.resultTextView.next()
            screen.codeState?.submitCode(code: try scene.code(to: NativeScene.new).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Attributes required")
            screen.country = "1"
            screen.submitPressed(self)
            #expect(await screen.resultTextView.next() == "Attributes invalid")
            screen.attributesState?.submitAttributes(attributes: ["country": "Peru"], delegate: screen)
            #expect(await screen.resultTextView.next() == "Attributes required")
            screen.country = "Peru"
            screen.submitPressed(self)
            #expect(await screen.resultTextView.next() == "Signed up successfully!")
        }
    }

    @Test func `S31 to S46: one sign-in, and a token for each of two APIs`() async throws {
        try await NativeScene.open { scene in
            let screen = APIViewController(try scene.msal("pwd-app"))
            screen.protectedApi1Pressed(self)
            #expect(await screen.resultTextView.next() == "API 1 not configured.")
            (screen.emailTextField.text, screen.passwordTextField.text) = (
                NativeScene.ana, NativeScene.anasPassword.reveal()
            )
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next() == "Signing in...")
            #expect(await screen.resultTextView.next() == "Signed in successfully")
            (screen.protectedAPIUrl1, screen.protectedAPIUrl2) = (
                scene.provider.baseURL + "/api1", scene.provider.baseURL + "/api2"
            )
            screen.protectedAPIScopes1 = NativeScene.toDo.tokens
            screen.protectedAPIScopes2 = NativeScene.demo.tokens
            screen.protectedApi1Pressed(self)
            #expect(await screen.resultTextView.next() == "Retrieving access token to use with API 1...")
            #expect(await screen.resultTextView.next().contains("Scopes:\n[\"api://todolist/ToDoList.Read\"]"))
            #expect(await screen.resultTextView.next().hasPrefix("Accessed API successfully using access token."))
            screen.protectedApi2Pressed(self)
            #expect(await screen.resultTextView.next() == "Retrieving access token to use with API 2...")
            #expect(await screen.resultTextView.next().contains("demo.read"))
            #expect(await screen.resultTextView.next().contains("HTTP response code: 200"))
            screen.protectedApi1Pressed(self)
            #expect(await screen.resultTextView.next().contains("HTTP response code: 200"))
            #expect(scene.requests["token"] == 3)
        }
    }
}
