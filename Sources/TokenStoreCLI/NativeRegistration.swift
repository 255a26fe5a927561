import NativeAuthentication

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
