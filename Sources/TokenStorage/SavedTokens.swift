public import OAuth

/// What became of a token response.
public struct SavedTokens: Sendable {
    /// The account it was about; nil for a token of the client itself.
    public let account: Account.ID?

    /// The new access token; nil if the response had none, or was discarded.
    public let accessToken: AccessToken?

    /// The scope of the new access token.
    public let grantedScope: Scope

    /// What was asked for and not granted.
    public let declinedScope: Scope

    /// What was done with it.
    public let outcome: Outcome

    /// The account as the answer describes it, where that is not in the store yet.
    package var described: Account?

    /// What was done with a token response.
    public enum Outcome: Hashable, Sendable {
        case stored
        /// Another process had rotated the refresh token meanwhile: its newer one was kept, the access token stored.
        case storedBesideNewerRefreshToken
        /// The account was signed out while the response was under way: nothing was stored.
        case discarded
        /// The store cannot be written for this reason; the answer is safe in a sealed file beside it, and the next
        /// process that opens the store takes it in.
        case pending(reason: String)
    }
}
