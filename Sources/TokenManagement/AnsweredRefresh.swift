import OAuth
import OpenIDConnect

/// A refresh request that brought tokens, which are not to be trusted yet.
struct AnsweredRefresh: Sendable {
    let answer: TokenEndpointAnswer

    /// What was asked for, as far as it decides where the answer is stored.
    let request: TokenRequest

    /// The refresh token that was sent, and is spent now.
    let token: RefreshToken

    /// The nonces of the session's ID tokens until now.
    let earlierNonces: Set<String>
}
