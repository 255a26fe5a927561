import OAuth

/// What the issuer asks for, with the token to answer with.
enum NativeChallenge: Sendable {
    case code(CodeDelivery, Secret)
    case password(Secret)

    /// The contact was verified before; nothing is asked.
    case preverified(Secret)
}
