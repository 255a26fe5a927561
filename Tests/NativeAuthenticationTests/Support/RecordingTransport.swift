import HTTPTransport
import IssuerSupport
import OAuth
import Synchronization

/// Notes what is sent and what comes back.
final class RecordingTransport: HTTPTransport {
    struct Exchange: Sendable {
        let request: HTTPRequest
        let answer: String

        /// The fields of the form that was posted.
        var form: [String: String] { request.body.map { FormBody.fields($0.reveal()) } ?? [:] }
    }

    private let noted = Mutex<[Exchange]>([])

    var exchanges: [Exchange] { noted.withLock(\.self) }
    var requests: [HTTPRequest] { exchanges.map(\.request) }

    /// The bodies as they were sent.
    var texts: [String] { requests.compactMap { $0.body?.reveal() } }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        let response = try await NativeScene.transport.send(request, limits: limits)
        noted.withLock { $0.append(Exchange(request: request, answer: response.body.reveal())) }
        return response
    }
}
