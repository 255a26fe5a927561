import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// What each refusal means where a flow begins and where a token is renewed.
struct StartErrorTests {
    private static func refusal(_ error: String, _ numbers: String = "", suberror: String = "", text: String = "No.")
        -> String
    {
        #"{"error":"\#(error)","suberror":"\#(suberror)","error_codes":[\#(numbers)],"error_description":"\#(text)"}"#
    }

    private static let redirect = #"{"challenge_type":"redirect"}"#
    private static let blocked = refusal("access_denied", suberror: "provider_blocked_by_rep")

    private func fault(_ route: String, _ body: String) -> Fault {
        .answer(status: body == Self.redirect ? 200 : 400, body: body, at: route)
    }

    @Test(arguments: [
        ("initiate", refusal("user_not_found"), SignInStartErrorKind.userNotFound),
        ("initiate", redirect, .browserRequired),
        ("initiate", refusal("invalid_request", "90100"), .generalError),
        ("initiate", refusal("unauthorized_client"), .generalError),
        ("initiate", refusal("unsupported_challenge_type"), .generalError),
        ("initiate", refusal("invalid_client", suberror: "nativeauthapi_disabled"), .generalError),
        ("challenge", refusal("user_not_found"), .generalError), ("challenge", blocked, .generalError),
        ("challenge", redirect, .browserRequired), ("token", refusal("invalid_grant", "50126"), .invalidCredentials),
        ("token", refusal("invalid_grant", "50034"), .userNotFound),
        ("token", refusal("user_not_found"), .userNotFound),
        ("token", refusal("invalid_grant", "1,50126"), .generalError),
        ("token", refusal("invalid_grant"), .generalError),
        ("token", refusal("invalid_request", "50126"), .generalError), ("token", redirect, .browserRequired),
        ("token", refusal("invalid_grant", suberror: "mfa_required"), .generalError),
        ("token", refusal("invalid_scope"), .generalError),
        ("token", refusal("interaction_required"), .generalError),
        ("token", refusal("invalid_grant", suberror: "consent_required"), .generalError),
    ])
    func `each refusal of a sign-in's start has its own error`(route: String, body: String, kind: SignInStartErrorKind)
        async throws
    {
        try await NativeScene.open { scene in
            scene.provider.faults.add(fault(route, body))
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            let error = try await failure(of: scene.app("pwd-app").signIn, parameters)
            #expect(error.kind == kind)
            #expect(error.isBrowserRequired == (kind == .browserRequired))
            if body == Self.blocked { #expect(error.description.contains("blocked")) }
            #expect(try scene.isUntouched)
        }
    }

    @Test func `what no other attempt changes is not to be started again`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app")
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            scene.provider.faults.add(.status(404, at: "initiate"))
            let signIn = try await failure(of: app.signIn, parameters)
            #expect(signIn.remedy == .correct("check the authority's address and its tenant"))
            scene.provider.faults.add(.status(404, at: "signup/start"))
            let signUp = try await failure(of: app.signUp, SignUpParameters(username: NativeScene.new))
            #expect(signUp.remedy == signIn.remedy)
            scene.provider.faults.add(.status(404, at: "resetpassword/start"))
            let reset = try await failure { () throws(ResetPasswordStartError) in
                try await app.resetPassword(username: NativeScene.ana)
            }
            #expect(reset.remedy == signIn.remedy)
            scene.provider.faults.add(fault("initiate", Self.refusal("invalid_request", "90002")))
            #expect(try await failure(of: app.signIn, parameters).remedy?.code == .checkRegistration)
            scene.provider.faults.add(fault("token", Self.refusal("invalid_scope")))
            let scope = try await failure(of: app.signIn, parameters)
            #expect(scope.remedy == .correct("check the scopes that are asked for"))
        }
    }

    @Test func `N42: a sign-in for a scope without consent needs the browser`() async throws {
        try await NativeScene.open { scene in
            let scope: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            let start = try await scene.app().signUp(SignUpParameters(username: NativeScene.new)).codeState
            let signedUp = try await start.submitCode(scene.code(to: NativeScene.new)).done
            let error = try await failure { () throws(SignInAfterSignUpError) in try await signedUp.signIn(scope: scope)
            }
            #expect(!error.isBrowserRequired)
            #expect(error.remedy?.code == .useBrowser)
            #expect(error.browserRequest?.scope == scope)
            #expect(error.browserRequest?.prompt == nil)
            #expect((error.underlyingError as? OAuthError)?.suberror == "consent_required")
        }
    }

    @Test func `the browser is asked for the claims that the issuer wants of a sign-in`() async throws {
        try await NativeScene.open { scene in
            let wanted = #"{"access_token":{"acrs":{"value":"c1"}}}"#
            let body: JSONValue = ["error": "interaction_required", "claims": .string(wanted)]
            scene.provider.faults.add(.answer(status: 400, body: body.serialized, at: "token"))
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            let error = try await failure(of: scene.app("pwd-app").signIn, parameters)
            #expect(error.browserRequest?.claims?.serialized == wanted)
        }
    }

    @Test func `a scope that no store takes is refused before any request`() async throws {
        try await NativeScene.open { scene in
            var parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            parameters.scope = "a\u{0}b"
            let error = try await failure(of: scene.app("pwd-app").signIn, parameters)
            #expect(error.kind == .generalError)
            #expect(error.reason == "the scope has a control character")
            #expect(error.remedy == .correct("correct the scope"))
            #expect(scene.requests.isEmpty)
        }
    }

    @Test(arguments: [
        (
            "signup/start", refusal("invalid_request", "90100", text: "username parameter is empty or not valid."),
            SignUpStartErrorKind.invalidUsername
        ),
        (
            "signup/start", refusal("invalid_request", "90100", text: "client_id parameter is empty or not valid."),
            .generalError
        ),
        ("signup/start", refusal("user_already_exists"), .userAlreadyExists),
        ("signup/start", refusal("invalid_grant", suberror: "password_banned"), .invalidPassword),
        ("signup/start", refusal("invalid_grant", suberror: "attribute_validation_failed"), .generalError),
        ("signup/start", refusal("unsupported_auth_method"), .generalError),
        ("signup/start", redirect, .browserRequired),
        ("signup/challenge", refusal("user_already_exists"), .generalError),
        ("signup/challenge", redirect, .browserRequired),
    ])
    func `each refusal of a sign-up's start has its own error`(route: String, body: String, kind: SignUpStartErrorKind)
        async throws
    {
        try await NativeScene.open { scene in
            scene.provider.faults.add(fault(route, body))
            let error = try await failure(of: scene.app().signUp, SignUpParameters(username: NativeScene.new))
            #expect(error.kind == kind)
            #expect(error.browserRequest?.prompt == (kind == .browserRequired ? .create : nil))
        }
    }

    @Test(arguments: [
        ("resetpassword/start", refusal("user_not_found"), ResetPasswordStartErrorKind.userNotFound),
        ("resetpassword/start", refusal("invalid_request", "500222"), .userDoesNotHavePassword),
        ("resetpassword/start", refusal("invalid_request", "1,500222"), .generalError),
        ("resetpassword/start", redirect, .browserRequired), ("resetpassword/challenge", redirect, .browserRequired),
        ("resetpassword/challenge", refusal("user_not_found"), .generalError),
    ])
    func `each refusal of a reset's start has its own error`(
        route: String,
        body: String,
        kind: ResetPasswordStartErrorKind
    ) async throws {
        try await NativeScene.open { scene in
            scene.provider.faults.add(fault(route, body))
            let app = try scene.app("pwd-app")
            let error = try await failure { () throws(ResetPasswordStartError) in
                try await app.resetPassword(username: NativeScene.ana)
            }
            #expect(error.kind == kind)
        }
    }

    @Test(arguments: [
        (refusal("invalid_grant"), RetrieveAccessTokenErrorKind.refreshTokenExpired),
        (refusal("expired_refresh_token"), .refreshTokenExpired),
        (refusal("invalid_grant", suberror: "bad_token"), .refreshTokenExpired),
        (refusal("invalid_grant", suberror: "user_account_deleted"), .refreshTokenExpired),
        (refusal("invalid_grant", "50076"), .browserRequired), (refusal("interaction_required"), .browserRequired),
        (refusal("invalid_scope"), .invalidScope), (refusal("invalid_client"), .generalError),
        (refusal("invalid_request", "50142"), .generalError), (refusal("brand_new"), .generalError),
        (refusal("invalid_grant", suberror: "consent_required"), .browserRequired), (redirect, .browserRequired),
    ])
    func `D2: each refusal of a refresh has its own error`(body: String, kind: RetrieveAccessTokenErrorKind)
        async throws
    {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            scene.provider.faults.add(fault("token", body))
            let error = try await accessTokenFailure(account, NativeScene.toDo)
            #expect(error.kind == kind)
            #expect((error.browserRequest != nil) == (kind == .browserRequired))
            if body.contains("50142") { #expect(error.description.contains("password")) }
        }
    }

    @Test func `a token with fewer scopes is stored, and reported`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let granted = Scope("api://todolist/ToDoList.Read")
            let body = #"{"access_token":"at","token_type":"Bearer","expires_in":3600,"scope":"\#(granted)"}"#
            scene.provider.faults.add(.answer(body: body, at: "token"))
            let asked = Scope(granted.tokens + ["api://todolist/ToDoList.ReadWrite"])
            #expect(try await accessTokenFailure(account, asked).isScopeDeclined)
            #expect(try await account.accessToken(for: granted).accessToken.secret == Secret("at"))
        }
    }
}
