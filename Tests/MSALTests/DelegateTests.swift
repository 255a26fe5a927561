import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import MSAL
import NativeAuthentication
import OAuth
import Synchronization
import Testing
import TokenStorage

/// The delegates that the documents do not show.
@MainActor
struct DelegateTests {
    @Test func `N51, N52: a second factor by delegates`() async throws {
        try await NativeScene.open { scene in
            let screen = SecondFactorViewController(try scene.msal("mfa-app"))
            (screen.emailTextField.text, screen.passwordTextField.text) = (
                NativeScene.cleo, NativeScene.cleosPassword.reveal()
            )
            screen.signInPressed(self)
            let address = "cleo.second@example.org"
            #expect(await screen.resultTextView.next() == #"Choose of ["m-email", "m-sms", "m-blocked"]"#)
            screen.awaitingState?.requestChallenge(authMethod: screen.authMethods[2], delegate: screen)
            #expect(await screen.resultTextView.next() == "Method blocked")
            screen.awaitingState?.requestChallenge(authMethod: screen.authMethods[1], delegate: screen)
            #expect(await screen.resultTextView.next() == "Code sent by sms")
            screen.mfaState?.requestChallenge(authMethod: screen.authMethods[0], delegate: screen)
            #expect(await screen.resultTextView.next() == "Code sent by email")
            screen.mfaState?.submitChallenge(challenge: try scene.wrongCode(to: address).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Wrong code")
            screen.mfaState?.submitChallenge(challenge: try scene.code(to: address).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Signed in as \(NativeScene.cleo)")
        }
    }

    @Test func `N53, N55: a registration by delegates`() async throws {
        try await NativeScene.open { scene in
            let screen = SecondFactorViewController(try scene.msal("mfa-app"))
            screen.emailTextField.text = NativeScene.new
            let signUp = SignUpParameters(username: NativeScene.new, password: NativeScene.newPassword)
            let code = try await scene.app("mfa-app").signUp(signUp).codeState
            _ = try await code.submitCode(scene.code(to: NativeScene.new)).done
            screen.passwordTextField.text = NativeScene.newPassword.reveal()
            screen.signInPressed(self)
            #expect(await screen.resultTextView.next() == #"Register one of ["email", "sms"]"#)
            screen.contactEntered("+12")
            #expect(await screen.resultTextView.next() == "No contact")
            screen.contactEntered("first@example.org")
            #expect(await screen.resultTextView.next() == "Code of 8 sent to first@example.org")
            screen.contactEntered("second@example.org")
            #expect(await screen.resultTextView.next() == "Code of 8 sent to second@example.org")
            let wrong = try scene.wrongCode(to: "second@example.org").reveal()
            screen.verificationState?.submitChallenge(challenge: wrong, delegate: screen)
            #expect(await screen.resultTextView.next() == "Wrong code")
            let right = try scene.code(to: "second@example.org").reveal()
            screen.verificationState?.submitChallenge(challenge: right, delegate: screen)
            #expect(await screen.resultTextView.next() == "Signed in as \(NativeScene.new)")
        }
    }

    @Test func `N29, N31: a reset by delegates, in both spellings`() async throws {
        try await NativeScene.open { scene in
            let screen = ResetPasswordViewController(try scene.msal("pwd-app"))
            screen.resetPressed(self)
            #expect(await screen.resultTextView.next() == "Invalid username")
            screen.emailTextField.text = NativeScene.ana
            screen.resetWithParametersPressed(self)
            #expect(await screen.resultTextView.next().hasPrefix("Code sent to "))
            screen.codeState?.resendCode(delegate: screen)
            #expect(await screen.resultTextView.next().hasPrefix("Another code sent to "))
            screen.codeState?.submitCode(code: try scene.wrongCode(to: NativeScene.ana).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Wrong code")
            screen.codeState?.submitCode(code: try scene.code(to: NativeScene.ana).reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "New password?")
            screen.passwordState?.submitPassword(password: NativeScene.anasPassword.reveal(), delegate: screen)
            #expect(await screen.resultTextView.next() == "Another password?")
            screen.passwordState?.submitPassword(password: "Cordillera-8-Sur", delegate: screen)
            #expect(await screen.resultTextView.next() == "Signed in as \(NativeScene.ana)")
        }
    }

    @Test func `a refresh token is returned when the app asks for it`() async throws {
        try await NativeScene.open { scene in
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            let result = MSALNativeAuthUserAccountResult(try await scene.app("pwd-app").signIn(parameters).account)
            let hearer = TokenHearer()
            let wanted = MSALNativeAuthGetAccessTokenParameters()
            wanted.scopes = NativeScene.toDo.tokens
            wanted.forceRefresh = true
            result.getAccessToken(parameters: wanted, delegate: hearer)
            #expect(await hearer.seen.next() == "ToDoList.Read, no refresh token")
            wanted.returnRefreshToken = true
            result.getAccessToken(parameters: wanted, delegate: hearer)
            #expect(await hearer.seen.next() == "ToDoList.Read, a refresh token")
            let again = try await result.getAccessToken(scopes: NativeScene.toDo.tokens)
            #expect(again.scopes == NativeScene.toDo.tokens)
            #expect(again.expiresOn != nil)
        }
    }

    @Test func `applications of MSAL's initialisers keep sessions in the named file`() async throws {
        try await NativeScene.open { scene in
            let path = scene.store.path.directory + "/other.db"
            let configuration = try MSALNativeAuthPublicClientApplicationConfig(
                clientId: "app",
                tenantSubdomain: "fabrikvine",
                challengeTypes: [.OOB, .password]
            )
            #expect(configuration.authority.url.absoluteString.hasPrefix("https://fabrikvine.ciamlogin.com/"))
            configuration.storePath = path
            configuration.capabilities = [.mfaRequired]
            let app = try MSALNativeAuthPublicClientApplication(nativeAuthConfiguration: configuration)
            #expect(app.getNativeAuthUserAccount() == nil)
            #expect(app.configuration.storePath == path)
            #expect(app.native.configuration.capabilities == [.mfaRequired])
            let older = try Surroundings.$current.withValue(scene.surroundings) {
                try MSALNativeAuthPublicClientApplication(
                    clientId: "app",
                    tenantSubdomain: "fabrikvine",
                    challengeTypes: .OOB
                )
            }
            #expect(older.native.configuration.challengeTypes == .oob)
            #expect(older.configuration.storePath == scene.store.path.database)
        }
    }

    @Test func `a native application takes all that a configuration says`() async throws {
        try await NativeScene.open { scene in
            let configuration = MSALPublicClientApplicationConfig(
                clientId: "app",
                redirectUri: "msauth.com.example.app://auth",
                authority: try MSALAuthority(scene.app("pwd-app").configuration.authority)
            )
            configuration.knownAuthorities = [configuration.authority]
            configuration.extendedLifetimeEnabled = true
            configuration.clientApplicationCapabilities = ["CP1"]
            configuration.tokenExpirationBuffer = 60
            let app = try Surroundings.$current.withValue(scene.surroundings) {
                try MSALNativeAuthPublicClientApplication(configuration: configuration, challengeTypes: .password)
            }
            let kept = app.configuration
            #expect(kept.redirectUri == configuration.redirectUri)
            #expect(kept.knownAuthorities == configuration.knownAuthorities)
            #expect(kept.extendedLifetimeEnabled)
            #expect(kept.clientApplicationCapabilities == ["CP1"])
            #expect(kept.tokenExpirationBuffer == 60)
        }
    }

    @Test func `the address of a server is no path`() throws {
        let configuration = try MSALNativeAuthPublicClientApplicationConfig(
            clientId: "app",
            tenantSubdomain: "fabrikvine",
            challengeTypes: [.OOB]
        )
        for address in ["postgresql:/web@db.invalid/sessions", "postgresql://db.invalid/s?sslmode=disable"] {
            configuration.storePath = address
            let error = #expect(throws: (any Error).self) {
                try MSALNativeAuthPublicClientApplication(nativeAuthConfiguration: configuration)
            }
            let word = address.hasPrefix("postgresql://") ? "sslmode" : "postgresql://"
            #expect(error.map { "\($0)".contains(word) } == true)
        }
        #expect(!FileManager.default.fileExists(atPath: "postgresql:"))
    }

    @Test func `a subdomain that is none is an invalid parameter`() {
        let error = #expect(throws: NSError.self) {
            try MSALNativeAuthPublicClientApplicationConfig(
                clientId: "app",
                tenantSubdomain: "a.b",
                challengeTypes: [.OOB]
            )
        }
        #expect(error?.domain == MSALErrorDomain)
        #expect(error?.userInfo[MSALInternalErrorCodeKey] as? Int == MSALInternalError.invalidParameter.rawValue)
    }

    @Test(arguments: [2, 0])
    func `of an interceptor's answers the first counts, and it need not give one`(answers: Int) async throws {
        try await NativeScene.open { scene in
            let configuration = MSALNativeAuthPublicClientApplicationConfig(
                clientId: "pwd-app",
                authority: try MSALAuthority(scene.app("pwd-app").configuration.authority),
                challengeTypes: [.OOB, .password]
            )
            let interceptor = Interceptor(answers: answers)
            configuration.requestInterceptor = interceptor
            let transport = RecordingTransport()
            var surroundings = scene.surroundings
            surroundings.transport = transport
            let app = try Surroundings.$current.withValue(surroundings) {
                try MSALNativeAuthPublicClientApplication(nativeAuthConfiguration: configuration)
            }
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            _ = try await app.native.signIn(parameters).account
            #expect(interceptor.asked.withLock(\.self).allSatisfy { $0.hasPrefix(scene.provider.baseURL) })
            #expect(interceptor.asked.withLock(\.self).count == 3)
            let sent = transport.requests.compactMap { $0.headers["x-test"] }
            #expect(sent == Array(repeating: "1", count: answers > 0 ? 3 : 0))
        }
    }

    @Test func `parameters show the name and no password`() {
        let signIn = MSALNativeAuthSignInParameters(username: "ana@example.org")
        signIn.password = "Quinoa-7-Lunas"
        let signUp = MSALNativeAuthSignUpParameters(username: "ana@example.org")
        signUp.password = "Quinoa-7-Lunas"
        for parameters in [signIn, signUp] as [Any] {
            var shown = "\(parameters)" + String(reflecting: parameters)
            dump(parameters, to: &shown)
            #expect(shown.contains("ana@example.org"))
            #expect(!shown.contains("Quinoa"))
        }
    }

    private final class Interceptor: MSALNativeAuthRequestInterceptor {
        let asked = Mutex<[String]>([])
        private let answers: Int

        init(answers: Int) { self.answers = answers }

        func addAdditionalHeaderFields(
            _ requestUrl: URL?,
            completionBlock: @escaping MSALNativeAuthRequestInterceptorAddHeaderCompletionBlock
        ) {
            asked.withLock { $0.append(requestUrl?.absoluteString ?? "") }
            for headers in [["x-test": "1"], nil].prefix(answers) { completionBlock(headers) }
        }
    }

    private final class TokenHearer: CredentialsDelegate {
        let seen = TextView()

        func onAccessTokenRetrieveError(error: RetrieveAccessTokenError) { seen.text = error.description }

        func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult) {
            let scope = result.scopes[0].split(separator: "/").last ?? ""
            seen.text = "\(scope), \(result.refreshToken == nil ? "no" : "a") refresh token"
        }
    }
}
