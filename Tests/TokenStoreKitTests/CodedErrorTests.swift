import Foundation
import Testing
import TokenStoreKit

/// What holds for every type of errors: as a value, in an alert and as an `NSError`.
struct CodedErrorTests {
    private static let remedy = Remedy.retry(after: .seconds(3))

    private func names<Code: ErrorCode>(_ type: Code.Type) -> String {
        type.known.map(\.rawValue).joined(separator: " ")
    }

    /// The place of a code is its number, which apps may have written down: only the end of a list may change.
    @Test func `domains and the numbers of known codes never change`() {
        let rows = [
            (
                OAuthError.domain, names(OAuthError.Code.self), "OAuth.OAuthError",
                """
                invalid_request invalid_client invalid_grant invalid_scope unauthorized_client \
                unsupported_grant_type unsupported_token_type access_denied server_error temporarily_unavailable \
                interaction_required authorization_pending slow_down expired_token invalid_dpop_proof use_dpop_nonce \
                unknown_error
                """
            ),
            (
                AuthorityError.domain, names(AuthorityError.Code.self), "OAuth.AuthorityError",
                "not_a_url not_secure no_tenant no_user_flow unexpected_user_flow"
            ),
            (
                IDTokenError.domain, names(IDTokenError.Code.self), "OAuth.IDTokenError",
                "not_compact not_base64_url not_an_object"
            ),
            (JSONError.domain, names(JSONError.Code.self), "OAuth.JSONError", "malformed"),
            (
                SealingError.domain, names(SealingError.Code.self), "Sealing.SealingError",
                """
                key_absent key_locked key_unavailable key_busy key_insecure key_malformed other_key unusable_source \
                damaged_data_key unknown_data_key damaged_value unknown_format value_too_large
                """
            ),
            (
                TokenStoreError.domain, names(TokenStoreError.Code.self), "TokenStorage.TokenStoreError",
                """
                damaged busy key newer_store older_store insecure unsupported file storage not_an_msal_cache \
                invalid_argument ambiguous_account user_flow_mismatch not_stored other_account no_store unreachable \
                access moved
                """
            ),
            (
                HTTPTransportError.domain, names(HTTPTransportError.Code.self), "HTTPTransport.HTTPTransportError",
                """
                invalid_url configuration not_connected not_trusted outdated timed_out interrupted too_large \
                undecodable no_tls not_http
                """
            ),
            (
                DPoPError.domain, names(DPoPError.Code.self), "OpenIDConnect.DPoPError",
                "unsupported downgrade unasked_binding no_key refused_proof bad_key bad_address"
            ),
            (
                IDTokenFlaw.domain, names(IDTokenFlaw.Code.self), "OpenIDConnect.IDTokenFlaw",
                """
                unreadable repeated_member critical_extension type algorithm unknown_key unsuitable_key weak_key \
                signature incomplete issuer audience authorized_party expired not_yet_valid nonce access_token \
                subject subject_text encrypted
                """
            ),
            (
                IssuerUnavailable.domain, names(IssuerUnavailable.Code.self), "OpenIDConnect.IssuerUnavailable",
                "throttled unavailable"
            ),
            (
                AcquisitionError.domain, names(AcquisitionError.Code.self), "TokenManagement.AcquisitionError",
                """
                interaction_required possibly_consumed unavailable network unusable_answer client_misconfigured \
                invalid_scope policy_required declined_scopes too_short account_mismatch invalid_id_token metadata \
                dpop timed_out no_access_token other_token_type
                """
            ),
            (
                WebAPIError.domain, names(WebAPIError.Code.self), "TokenManagement.WebAPIError",
                "not_configured invalid_url status not_json"
            ),
            (
                SignInError.domain, names(SignInError.Code.self), "SignIn.SignInError",
                """
                invalid_request invalid_redirect_uri unknown_authority cancelled timed_out already_running \
                forgot_password refused state_mismatch opened_twice other_issuer invalid_answer no_id_token \
                invalid_id_token account_mismatch declined_scopes no_device_endpoint invalid_device_authorization \
                no_browser no_listener metadata dpop network unavailable unusable_answer pushed_requests
                """
            ),
        ]
        for row in rows {
            #expect(row.0 == row.2)
            #expect(row.1 == row.3)
        }
        #expect(VerifyCodeError.domain == "NativeAuthentication.VerifyCodeError")
        #expect(VerifyCodeErrorKind.known.map(\.rawValue) == ["invalidCode", "browserRequired", "generalError"])
    }

