import NativeAuthentication
import OAuth

/// A password reset without a browser.
struct NativeReset {
    let application: NativeAuthPublicClientApplication
    let prompter: TerminalPrompter
    let username: String

    /// The advice where Ctrl-C ends the wait for the new password.
    let afterSubmission: String

    /// Sets the new password.
    func run() throws -> SignInAfterResetPasswordState {
        let start = try prompter.perform { [application, username] in
            try await application.resetPassword(username: username)
        }
        let verified: ResetPasswordRequiredState = try prompter.settle(start, canResend: true) { state in
            guard let code = try prompter.code(state.delivery) else {
                return .again(try prompter.perform { try await state.resendCode() })
            }
            return .done(try prompter.perform { try await state.submitCode(code) })
        }
        return try prompter.settle(verified) { state in
            let password = try prompter.password(isNew: true)
            return .done(
                try prompter.perform(ifCancelled: afterSubmission) { try await state.submitPassword(password) }
            )
        }
    }
}
