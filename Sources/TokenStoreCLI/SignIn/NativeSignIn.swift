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

/// The second factor of a sign-in.
struct NativeSecondFactor {
    let interview: Interview

    func run(_ first: AwaitingMFAState) throws -> NativeAuthUserAccount {
        var chosen: AuthMethod?
        let sent: MFARequiredState = try interview.settle(first) { state in
            let method = try interview.method(of: state.authMethods)
            chosen = method
            return .done(try interview.perform { try await state.requestChallenge(method) })
        }
        return try interview.settle(sent) { state in
            guard let code = try interview.code(state.delivery) else {
                let method = try interview.method(of: state.authMethods, before: chosen)
                chosen = method
                return .again(try interview.perform { try await state.requestChallenge(method) })
            }
            return .done(try interview.perform { try await state.submitChallenge(code) })
        }
    }
}

/// The registration of a second factor by somebody who has none.
struct NativeRegistration {
    let interview: Interview
    let username: String

    func run(_ first: RegisterStrongAuthState) throws -> NativeAuthUserAccount {
        interview.note("the issuer wants a second factor to be registered")
        var chosen: (method: AuthMethod, contact: String)?
        let result: RegisterStrongAuthChallengeResult = try interview.settle(first) { state in
            let method = try interview.method(of: state.authMethods, before: chosen?.method)
            let contact = try interview.contact(for: method, username: username)
            chosen = (method, contact)
            return .done(try interview.perform { try await state.challengeAuthMethod(method, contact: contact) })
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
        try interview.settle(first) { state in
            let code = try interview.code(state.delivery)
            if let code { return .done(try interview.perform { try await state.submitChallenge(code) }) }
            guard let chosen else { return .again(state) }
            let result = try interview.perform {
                try await state.challengeAuthMethod(chosen.method, contact: chosen.contact)
            }
            switch result {
            case .completed(let account): return .done(account)
            case .verificationRequired(let next): return .again(next)
            }
        }
    }
}
