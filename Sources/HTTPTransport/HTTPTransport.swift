/// A way to send one HTTP request and read its whole answer.
public protocol HTTPTransport: Sendable {
    /// Sends `request` and returns the answer, whatever its status; redirects are answers too.
    ///
    /// - Throws: ``HTTPTransportError`` where there is no whole answer within `limits`, `CancellationError` if the
    ///   task is cancelled.
    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse
}
