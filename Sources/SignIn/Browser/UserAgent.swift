/// What shows a person the issuer's pages, outside the app ([RFC 8252 §6](https://www.rfc-editor.org/rfc/rfc8252#section-6)).
public protocol UserAgent: Sendable {
    /// Shows the page at `address`, and returns once it is on its way.
    ///
    /// - Throws: ``SignInError/noBrowser(_:)`` if it cannot be shown.
    func open(_ address: String) async throws

    /// Shows the page at `address`, to which `start` leads too, if there is one.
    ///
    /// `start` is an address of this machine, for a way to the browser that others can see, such as the arguments of a
    /// program: `address` holds what ties the answer to the request. It works until the sign-in is over.
    ///
    /// - Throws: ``SignInError/noBrowser(_:)`` if the page cannot be shown.
    func open(_ address: String, startingAt start: String?) async throws
}

extension UserAgent {
    public func open(_ address: String, startingAt start: String?) async throws { try await open(address) }
}
