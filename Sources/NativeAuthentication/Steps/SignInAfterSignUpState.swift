public import OAuth

/// The account exists; whoever made it can be signed in without being asked again.
public struct SignInAfterSignUpState: Sendable {
    let flow: NativeFlow

    /// nil where the issuer sent none; then a usual sign-in is needed.
    let token: Secret?

    /// Signs in.
    public func signIn(
        scope: Scope = Scope([]),
        claims: JSON? = nil
    ) async throws(SignInAfterSignUpError) -> SignInResult {
        let flow = flow.signingIn(scope, claims)
        do {
            return try await flow.signIn(after: token)
        } catch {
            throw SignInAfterSignUpError(error, in: flow)
        }
    }
}
