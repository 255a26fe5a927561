public import OAuth
public import TokenStorage

/// Why someone has to sign in.
public enum InteractionReason: Sendable {
    case signedOut
    case noRefreshToken

    /// The account belongs to another authority than the one asked for.
    case otherAuthority

    /// Every refresh token has ended, by the issuer's word.
    case ended

    /// The issuer asks for a person; the last events of the refresh token show a race or a stolen token.
    case refused(OAuthError, events: [StoreEvent])

    /// The issuer refused without an OAuth error.
    case refusedWithoutReason(status: Int)

    /// A new password is due.
    case passwordReset(OAuthError)

    /// The user does not exist any more.
    case accountDeleted

    /// The token endpoint is outside the account's cloud: the refresh token was not sent.
    case foreignEndpoint
}

extension InteractionReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .signedOut: "the account has signed out; sign in again"
        case .noRefreshToken: "there is no refresh token for the account; sign in again"
        case .otherAuthority: "the account is not one of the authority asked for; sign in there"
        case .ended: "the session has ended by the issuer's word; sign in again"
        case .refused(let error, _): "\(error); sign in again"
        case .refusedWithoutReason(let status):
            "the issuer refused the refresh token with status \(status); sign in again"
        case .passwordReset(let error): "\(error); sign in again and choose a new password"
        case .accountDeleted: "the issuer no longer knows the account; sign in with another"
        case .foreignEndpoint: "the token endpoint is outside the account's cloud and was not used; sign in again"
        }
    }
}
