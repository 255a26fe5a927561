public import OAuth

/// The sign-in after a reset.
public final class MSALNativeAuthSignInAfterResetPasswordParameters {
    public var scopes: [String]?
    public var claimsRequest: JSON?

    public init() {}
}
