/// Hears what became of the code of a reset; a callback that is left out comes back as an error.
@MainActor
public protocol ResetPasswordVerifyCodeDelegate: AnyObject, Sendable {
    func onResetPasswordVerifyCodeError(error: VerifyCodeError, newState: ResetPasswordCodeRequiredState?)
    func onPasswordRequired(newState: ResetPasswordRequiredState)
}

extension ResetPasswordVerifyCodeDelegate {
    public func onPasswordRequired(newState: ResetPasswordRequiredState) {
        onResetPasswordVerifyCodeError(error: .unheard("onPasswordRequired(newState:)"), newState: nil)
    }
}
