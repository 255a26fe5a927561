package import HTTPTransport
import OAuth

/// A transport of any make, whose own errors count as a broken connection.
package struct TranslatedTransport: HTTPTransport {
    private let transport: any HTTPTransport

    package init(_ transport: any HTTPTransport) { self.transport = transport }

    package func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        do {
            return try await transport.send(request, limits: limits)
        } catch let error where error is IssuerUnavailable || error is OAuthError {
            throw error
        } catch {
            // Some throw errors of their own when the task is cancelled, and some `CancellationError` when it is not.
            try Task.checkCancellation()
            throw HTTPTransportError(error, host: request.server, isSent: nil)
        }
    }
}
