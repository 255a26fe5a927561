import NativeAuthentication

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
