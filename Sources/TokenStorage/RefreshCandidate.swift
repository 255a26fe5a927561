package import OAuth

/// A refresh token that may be used for a request, and what is known about using it.
package struct RefreshCandidate: Sendable {
    package let token: RefreshToken
    package let attempt: RefreshAttempt?

    /// Whether this very request with this very token is not to be repeated yet.
    package let throttle: Throttle?

    package init(token: RefreshToken, attempt: RefreshAttempt? = nil, throttle: Throttle? = nil) {
        self.token = token
        self.attempt = attempt
        self.throttle = throttle
    }
}
