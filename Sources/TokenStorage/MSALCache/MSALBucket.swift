/// A bucket of the unified cache that the MSAL libraries share.
enum MSALBucket: String, CaseIterable {
    case accessToken = "AccessToken"
    /// Where MSAL for Apple's systems keeps tokens that are bound to a key.
    case boundAccessToken = "AccessToken_With_AuthScheme"
    case refreshToken = "RefreshToken"
    case idToken = "IdToken"
    case account = "Account"
    case appMetadata = "AppMetadata"
}
