public import OAuth

/// The sign-in after a sign-up.
public final class MSALNativeAuthSignInAfterSignUpParameters {
    public var scopes: [String]?
    public var claimsRequest: JSON?

    public init() {}
}
