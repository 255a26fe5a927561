/// What shows a person the issuer's pages, outside the app ([RFC 8252 §6](https://www.rfc-editor.org/rfc/rfc8252#section-6)).
public protocol UserAgent: Sendable {
    /// Shows the page at `address`, and returns once it is on its way.
    ///
    /// - Throws: ``SignInError/noBrowser(_:)`` if it cannot be shown.
    func open(_ address: String) async throws
}
