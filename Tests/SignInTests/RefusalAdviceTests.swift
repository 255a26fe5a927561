import OAuth
import OpenIDConnect
import SignIn
import Testing

/// What a person is advised to do when an issuer refuses a sign-in.
struct RefusalAdviceTests {
    private static let registration = Remedy(.checkRegistration, "correct the request or the client's registration")

    private static let publicClient = Remedy(
        .checkRegistration,
        "check the client id, and that it is registered as public: no secret is sent"
    )

    @Test(
        arguments: [
            ("temporarily_unavailable", .retryLater), ("server_error", .retryLater),
            ("login_required", .signIn("sign in again with the prompt login")),
            ("consent_required", .signIn("sign in again with the prompt consent")),
            ("interaction_required", .signIn("sign in again with the prompt login")),
            ("account_selection_required", .signIn("sign in again with the prompt select_account")),
            ("invalid_grant", .signIn("start again")), ("invalid_request", registration),
            ("invalid_scope", registration), ("unauthorized_client", registration),
            ("invalid_client", publicClient),
            ("unsupported_response_type", registration), ("moon_phase", registration),
        ] as [(String, Remedy)]
    )
    func `a refusal is advised on by its meaning`(code: String, remedy: Remedy) {
        let error = SignInError.refused(OAuthError(code: .init(rawValue: code)))
        #expect(error.remedy == remedy)
        #expect(error.isOutage == (remedy == .retryLater))
    }

    @Test(arguments: [
        ("temporarily_unavailable", Remedy.retryLater),
        ("login_required", .signIn("sign in again with the prompt login")),
    ])
    func `a redirect with an error has the advice of that error`(code: String, remedy: Remedy) async throws {
        let issuer = try ForgedIssuer()
        let error = try await signInError { _ = try await issuer.signIn(bringing: "error=\(code)") { _, _ in "" } }
        #expect(error?.code == .refused)
        #expect(error?.refusal?.code.rawValue == code)
        #expect(error?.remedy == remedy)
        #expect(try issuer.isUntouched)
    }

    @Test func `the error of a redirect counts though its description is not UTF-8`() async throws {
        let issuer = try ForgedIssuer()
        let answer = "error=server_error&error_description=%ff%fe"
        let error = try await signInError { _ = try await issuer.signIn(bringing: answer) { _, _ in "" } }
        #expect(error?.code == .refused)
        #expect(error?.refusal?.code == .serverError)
        #expect(try issuer.isUntouched)
    }

    @Test func `only what decides nothing is mended where its encoding is wrong`() {
        let mended = AuthorizationResponse("error=server_error&error_description=caf%e9+100%&state=s".utf8)
        #expect(mended.flaw == nil)
        #expect(mended.refusal?.serverDescription == "caf\u{FFFD} 100%")
        #expect(mended["state"]?.reveal() == "s")
        let foreign = AuthorizationResponse("code=c&state=s&name=Jos%e9&x=%&caf%e9=1".utf8)
        #expect(foreign.flaw == nil)
        #expect(foreign["code"]?.reveal() == "c")
        for text in ["error=%ff&state=s", "code=%ff&state=s", "code=c&state=%zz", "code=c&state=s&iss=%ff"] {
            #expect(AuthorizationResponse(text.utf8).flaw == "is not encoded as it should be")
        }
    }

    @Test func `names of many combining marks are told apart by their bytes`() {
        let (one, other) = (String.marks("\u{301}\u{323}"), String.marks("\u{323}\u{301}"))
        let answer = AuthorizationResponse("\(one)=1&state=s&\(other)=2&code=c".utf8)
        #expect(answer.flaw == nil)
        #expect(answer["code"]?.reveal() == "c")
        #expect(answer[one]?.reveal() == "1")
        #expect(answer[other]?.reveal() == "2")
        #expect(AuthorizationResponse("\(one)=1&\(one)=2".utf8).flaw == "has a parameter twice")
    }
}

extension String {
    /// 64 KB of a pair of marks: what `==` takes for the same text in either order, in quadratic time.
    fileprivate static func marks(_ pair: String) -> String { String(repeating: pair, count: 16_384) }
}
