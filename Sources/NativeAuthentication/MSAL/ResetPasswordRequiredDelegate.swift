/// Hears what became of the new password; a callback that is left out comes back as an error.
@MainActor
public protocol ResetPasswordRequiredDelegate: AnyObject, Sendable {
    func onResetPasswordRequiredError(error: PasswordRequiredError, newState: ResetPasswordRequiredState?)
    func onResetPasswordCompleted(newState: SignInAfterResetPasswordState)
}

extension ResetPasswordRequiredDelegate {
    public func onResetPasswordCompleted(newState: SignInAfterResetPasswordState) {
        onResetPasswordRequiredError(error: .unheard("onResetPasswordCompleted(newState:)"), newState: nil)
    }
}
