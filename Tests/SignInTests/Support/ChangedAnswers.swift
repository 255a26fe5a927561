import HTTPTransport
import OAuth

/// A transport between a client and an issuer that sends less than ours does, or something else.
struct ChangedAnswers: HTTPTransport {
    private let transport: any HTTPTransport
    private let change: @Sendable (HTTPRequest, inout JSONValue.Object) -> Void

    init(_ transport: any HTTPTransport, _ change: @escaping @Sendable (HTTPRequest, inout JSONValue.Object) -> Void) {
        self.transport = transport
        self.change = change
    }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        let response = try await transport.send(request, limits: limits)
        guard var object = try? JSONValue(parsing: response.body.reveal()).object else { return response }
        change(request, &object)
        let body = Secret(JSONValue.object(object).serialized)
        return HTTPResponse(status: response.status, headers: response.headers, body: body)
    }
}

/// Shows each request before it is sent.
struct WatchedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let watch: @Sendable (HTTPRequest) async -> Void

    init(_ transport: any HTTPTransport, _ watch: @escaping @Sendable (HTTPRequest) async -> Void) {
        self.transport = transport
        self.watch = watch
    }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        await watch(request)
        return try await transport.send(request, limits: limits)
    }
}
