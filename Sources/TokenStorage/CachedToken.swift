public import OAuth

/// What the store has for a ``TokenQuery``.
public enum CachedToken: Sendable {
    /// A token that is good to use, though it may be worth refreshing (`isAging`).
    case usable(AccessToken, isAging: Bool)

    /// No token is good to use; these refresh tokens may get one, in this order, and the last token that did may serve
    /// while the issuer cannot be reached.
    case refreshable([RefreshToken], extended: AccessToken?)

    /// Someone has to sign in.
    case signInRequired(Reason)

    /// Why someone has to sign in.
    public enum Reason: Sendable {
        case signedOut
        /// The account is not one of the authority that was asked.
        case otherAuthority
        case noRefreshToken
    }
}
