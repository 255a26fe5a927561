package import OAuth

/// All that the store knows about a request for an access token, from one moment.
package struct SilentState: Sendable {
    /// A token that is good to use.
    package let usable: AccessToken?

    /// Whether that token is worth refreshing.
    package let isAging: Bool

    /// The last token, good only while the issuer cannot be reached.
    package let extended: AccessToken?

    package let signInState: SignInState

    /// Whether the authority that was asked for is not the one that vouches for the account.
    package let isForeignAuthority: Bool

    /// In the order they are to be tried.
    package let candidates: [RefreshCandidate]
}
