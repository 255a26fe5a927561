// A step of native authentication is one type for both, so `MSAL.SignInStartError` is in this module too.
@_exported public import NativeAuthentication
public import OAuth
public import SignIn

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
