import OAuth
import OpenIDConnect
import SignIn
import Testing

/// What a person is advised to do when an issuer refuses a sign-in.
struct RefusalAdviceTests {
    private static let registration = Remedy(.checkRegistration, "correct the request or the client's registration")

    @Test(
        arguments: [
            ("temporarily_unavailable", .retryLater), ("server_error", .retryLater),
            ("login_required", .signInAgain), ("consent_required", .signInAgain),
            ("interaction_required", .signInAgain), ("account_selection_required", .signInAgain),
            ("invalid_grant", .signIn("start again")), ("invalid_request", registration),
            ("invalid_scope", registration), ("unauthorized_client", registration),
            ("unsupported_response_type", registration), ("moon_phase", registration),
        ] as [(String, Remedy)]
    )
    func `a refusal is advised on by its meaning`(code: String, remedy: Remedy) {
        let error = SignInError.refused(OAuthError(code: .init(rawValue: code)))
        #expect(error.remedy == remedy)
        #expect(error.isOutage == (remedy == .retryLater))
    }

    @Test(arguments: [("temporarily_unavailable", Remedy.retryLater), ("login_required", .signInAgain)])
    func `a redirect with an error has the advice of that error`(code: String, remedy: Remedy) async throws {
        let issuer = try ForgedIssuer()
        let error = try await signInError { _ = try await issuer.signIn(bringing: "error=\(code)") { _, _ in "" } }
        #expect(error?.code == .refused)
        #expect(error?.refusal?.code.rawValue == code)
        #expect(error?.remedy == remedy)
        #expect(try issuer.isUntouched)
    }
}
