import HTTPTransport
import IssuerSupport
import OAuth
import Synchronization

/// Notes what is sent.
final class RecordingTransport: HTTPTransport {
    private let sent = Mutex<[HTTPRequest]>([])

    var requests: [HTTPRequest] { sent.withLock(\.self) }

    /// The fields of the forms that were posted.
    var forms: [[String: String]] { requests.compactMap { $0.body.map { FormBody.fields($0.reveal()) } } }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        sent.withLock { $0.append(request) }
        return try await SignInScene.transport.send(request, limits: limits)
    }
}
