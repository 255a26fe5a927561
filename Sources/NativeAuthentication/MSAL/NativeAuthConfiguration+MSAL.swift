public import OAuth
public import SignIn

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
