import HTTPTransport

/// Lets a test act just before a request leaves.
struct InterceptingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let act: @Sendable (HTTPRequest) async throws -> Void

    init(_ transport: any HTTPTransport, _ act: @escaping @Sendable (HTTPRequest) async throws -> Void) {
        self.transport = transport
        self.act = act
    }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        try await act(request)
        return try await transport.send(request, limits: limits)
    }
}
