/// What a sign-in comes to at its beginning.
public enum SignInStartResult: Sendable {
    case codeRequired(SignInCodeRequiredState)
    case passwordRequired(SignInPasswordRequiredState)
    case awaitingMFA(AwaitingMFAState)
    case strongAuthMethodRegistration(RegisterStrongAuthState)
    case completed(NativeAuthUserAccount)

    init(_ result: SignInResult) {
        self =
            switch result {
            case .awaitingMFA(let state): .awaitingMFA(state)
            case .strongAuthMethodRegistration(let state): .strongAuthMethodRegistration(state)
            case .completed(let account): .completed(account)
            }
    }
}
