import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A successful answer.
struct NativeReply: Sendable {
    let endpoint: NativeEndpoint
    let object: JSON.Object

    /// The answer as it came, for the reader of token responses.
    let body: Secret
    let correlationID: UUID

    /// What the issuer's clock said, in Unix seconds.
    let issuerNow: Int64?

    /// The token for the next step; nil where the answer has none.
    var optionalToken: Secret? { object["continuation_token"]?.text.flatMap { $0.isEmpty ? nil : Secret($0) } }

    /// The token for the next step.
    func continuationToken() throws(NativeFailure) -> Secret {
        guard let token = optionalToken else { throw unexpected("has no continuation token") }
        return token
    }

    /// What the issuer asks for next.
    func challenge() throws(NativeFailure) -> NativeChallenge {
        let token = try continuationToken()
        switch object["challenge_type"]?.text {
        case "oob":
            guard let delivery = CodeDelivery(object) else { throw unexpected("does not say where the code went") }
            return .code(delivery, token)
        case "password": return .password(token)
        case "preverified": return .preverified(token)
        default: throw unexpected("asks for something unknown")
        }
    }

    /// The methods that a code can be sent by.
    func methods() throws(NativeFailure) -> [AuthMethod] {
        let methods = (object["methods"]?.array ?? []).compactMap { $0.object.flatMap(AuthMethod.init) }
        guard !methods.isEmpty else { throw unexpected("lists no methods") }
        return methods
    }

    func unexpected(_ flaw: String) -> NativeFailure {
        NativeFailure(cause: .unexpected(flaw), correlationID: correlationID, endpoint: endpoint)
    }
}
