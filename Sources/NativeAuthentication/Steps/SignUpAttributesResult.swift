/// What the attributes of a sign-up come to.
public enum SignUpAttributesResult: Sendable {
    /// More are asked for, or the same that were left out.
    case attributesRequired(SignUpAttributesRequiredState)

    /// The tenant does not take the values of the attributes named.
    case attributesInvalid([String], SignUpAttributesRequiredState)

    /// The account exists.
    case completed(SignInAfterSignUpState)
}
