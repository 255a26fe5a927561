import Foundation
import MSAL
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct MSALErrorTests {
    private static let cases: [(any Error, MSALError, MSALInternalError?)] = [
        (SignInError.cancelled, .userCanceled, nil),
        (CancellationError(), .userCanceled, nil),
        (SignInError.declinedScopes("a"), .serverDeclinedScopes, nil),
        (SignInError.stateMismatch, .internal, .invalidState),
        (SignInError.accountMismatch, .internal, .mismatchedUser),
        (SignInError.alreadyRunning, .internal, .interactiveSessionAlreadyRunning),
        (SignInError.invalidRedirectURI("x"), .internal, .invalidRedirectURI),
        (SignInError.unknownAuthority("x"), .internal, .failedAuthorityValidation),
        (SignInError.refused(OAuthError(code: .invalidScope)), .internal, .invalidScope),
        (SignInError.refused(OAuthError(code: .invalidGrant)), .internal, .invalidGrant),
        (AcquisitionError.interactionRequired(.signedOut), .interactionRequired, nil),
        (AcquisitionError.interactionRequired(.ended), .interactionRequired, nil),
        (AcquisitionError.policyRequired(OAuthError(code: .invalidGrant)), .serverProtectionPoliciesRequired, nil),
        (TokenStoreError.ambiguousAccount([], total: 2), .internal, .ambiguousAccount),
        (TokenStoreError.busy("x", .retry), .internal, .unexpected),
    ]

    @Test func `S21, S42: errors have MSAL's domain and codes, and a description`() {
        for (error, code, reason) in Self.cases {
            let error = NSError.msal(error)
            #expect(error.domain == "MSALErrorDomain")
            #expect(error.code == code.rawValue)
            #expect(error.userInfo[MSALInternalErrorCodeKey] as? Int == reason?.rawValue)
            #expect(!error.localizedDescription.isEmpty)
        }
    }

    @Test func `a server_error is the reason of an internal error`() {
        let error = NSError.msal(SignInError.refused(OAuthError(code: .serverError)))
        #expect(error.code == -50_000)
        #expect(error.userInfo[MSALInternalErrorCodeKey] as? Int == -50_006)
    }

    @Test func `a refusal carries the issuer's words and Microsoft's numbers`() {
        var refusal = OAuthError(code: .invalidRequest, suberror: "x", serverDescription: "AADB2C90118: forgotten")
        refusal.numbers = [50_142]
        let error = NSError.msal(SignInError.refused(refusal))
        #expect(error.code == -50_142)
        #expect(error.userInfo[MSALOAuthErrorKey] as? String == "invalid_request")
        #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == "x")
        #expect(error.userInfo[MSALErrorDescriptionKey] as? String == "AADB2C90118: forgotten")
        #expect(error.userInfo[MSALSTSErrorCodesKey] as? [Int64] == [50_142])
        #expect(error.userInfo[NSUnderlyingErrorKey] is SignInError)
    }

    @Test func `a refusal without words of the issuer's is described all the same`() {
        let error = NSError.msal(SignInError.refused(OAuthError(code: .invalidGrant)))
        #expect(error.userInfo[MSALErrorDescriptionKey] as? String == error.localizedDescription)
    }

    @Test func `the numbers are MSAL's`() {
        #expect(MSALError.internal.rawValue == -50_000)
        #expect(MSALError.interactionRequired.rawValue == -50_002)
        #expect(MSALError.serverDeclinedScopes.rawValue == -50_003)
        #expect(MSALError.userCanceled.rawValue == -50_005)
        #expect(MSALInternalError.mismatchedUser.rawValue == -42_101)
    }
}
