import SignIn

extension CommandFailure {
    /// Why nobody was signed in.
    init(_ error: SignInError) {
        let status: ExitStatus =
            switch error {
            case .cancelled, .timedOut: .cancelled
            case .forgotPassword: .interactionRequired
            default: error.isOutage ? .network : .failure
            }
        self.init(status, sentence: error.description)
    }
}
