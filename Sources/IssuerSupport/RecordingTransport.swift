package import HTTPTransport
import OAuth
import Synchronization

/// Notes what is sent and what comes back.
package final class RecordingTransport: HTTPTransport {
    package struct Exchange: Sendable {
        package let request: HTTPRequest
        package let answer: String

        /// The fields of the form that was posted.
        package var form: [String: String] { request.body.map { FormBody.fields($0.reveal()) } ?? [:] }
    }

    private let recorded = LockedValue<[Exchange]>([])

    package init() {}

    package var exchanges: [Exchange] { recorded.withLock(\.self) }
    package var requests: [HTTPRequest] { exchanges.map(\.request) }

    /// The fields of the forms that were posted.
    package var forms: [[String: String]] { exchanges.filter { $0.request.body != nil }.map(\.form) }

    /// The bodies as they were sent.
    package var texts: [String] { requests.compactMap { $0.body?.reveal() } }

    package func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        let response = try await NativeScene.transport.send(request, limits: limits)
        recorded.withLock { $0.append(Exchange(request: request, answer: response.body.reveal())) }
        return response
    }
}
