import OAuth

extension SignInAfterResetPasswordState {
    public func signIn(
        parameters: MSALNativeAuthSignInAfterResetPasswordParameters,
        delegate: any SignInAfterResetPasswordDelegate
    ) {
        let (scope, claims) = (Scope(parameters.scopes ?? []), parameters.claimsRequest)
        Task {
            do throws(SignInAfterResetPasswordError) {
                let result = try await signIn(scope: scope, claims: claims)
                await delegate.hear(result) { delegate.onSignInAfterResetPasswordError(error: .unheard($0)) }
            } catch {
                await delegate.onSignInAfterResetPasswordError(error: error)
            }
        }
    }

    public func signIn(scopes: [String]? = nil, delegate: any SignInAfterResetPasswordDelegate) {
        let parameters = MSALNativeAuthSignInAfterResetPasswordParameters()
        parameters.scopes = scopes
        signIn(parameters: parameters, delegate: delegate)
    }
}
