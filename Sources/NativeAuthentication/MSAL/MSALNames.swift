public import OAuth
public import SignIn

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The names that code written for MSAL puts before its types, as in `MSAL.SignInStartError`.
public enum MSAL {
    public typealias SignInStartError = NativeAuthentication.SignInStartError
    public typealias SignUpStartError = NativeAuthentication.SignUpStartError
    public typealias ResetPasswordStartError = NativeAuthentication.ResetPasswordStartError
    public typealias VerifyCodeError = NativeAuthentication.VerifyCodeError
    public typealias ResendCodeError = NativeAuthentication.ResendCodeError
    public typealias PasswordRequiredError = NativeAuthentication.PasswordRequiredError
    public typealias AttributesRequiredError = NativeAuthentication.AttributesRequiredError
    public typealias MFARequestChallengeError = NativeAuthentication.MFARequestChallengeError
    public typealias MFASubmitChallengeError = NativeAuthentication.MFASubmitChallengeError
    public typealias RegisterStrongAuthChallengeError = NativeAuthentication.RegisterStrongAuthChallengeError
    public typealias RegisterStrongAuthSubmitChallengeError =
        NativeAuthentication.RegisterStrongAuthSubmitChallengeError
    public typealias SignInAfterSignUpError = NativeAuthentication.SignInAfterSignUpError
    public typealias SignInAfterResetPasswordError = NativeAuthentication.SignInAfterResetPasswordError
    public typealias RetrieveAccessTokenError = NativeAuthentication.RetrieveAccessTokenError

    public typealias SignInCodeRequiredState = NativeAuthentication.SignInCodeRequiredState
    public typealias SignInPasswordRequiredState = NativeAuthentication.SignInPasswordRequiredState
    public typealias AwaitingMFAState = NativeAuthentication.AwaitingMFAState
    public typealias MFARequiredState = NativeAuthentication.MFARequiredState
    public typealias RegisterStrongAuthState = NativeAuthentication.RegisterStrongAuthState
    public typealias RegisterStrongAuthVerificationRequiredState =
        NativeAuthentication.RegisterStrongAuthVerificationRequiredState
    public typealias SignUpCodeRequiredState = NativeAuthentication.SignUpCodeRequiredState
    public typealias SignUpPasswordRequiredState = NativeAuthentication.SignUpPasswordRequiredState
    public typealias SignUpAttributesRequiredState = NativeAuthentication.SignUpAttributesRequiredState
    public typealias SignInAfterSignUpState = NativeAuthentication.SignInAfterSignUpState
    public typealias ResetPasswordCodeRequiredState = NativeAuthentication.ResetPasswordCodeRequiredState
    public typealias ResetPasswordRequiredState = NativeAuthentication.ResetPasswordRequiredState
    public typealias SignInAfterResetPasswordState = NativeAuthentication.SignInAfterResetPasswordState

    public typealias MSALNativeAuthChannelType = NativeAuthentication.MSALNativeAuthChannelType
    public typealias MSALNativeAuthRequiredAttribute = NativeAuthentication.MSALNativeAuthRequiredAttribute
    public typealias MSALNativeAuthUserAccountResult = NativeAuthentication.MSALNativeAuthUserAccountResult
    public typealias MSALNativeAuthTokenResult = NativeAuthentication.MSALNativeAuthTokenResult
}

public typealias MSALNativeAuthPublicClientApplication = NativeAuthPublicClientApplication
public typealias MSALNativeAuthPublicClientApplicationConfig = NativeAuthConfiguration
public typealias MSALNativeAuthChallengeTypes = ChallengeTypes
public typealias MSALNativeAuthCapabilities = Capabilities
public typealias MSALNativeAuthRequestInterceptor = RequestInterceptor
public typealias MSALNativeAuthChannelType = ChannelType
public typealias MSALNativeAuthRequiredAttribute = RequiredAttribute
public typealias MSALAuthMethod = AuthMethod

extension NativeAuthConfiguration {
    /// - Throws: `SignInError.invalidRequest(_:)`.
    public init(
        clientId: String,
        authority: Authority,
        challengeTypes: MSALNativeAuthChallengeTypes
    ) throws(SignInError) {
        try self.init(clientID: clientId, authority: authority, challengeTypes: challengeTypes)
    }

    /// The tenant `tenantSubdomain.ciamlogin.com`.
    ///
    /// - Throws: `SignInError.invalidRequest(_:)`.
    public init(
        clientId: String,
        tenantSubdomain: String,
        challengeTypes: MSALNativeAuthChallengeTypes
    ) throws(SignInError) {
        try self.init(clientID: clientId, tenantSubdomain: tenantSubdomain, challengeTypes: challengeTypes)
    }

    /// Adds headers to every request.
    public var requestInterceptor: (any MSALNativeAuthRequestInterceptor)? {
        get { interceptor }
        set { interceptor = newValue }
    }
}

extension NativeAuthError {
    /// The step has succeeded, and the delegate has no method that says so.
    static func unheard(_ callback: String) -> NativeAuthError {
        NativeAuthError(.generalError, "the delegate has no \(callback); give it one", UUID())
    }

    /// As MSAL calls it.
    public var correlationId: UUID { correlationID }
    public var errorUri: String? { errorURI }
}
