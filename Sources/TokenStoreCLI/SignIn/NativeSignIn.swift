import NativeAuthentication
import OAuth

/// A sign-in without a browser, step by step as the issuer asks.
struct NativeSignIn {
    let application: NativeAuthPublicClientApplication
    let prompter: TerminalPrompter
    let username: String

    func run(_ scope: Scope) throws -> NativeAuthUserAccount {
        let parameters = SignInParameters(username: username, scope: scope)
        switch try prompter.perform({ [application] in try await application.signIn(parameters) }) {
        case .codeRequired(let state): return try submitCode(state)
        case .passwordRequired(let state): return try submitPassword(state)
        case .awaitingMFA(let state): return try finish(.awaitingMFA(state))
        case .strongAuthMethodRegistration(let state): return try finish(.strongAuthMethodRegistration(state))
        case .completed(let account): return account
        }
    }

    /// The steps that are left after the first factor.
    func finish(_ result: SignInResult) throws -> NativeAuthUserAccount {
        switch result {
        case .completed(let account): account
        case .awaitingMFA(let state): try NativeSecondFactor(prompter: prompter).run(state)
        case .strongAuthMethodRegistration(let state):
            try NativeRegistration(prompter: prompter, username: username).run(state)
        }
    }

    private func submitCode(_ first: SignInCodeRequiredState) throws -> NativeAuthUserAccount {
        let result: SignInResult = try prompter.settle(first, canResend: true) { state in
            guard let code = try prompter.code(state.delivery) else {
                return .again(try prompter.perform { try await state.resendCode() })
            }
            return .done(try prompter.perform { try await state.submitCode(code) })
        }
        return try finish(result)
    }

    private func submitPassword(_ first: SignInPasswordRequiredState) throws -> NativeAuthUserAccount {
        let result: SignInResult = try prompter.settle(first) { state in
            let password = try prompter.password()
            return .done(try prompter.perform { try await state.submitPassword(password) })
        }
        return try finish(result)
    }
}

/// The second factor of a sign-in.
private struct NativeSecondFactor {
    let prompter: TerminalPrompter

    func run(_ first: AwaitingMFAState) throws -> NativeAuthUserAccount {
        var chosen: AuthMethod?
        let sent: MFARequiredState = try prompter.settle(first) { state in
            let method = try prompter.method(of: state.authMethods)
            chosen = method
            return .done(try prompter.perform { try await state.requestChallenge(method) })
        }
        return try prompter.settle(sent, canResend: true) { state in
            guard let code = try prompter.code(state.delivery) else {
                let method = try prompter.method(of: state.authMethods, before: chosen)
                chosen = method
                return .again(try prompter.perform { try await state.requestChallenge(method) })
            }
            return .done(try prompter.perform { try await state.submitChallenge(code) })
        }
    }
}

/// The registration of a second factor for an account that has none.
private struct NativeRegistration {
    let prompter: TerminalPrompter
    let username: String

    func run(_ first: RegisterStrongAuthState) throws -> NativeAuthUserAccount {
        prompter.note("the issuer requires a second factor; register one")
        var chosen: (method: AuthMethod, contact: String)?
        let result: RegisterStrongAuthChallengeResult = try prompter.settle(first) { state in
            let method = try prompter.method(of: state.authMethods, before: chosen?.method)
            let contact = try prompter.contact(for: method, username: username)
            chosen = (method, contact)
            return .done(try prompter.perform { try await state.challengeAuthMethod(method, contact: contact) })
        }
        switch result {
        case .completed(let account): return account
        case .verificationRequired(let state): return try verify(state, chosen)
        }
    }

    private func verify(
        _ first: RegisterStrongAuthVerificationRequiredState,
        _ chosen: (method: AuthMethod, contact: String)?
    ) throws -> NativeAuthUserAccount {
        try prompter.settle(first, canResend: true) { state in
            let code = try prompter.code(state.delivery)
            if let code { return .done(try prompter.perform { try await state.submitChallenge(code) }) }
            guard let chosen else { return .again(state) }
            let result = try prompter.perform {
                try await state.challengeAuthMethod(chosen.method, contact: chosen.contact)
            }
            switch result {
            case .completed(let account): return .done(account)
            case .verificationRequired(let next): return .again(next)
            }
        }
    }
}
