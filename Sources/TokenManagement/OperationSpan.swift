package import HTTPTransport
import OAuth
import Tracing

/// One operation as a tracer sees it, with OpenTelemetry's names for what HTTP knows.
///
/// Its attributes name no account and hold no secret. Of an error there is the kind alone, as its text may name a
/// person. Without a tracer a span costs next to nothing.
package struct OperationSpan: Sendable {
    /// What is done.
    package enum Operation: String, Sendable {
        /// A person signs in.
        case signIn = "tokenstore.sign_in"

        /// A refresh token is used.
        case refresh = "tokenstore.refresh"

        /// A web API is called.
        case webAPI = "tokenstore.web_api"

        /// Tokens are committed to the store.
        case save = "tokenstore.save"
    }

    private let span: any Span

    /// Runs `body` in a span of the current task's tracer; spans that begin in it are its children.
    package static func run<Result: Sendable>(
        _ operation: Operation,
        _ body: (OperationSpan) async throws -> Result
    ) async throws -> Result {
        let kind: SpanKind = operation == .save ? .internal : .client
        let span = InstrumentationSystem.tracer.startSpan(operation.rawValue, ofKind: kind)
        defer { span.end() }
        do {
            return try await ServiceContext.withValue(span.context) { try await body(OperationSpan(span: span)) }
        } catch {
            let kind = (error as? any CodedErrorFacts)?.code.rawValue ?? String(describing: type(of: error))
            span.attributes["error.type"] = SpanAttribute.string(kind)
            span.setStatus(SpanStatus(code: .error))
            throw error
        }
    }

    /// Names the server of an address; its path and query may name a person.
    package func setServer(_ url: String) {
        guard let address = WebAddress(url) else { return }
        span.attributes["server.address"] = SpanAttribute.string(address.host)
        span.attributes["server.port"] = SpanAttribute.int64(Int64(address.port))
        span.attributes["url.scheme"] = SpanAttribute.string(address.scheme)
    }

    package func setRequest(_ request: HTTPRequest) {
        setServer(request.url)
        span.attributes["http.request.method"] = SpanAttribute.string(request.method)
    }

    package func setResponse(_ response: HTTPResponse) {
        span.attributes["http.response.status_code"] = SpanAttribute.int64(Int64(response.status))
        guard response.status >= 400 else { return }
        span.attributes["error.type"] = SpanAttribute.string("\(response.status)")
        span.setStatus(SpanStatus(code: .error))
    }
}
