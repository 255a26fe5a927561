/// What the right code of a sign-up comes to.
public enum SignUpVerifyCodeResult: Sendable {
    case passwordRequired(SignUpPasswordRequiredState)
    case attributesRequired(SignUpAttributesRequiredState)

    /// The account exists.
    case completed(SignInAfterSignUpState)
}
