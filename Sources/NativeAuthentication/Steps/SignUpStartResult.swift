/// What a sign-up comes to at its beginning.
public enum SignUpStartResult: Sendable {
    case codeRequired(SignUpCodeRequiredState)

    /// The tenant does not take the values of these attributes; correct them and begin again.
    case attributesInvalid([String])
}
