import OAuth

extension SignInAfterSignUpState {
    public func signIn(parameters: MSALNativeAuthSignInAfterSignUpParameters, delegate: any SignInAfterSignUpDelegate) {
        let (scope, claims) = (Scope(parameters.scopes ?? []), parameters.claimsRequest)
        Task {
            do throws(SignInAfterSignUpError) {
                let result = try await signIn(scope: scope, claims: claims)
                await delegate.hear(result) { delegate.onSignInAfterSignUpError(error: .unheard($0)) }
            } catch {
                await delegate.onSignInAfterSignUpError(error: error)
            }
        }
    }

    public func signIn(scopes: [String]? = nil, delegate: any SignInAfterSignUpDelegate) {
        let parameters = MSALNativeAuthSignInAfterSignUpParameters()
        parameters.scopes = scopes
        signIn(parameters: parameters, delegate: delegate)
    }
}
