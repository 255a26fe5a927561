import OAuth

/// The `scope` parameter of a refresh.
///
/// Many issuers narrow the new refresh token, for good, to the scope of the request that made it, so it never asks them
/// for less than the token is known to be good for. Microsoft's do not narrow, and need the scope to tell which API is
/// meant.
struct RefreshScope {
    /// nil: the parameter is left out, which asks for all that was granted (RFC 6749 §6).
    let sent: String?

    /// What an answer without a scope of its own grants.
    let expected: Scope

    init(token: RefreshToken, asked: Scope, authority: Authority) {
        guard authority.issuer != nil else {
            expected = asked
            sent = Scope(asked.tokens + ["openid", "profile", "offline_access"]).text
            return
        }
        guard let granted = token.scope, !granted.tokens.isEmpty else {
            expected = asked
            sent = nil
            return
        }
        guard granted.covers(asked) else {
            expected = Scope(granted.tokens + asked.tokens)
            sent = expected.text
            return
        }
        expected = granted
        sent = nil
    }
}
