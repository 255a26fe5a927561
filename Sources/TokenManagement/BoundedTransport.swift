package import HTTPTransport

/// A transport for the requests of one refresh, all of which end by one moment.
///
/// Others wait for the lock of the refresh and go on without its holder after a while. A holder that was stopped and
/// goes on later must not send a refresh token that they have spent meanwhile, so nothing leaves after that moment.
package struct BoundedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let end: ContinuousClock.Instant

    package init(_ transport: any HTTPTransport, end: ContinuousClock.Instant) {
        self.transport = transport
        self.end = end
    }

    package func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        var limits = limits
        limits.total = min(limits.total, end - .now)
        guard limits.total > .zero else {
            let host = HTTPAddress(request.url)?.name ?? request.description
            throw HTTPTransportError.notConnected(host: host, reason: "no time was left")
        }
        return try await transport.send(request, limits: limits)
    }
}
