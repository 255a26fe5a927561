/// What became of the session at the issuer when an account signed out.
public enum SignOutReport: Hashable, Sendable {
    case revoked

    /// There was no refresh token to revoke.
    case nothingToRevoke

    /// The issuer has no revocation endpoint.
    case notOffered

    /// The issuer was not to be asked.
    case localOnly

    /// The issuer did not revoke it, for this reason; it ends by itself.
    case failed(String)
}
