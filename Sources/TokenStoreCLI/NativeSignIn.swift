import NativeAuthentication
import OAuth

/// A sign-in without a browser, step by step as the issuer asks.
struct NativeSignIn {
    let application: NativeAuthPublicClientApplication
    let interview: Interview
    let username: String

    func run(_ scope: Scope) throws -> NativeAuthUserAccount {
        let parameters = SignInParameters(username: username, scope: scope)
        switch try interview.perform({ [application] in try await application.signIn(parameters) }) {
        case .codeRequired(let state): return try submitCode(state)
        case .passwordRequired(let state): return try submitPassword(state)
        case .awaitingMFA(let state): return try finish(.awaitingMFA(state))
        case .strongAuthMethodRegistration(let state): return try finish(.strongAuthMethodRegistration(state))
        case .completed(let account): return account
        }
    }

    /// Whatever is left after the first factor.
    func finish(_ result: SignInResult) throws -> NativeAuthUserAccount {
        switch result {
        case .completed(let account): account
        case .awaitingMFA(let state): try NativeSecondFactor(interview: interview).run(state)
        case .strongAuthMethodRegistration(let state):
            try NativeRegistration(interview: interview, username: username).run(state)
        }
    }

    private func submitCode(_ first: SignInCodeRequiredState) throws -> NativeAuthUserAccount {
        let result: SignInResult = try interview.settle(first) { state in
            guard let code = try interview.code(state.delivery) else {
                return .again(try interview.perform { try await state.resendCode() })
            }
            return .done(try interview.perform { try await state.submitCode(code) })
        }
        return try finish(result)
    }

    private func submitPassword(_ first: SignInPasswordRequiredState) throws -> NativeAuthUserAccount {
        let result: SignInResult = try interview.settle(first) { state in
            let password = try interview.password()
            return .done(try interview.perform { try await state.submitPassword(password) })
        }
        return try finish(result)
    }
}
