/// What the first factor of a sign-in comes to.
public enum SignInResult: Sendable {
    case awaitingMFA(AwaitingMFAState)
    case strongAuthMethodRegistration(RegisterStrongAuthState)
    case completed(NativeAuthUserAccount)
}
