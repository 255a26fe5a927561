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
    package private(set) var candidates: [RefreshCandidate]

    /// Lets requests through that were held back before `start`; all of them where that is nil.
    package mutating func liftThrottles(before start: Int64?) {
        candidates = candidates.map { candidate in
            let stays = candidate.throttle.map { throttle in start.map { throttle.beganAt >= $0 } ?? false } ?? false
            return RefreshCandidate(
                token: candidate.token,
                attempt: candidate.attempt,
                throttle: stays ? candidate.throttle : nil
            )
        }
    }
}
