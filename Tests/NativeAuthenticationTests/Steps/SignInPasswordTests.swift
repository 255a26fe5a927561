import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct SignInPasswordTests {
    @Test func `N10, S49: a right password signs in with three requests and no message`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            #expect(account.account.username == NativeScene.ana)
            #expect(scene.requests == ["initiate": 1, "challenge": 1, "token": 1])
            #expect(scene.messages == 0)
        }
    }

    @Test func `N11: a wrong password has its own error`() async throws {
        try await NativeScene.open { scene in
            let parameters = SignInParameters(username: NativeScene.ana, password: Secret("wrong"))
            let error = try await failure(of: scene.app("pwd-app").signIn, parameters)
            #expect(error.isInvalidCredentials)
            #expect(error.errorCodes == [50126])
            #expect(try scene.isUntouched)
        }
    }

    @Test func `N12: an empty password is refused without a request`() async throws {
        try await NativeScene.open { scene in
            let parameters = SignInParameters(username: NativeScene.ana, password: Secret(""))
            let error = try await failure(of: scene.app("pwd-app").signIn, parameters)
            #expect(error.isInvalidCredentials)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N13: the password is asked for until it is right`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app")
            let state = try await app.signIn(SignInParameters(username: NativeScene.ana)).passwordState
            let error = try await failure(of: state.submitPassword, Secret("wrong"))
            #expect(error.isInvalidPassword)
            let again = try #require(error.state)
            scene.provider.audit.reset()
            #expect(try await failure(of: again.submitPassword, Secret("")).isInvalidPassword)
            #expect(scene.provider.audit.counts.isEmpty)
            let account = try await again.submitPassword(NativeScene.anasPassword).account
            #expect(account.account.username == NativeScene.ana)
        }
    }

    @Test func `N15, S52: an app that cannot ask for passwords is sent to the browser`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app") { $0.challengeTypes = .oob }
            let parameters = SignInParameters(username: NativeScene.ana, scope: NativeScene.toDo)
            let error = try await failure(of: app.signIn, parameters)
            #expect(error.isBrowserRequired)
            let request = try #require(error.browserRequest)
            #expect(request.loginHint == NativeScene.ana)
            #expect(request.scope == NativeScene.toDo)
            #expect(request.authority == app.configuration.authority)
        }
    }

    @Test func `an account that has to reset its password gets an error that says so`() async throws {
        try await NativeScene.open { scene in
            let body = #"{"error":"invalid_request","error_codes":[50142],"error_description":"Reset it."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            let error = try await failure(of: scene.app("pwd-app").signIn, parameters)
            #expect(error.kind == .generalError)
            #expect(error.description.contains("reset the password"))
        }
    }
}
