import OAuth

extension NativeFlow {
    /// Has a code for the second factor sent; `token` is good for any number of methods.
    func secondFactor(
        _ method: AuthMethod,
        _ token: Secret,
        _ methods: [AuthMethod]
    ) async throws(NativeFailure) -> MFARequiredState {
        let (delivery, next) = try await code(.challenge, token, method: method)
        return MFARequiredState(
            flow: self,
            methodsToken: token,
            token: next,
            authMethods: methods,
            delivery: delivery
        )
    }

    func challengeError(_ failure: NativeFailure) -> MFARequestChallengeError {
        MFARequestChallengeError(failure, in: self) { $0.refusal?.isBlocked == true ? .authMethodBlocked : nil }
    }
}
