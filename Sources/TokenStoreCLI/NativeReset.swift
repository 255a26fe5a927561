import NativeAuthentication

/// A password reset without a browser.
struct NativeReset {
    let application: NativeAuthPublicClientApplication
    let interview: Interview
    let username: String

    /// Sets the new password.
    func run() throws -> SignInAfterResetPasswordState {
        let start = try interview.perform { [application, username] in
            try await application.resetPassword(username: username)
        }
        let verified: ResetPasswordRequiredState = try interview.settle(start) { state in
            guard let code = try interview.code(state.delivery) else {
                return .again(try interview.perform { try await state.resendCode() })
            }
            return .done(try interview.perform { try await state.submitCode(code) })
        }
        return try interview.settle(verified) { state in
            let password = try interview.password(isNew: true)
            return .done(try interview.perform { try await state.submitPassword(password) })
        }
    }
}