    @Test func `an error is a value, a text for an alert and an NSError`() {
        check { AuthorityError($0, $1, $2) }
        check { IDTokenError($0, $1, $2) }
        check { SealingError($0, $1, $2) }
        check { TokenStoreError($0, $1, $2) }
        check { HTTPTransportError($0, $1, $2) }
        check { DPoPError($0, $1, $2) }
        check { IDTokenFlaw($0, $1, $2) }
        check { AcquisitionError($0, $1, $2) }
        check { WebAPIError($0, $1, $2) }
        check { SignInError($0, $1, $2) }
    }

    @Test func `errors of an issuer's answer are texts for an alert too`() {
        let refusal = OAuthError(code: .invalidGrant, suberror: "bad_token") as any Error as NSError
        #expect(refusal.domain == "OAuth.OAuthError")
        #expect(refusal.localizedDescription == "the issuer answered invalid_grant/bad_token")
        #expect(refusal.localizedRecoverySuggestion == "sign in again")
        let outage = IssuerUnavailable(status: 503, retryAfter: .seconds(9)) as any Error as NSError
        #expect(outage.code == 2)
        #expect(outage.localizedRecoverySuggestion == "try again in 9 s")
        #expect(
            (JSONError(reason: "x", offset: 1) as any Error as NSError).localizedDescription == "not JSON: x at byte 1"
        )
    }

    @Test func `every kind of step has its own domain`() {
        let id = UUID()
        let one = VerifyCodeError(.invalidCode, "the code is wrong", id)
        #expect(one == VerifyCodeError(.invalidCode, "the code is wrong", id))
        #expect(one != VerifyCodeError(.generalError, "the code is wrong", id))
        let bridged = one as any Error as NSError
        #expect(bridged.domain == "NativeAuthentication.VerifyCodeError")
        #expect(bridged.code == 1)
        #expect(bridged.localizedDescription == "the code is wrong")
        #expect(bridged.localizedRecoverySuggestion == "enter the newest code, or ask for another")
        let unknown = ResendCodeErrorKind(rawValue: "ofALaterVersion")
        #expect((ResendCodeError(unknown, "no", id) as any Error as NSError).code == 0)
        #expect(ResendCodeError(unknown, "no", id).remedy != nil)
    }

    private func check<Failure: CodedError & CustomNSError & Equatable>(
        _ make: (Failure.Code, String, Remedy?) -> Failure,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let unknown = Failure.Code(rawValue: "of_a_later_version")
        let codes = Failure.Code.known + [unknown]
        for code in codes {
            let error = make(code, "the store is away", Self.remedy)
            #expect(error == make(code, "the store is away", Self.remedy), sourceLocation: sourceLocation)
            #expect(error != make(code, "the store is away", nil), sourceLocation: sourceLocation)
            #expect(error.description == "the store is away; try again in 3 s", sourceLocation: sourceLocation)
            let bridged = error as any Error as NSError
            #expect(bridged.domain == Failure.domain, sourceLocation: sourceLocation)
            #expect(bridged.code == error.number, sourceLocation: sourceLocation)
            #expect(bridged.localizedDescription == "the store is away", sourceLocation: sourceLocation)
            #expect(bridged.localizedRecoverySuggestion == "try again in 3 s", sourceLocation: sourceLocation)
            #expect((error as any Error).localizedDescription == "the store is away", sourceLocation: sourceLocation)
        }
        let numbers = codes.map { make($0, "", nil).number }
        #expect(numbers == Array(1..<codes.count) + [0], sourceLocation: sourceLocation)
        #expect(make(unknown, "", nil) != make(codes[0], "", nil), sourceLocation: sourceLocation)
        let long = make(unknown, String(repeating: "é", count: 100_000), nil)
        #expect(long.problem.count < 1_300, sourceLocation: sourceLocation)
    }

    @Test func `an unknown remedy still has words`() {
        let remedy = Remedy(Remedy.Code(rawValue: "of_a_later_version"), "turn it off and on")
        let error = TokenStoreError(.storage, "the disk sleeps", remedy)
        #expect(error.recoverySuggestion == "turn it off and on")
    }
}
