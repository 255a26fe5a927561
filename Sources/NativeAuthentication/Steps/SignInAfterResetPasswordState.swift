public import OAuth

/// The new password is set; whoever set it can be signed in without being asked again.
public struct SignInAfterResetPasswordState: Sendable {
    let flow: NativeFlow

    /// nil where the issuer sent none; then a usual sign-in is needed.
    let token: Secret?

    /// Signs in.
    public func signIn(
        scope: Scope = Scope([]),
        claims: JSON? = nil
    ) async throws(SignInAfterResetPasswordError) -> SignInResult {
        let flow = flow.signingIn(scope, claims)
        do {
            return try await flow.signIn(after: token)
        } catch {
            throw SignInAfterResetPasswordError(error, in: flow)
        }
    }
}
