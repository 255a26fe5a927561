/// What an error of a step means for the app; the flags of ``NativeAuthError`` ask for it.
public protocol NativeAuthErrorKind: Hashable, Sendable {
    /// Nothing that the person at the keyboard could put right by other words.
    static var generalError: Self { get }

    /// The rest has to be done in a browser.
    static var browserRequired: Self { get }

    /// What to do about it, as the end of a sentence.
    var advice: String { get }
}
