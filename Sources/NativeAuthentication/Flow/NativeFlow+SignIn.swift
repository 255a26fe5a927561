import Logging
import OAuth

extension NativeFlow {
    /// Begins a sign-in, and ends it where a password was given that the issuer asks for.
    func startSignIn(_ password: Secret?) async throws(NativeFailure) -> SignInStartResult {
        let token = try await start(.initiate)
        switch try await challenge(.challenge, token) {
        case .code(let delivery, let token):
            if password != nil { configuration.logger.warning("the issuer asks for a code; the password was not sent") }
            return .codeRequired(SignInCodeRequiredState(flow: self, token: token, delivery: delivery))
        case .password(let token):
            guard let password else {
                return .passwordRequired(SignInPasswordRequiredState(flow: self, token: token))
            }
            return SignInStartResult(try await signIn(.password(password), token))
        case .preverified: throw unexpected("asks for nothing", at: .challenge)
        }
    }

    /// The flow for the sign-in that follows a sign-up or a reset.
    func signingIn(_ scope: Scope, _ claims: JSON?) -> NativeFlow {
        var flow = self
        flow.scope = scope
        flow.claims = claims
        flow.isSignUp = false
        return flow
    }

    /// Signs in with what a sign-up or a reset left.
    func signIn(after token: Secret?) async throws(NativeFailure) -> SignInResult {
        guard let token else {
            throw NativeFailure(
                cause: .unexpected("held nothing to sign in with; sign in as usual"),
                correlationID: correlationID
            )
        }
        return try await signIn(.continuation, token)
    }
}
