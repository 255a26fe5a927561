/// What the password of a sign-up comes to.
public enum SignUpPasswordResult: Sendable {
    case attributesRequired(SignUpAttributesRequiredState)

    /// The account exists.
    case completed(SignInAfterSignUpState)
}
