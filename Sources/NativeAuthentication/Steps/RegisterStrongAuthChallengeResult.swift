/// What the registration of a method comes to.
public enum RegisterStrongAuthChallengeResult: Sendable {
    case verificationRequired(RegisterStrongAuthVerificationRequiredState)

    /// The contact was verified before, and the person is signed in.
    case completed(NativeAuthUserAccount)
}
