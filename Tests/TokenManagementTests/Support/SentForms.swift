import HTTPTransport
import IssuerSupport
import OAuth
import Synchronization

/// The forms that a transport was asked to send.
final class SentForms: Sendable {
    private let forms = Mutex<[[String: String]]>([])

    func keep(_ request: HTTPRequest) {
        guard let body = request.body?.reveal() else { return }
        forms.withLock { $0.append(FormBody.fields(body)) }
    }

    var count: Int { forms.withLock(\.count) }

    func all(_ name: String) -> [String] { forms.withLock { $0.compactMap { $0[name] } } }

    func last(_ name: String) -> String { forms.withLock { $0.last?[name] } ?? "" }
}
