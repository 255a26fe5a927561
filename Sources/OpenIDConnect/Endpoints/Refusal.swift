public import OAuth

/// What a refused refresh means for the account, its refresh token and the caller.
public enum Refusal: Hashable, Sendable {
    /// Someone has to sign in; the refresh token may still serve other requests.
    case interactionRequired

    /// Someone has to sign in, and to choose a new password while doing so.
    case passwordReset

    /// The refresh token is no good and is to be removed if it is still the stored one.
    case badToken

    /// The refresh token has ended and is not to be sent again.
    case tokenExpired

    /// The user is gone: so are the client's credentials for it.
    case accountDeleted

    /// The client is not of the family whose token it used.
    case clientMismatch

    /// The device or the app has to meet a policy first.
    case policyRequired

    /// The client's registration does not allow this.
    case clientMisconfigured

    /// The scope is not one that the issuer grants.
    case invalidScope

    /// It may pass.
    case transient

    public init(_ error: OAuthError) {
        self =
            switch (error.code, error.suberror) {
            case (.invalidGrant, "bad_token"): .badToken
            case (.invalidGrant, "token_expired"): .tokenExpired
            case (.invalidGrant, "user_account_deleted"): .accountDeleted
            case (.invalidGrant, "client_mismatch"): .clientMismatch
            case (.unauthorizedClient, "protection_policy_required"): .policyRequired
            case (.unauthorizedClient, _), (.invalidClient, _), (.unsupportedGrantType, _): .clientMisconfigured
            case (.invalidRequest, _): error.numbers.contains(50_142) ? .passwordReset : .clientMisconfigured
            case (.invalidScope, _): .invalidScope
            case (.serverError, _), (.temporarilyUnavailable, _): .transient
            default: .interactionRequired
            }
    }

    /// Whether another refresh token of the account may fare better.
    public var isAboutToken: Bool {
        switch self {
        case .interactionRequired, .badToken, .tokenExpired, .clientMismatch: true
        default: false
        }
    }
}
