import OAuth
import Testing

struct OAuthErrorMeaningTests {
    @Test(
        arguments: [
            ("interaction_required", nil, .interactionRequired), ("invalid_grant", nil, .interactionRequired),
            ("invalid_grant", "bad_token", .badToken), ("invalid_grant", "token_expired", .tokenExpired),
            ("invalid_grant", "user_account_deleted", .accountDeleted),
            ("invalid_grant", "client_mismatch", .clientMismatch),
            ("invalid_grant", "consent_required", .interactionRequired),
            ("invalid_grant", "insufficient_device_strength", .interactionRequired),
            ("unauthorized_client", "protection_policy_required", .policyRequired),
            ("unauthorized_client", nil, .clientMisconfigured), ("invalid_request", nil, .clientMisconfigured),
            ("invalid_client", nil, .clientMisconfigured), ("invalid_scope", nil, .invalidScope),
            ("access_denied", nil, .interactionRequired), ("server_error", nil, .transient),
            ("temporarily_unavailable", nil, .transient), ("rate_limit_exceeded", nil, .transient),
            ("too_many_attempts", nil, .transient), ("internal_failure", nil, .transient),
            ("internal_error", nil, .transient), ("fatal_error", nil, .transient),
            ("service_unavailable", nil, .transient), ("ratelimited", nil, .transient),
            ("moon_phase", "waning", .interactionRequired),
        ] as [(String, String?, OAuthError.Meaning)]
    )
    func `every error of the table has its meaning`(code: String, suberror: String?, meaning: OAuthError.Meaning) {
        #expect(OAuthError(code: .init(rawValue: code), suberror: suberror).meaning == meaning)
    }

    @Test func `a client that is refused for want of a secret is told that none is sent`() {
        let google = OAuthError(code: .invalidRequest, serverDescription: "client_secret is missing.")
        for error in [OAuthError(code: .invalidClient), google] {
            #expect(error.remedy?.advice.hasSuffix("registered as public: no secret is sent") == true)
        }
        let other = OAuthError(code: .invalidRequest, serverDescription: "redirect_uri is missing.")
        #expect(other.remedy?.advice == "correct the request or the client's registration")
    }

    @Test func `the error of Google's device endpoint is read by its own name`() {
        let error = OAuthError(JSONValue.Object([("error_code", "rate_limit_exceeded")]), status: 403)
        #expect(error?.meaning == .transient)
        #expect(error?.problem == "the issuer answered rate_limit_exceeded")
        #expect(OAuthError(JSONValue.Object([("error_code", 7)]), status: 403) == nil)
    }

    @Test func `an expired password is recognized by its number`() {
        var error = OAuthError(code: .invalidRequest)
        error.numbers = [50_142]
        #expect(error.meaning == .passwordReset)
    }
}
