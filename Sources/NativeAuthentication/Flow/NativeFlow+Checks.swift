extension NativeFlow {
    /// Nothing is sent for an empty code.
    func emptyCode<Kind>(_ kind: Kind) -> NativeAuthError<Kind> {
        NativeAuthError(kind, "the code is empty", correlationID)
    }

    /// Nothing is sent for an empty password.
    func emptyPassword<Kind>(_ kind: Kind) -> NativeAuthError<Kind> {
        NativeAuthError(kind, "the password is empty", correlationID)
    }

    /// Nothing is sent for a blank username.
    func blankUsername<Kind>(_ kind: Kind) -> NativeAuthError<Kind> {
        NativeAuthError(kind, "the username is empty", correlationID)
    }

    var hasBlankUsername: Bool { username.allSatisfy(\.isWhitespace) }
}
