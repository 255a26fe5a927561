import Foundation
import IssuerSupport
import LocalIdentityProvider
import MSAL
import MSALDocuments
import OAuth
import Testing

/// The guides to native authentication, as they stand there, with a user.
@MainActor
struct NativeGuideTests {
    typealias Guide = @MainActor @Sendable (MSALNativeAuthPublicClientApplication) -> Screen

    private static let password = NativeScene.anasPassword.reveal()

    @Test(arguments: [signInByCode, olderSignInByCode] as [Guide])
    func `S48, S53 to S56: sign-in by code`(guide: Guide) async throws {
        try await NativeScene.open { scene in
            let screen = guide(try scene.msal())
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == "email not set")
            screen.emailTextField.text = NativeScene.bo
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == "Verification code sent to b***o@e***e.org")
            screen.userSuppliedCode = try scene.wrongCode().reveal()
            screen.press("submit")
            #expect(await screen.resultTextView.next().hasPrefix("Error verifying code: "))
            screen.userSuppliedCode = try scene.code().reveal()
            screen.press("submit")
            #expect(await screen.resultTextView.next() == "Signed in successfully.")
            #expect(await screen.resultTextView.next().hasPrefix("Signed in. Access Token: ey"))
        }
    }

    @Test(arguments: [signInByPassword, olderSignInByPassword] as [Guide])
    func `S49, S55: sign-in by password`(guide: Guide) async throws {
        try await NativeScene.open { scene in
            let screen = guide(try scene.msal("pwd-app"))
            (screen.emailTextField.text, screen.passwordTextField.text) = (NativeScene.ana, "wrong")
            screen.press("signIn")
            #expect(await screen.resultTextView.next().hasPrefix("Error signing in: the issuer answered"))
            screen.passwordTextField.text = Self.password
            screen.press("signIn")
            #expect(await screen.resultTextView.next().hasPrefix("Signed in. Access Token: ey"))
        }
    }

    @Test(arguments: [signInErrors, olderSignInErrors] as [Guide])
    func `S57 to S59: errors told apart, another code after a wrong one, and a claim`(guide: Guide) async throws {
        try await NativeScene.open { scene in
            let screen = guide(try scene.msal())
            screen.emailTextField.text = "nobody@example.org"
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == "Invalid username")
            screen.emailTextField.text = NativeScene.bo
            screen.userSuppliedCode = "no code"
            screen.newCode = { scene.provider.outbox.messages(to: NativeScene.bo).last?.code ?? "" }
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == NativeScene.bo)
        }
    }

    @Test(arguments: [signInSignOut, olderSignInSignOut] as [Guide])
    func `S61 to S63: the account is there at the next start, not after a sign-out`(guide: Guide) async throws {
        try await NativeScene.open { scene in
            let screen = guide(try scene.msal("pwd-app"))
            #expect(await screen.resultTextView.next() == "Not signed in")
            (screen.emailTextField.text, screen.passwordTextField.text) = (NativeScene.ana, Self.password)
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == "Signed in successfully")
            let next = guide(try scene.msal("pwd-app", store: scene.reopened()))
            #expect(await next.resultTextView.next() == NativeScene.ana)
            next.press("signOut")
            #expect(await next.resultTextView.next() == "Signed out")
            let last = guide(try scene.msal("pwd-app", store: scene.reopened()))
            #expect(await last.resultTextView.next() == "Not signed in")
        }
    }

    @Test func `S31 to S46: one sign-in, and a token for each of two APIs`() async throws {
        try await NativeScene.open { scene in
            let bare = webAPIs(try scene.msal("pwd-app"))
            bare.press("api1")
            #expect(await bare.resultTextView.next() == "API 1 not configured.")
            let screen = webAPIs(
                try scene.msal("pwd-app"),
                [
                    (scene.provider.baseURL + "/api1", NativeScene.toDo.tokens),
                    (scene.provider.baseURL + "/api2", NativeScene.demo.tokens),
                ]
            )
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == "Email or password not set")
            (screen.emailTextField.text, screen.passwordTextField.text) = (NativeScene.ana, Self.password)
            screen.press("signIn")
            #expect(await screen.resultTextView.next() == "Signing in...")
            #expect(await screen.resultTextView.next() == "Signed in successfully")
            for api in ["api1", "api2"] {
                screen.press(api)
                #expect(await screen.resultTextView.next().hasPrefix("Retrieving access token"))
                #expect(await screen.resultTextView.next().hasPrefix("Signed in.\n\nScopes:"))
                #expect(await screen.resultTextView.next().contains("HTTP response code: 200"))
            }
            screen.press("api1")
            #expect(await screen.resultTextView.next().contains("HTTP response code: 200"))
            #expect(scene.requests["token"] == 3)
        }
    }

    @Test func `S66 to S69: sign-up by code`() async throws {
        try await NativeScene.open { scene in
            let screen = signUpByCode(try scene.msal())
            screen.press("signUp")
            #expect(await screen.resultTextView.next() == "Email or password not set")
            screen.emailTextField.text = NativeScene.new
            screen.press("signUp")
            #expect(await screen.resultTextView.next() == "Verification code sent to e***a@e***e.org")
            screen.userSuppliedCode = try scene.wrongCode(to: NativeScene.new).reveal()
            screen.press("submit")
            #expect(await screen.resultTextView.next().hasPrefix("Error verifying code: "))
            screen.userSuppliedCode = try scene.code(to: NativeScene.new).reveal()
            screen.press("submit")
            #expect(await screen.resultTextView.next() == "Signed up successfully!")
        }
    }

    @Test(arguments: NativeScene.signUpProblems)
    func `S75: each problem of a sign-up has its own error`(email: String, password: String, text: String) async throws
    {
        try await NativeScene.open { scene in
            let screen = signUpErrors(try scene.msal("pwd-app"))
            (screen.emailTextField.text, screen.passwordTextField.text) = (email, password)
            for button in ["signUp", "again"] {
                screen.press(button)
                #expect(await screen.resultTextView.next() == text)
            }
        }
    }

    @Test func `S70, S71: attributes at the start, and those that are refused`() async throws {
        try await NativeScene.open { scene in
            let screen = signUpAttributes(try scene.msal())
            screen.emailTextField.text = NativeScene.new
            screen.press("1")
            #expect(await screen.resultTextView.next() == "Invalid attributes  [\"country\"]")
            screen.press("signUp")
            #expect(await screen.resultTextView.next() == "Verification code sent to e***a@e***e.org")
        }
    }

    @Test func `S72 to S74: the attributes on a page of their own`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.msal("pwd-app")
            let pages = Pages()
            let first = signUpPages(app) { state in
                pages.state = state
                pages.next.text = ""
            }
            (first.emailTextField.text, first.passwordTextField.text) = (NativeScene.new, "Llanura-5-Viento")
            first.newCode = { scene.provider.outbox.messages(to: NativeScene.new).last?.code ?? "" }
            first.press("signUp")
            #expect(await first.resultTextView.next() == "Attributes required")
            _ = await pages.next.next()
            let second = signUpPage(app, try #require(pages.state))
            second.press("1")
            #expect(await second.resultTextView.next() == "Attributes invalid")
            second.press("Peru")
            #expect(await second.resultTextView.next() == "Attributes required")
            second.press("submit")
            #expect(await second.resultTextView.next() == "Signed up successfully!")
        }
    }

    @MainActor
    private final class Pages {
        let next = UITextView()
        var state: SignUpAttributesRequiredState?
    }
}
