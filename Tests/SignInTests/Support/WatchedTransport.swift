import HTTPTransport

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
