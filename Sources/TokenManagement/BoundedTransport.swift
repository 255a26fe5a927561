import HTTPTransport

/// A transport for the requests of one refresh, all of which end by one moment.
///
/// Others wait for the lock of the refresh and go on without its holder after a while.
struct BoundedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let end: ContinuousClock.Instant

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        var limits = limits
        limits.total = min(limits.total, max(end - .now, .zero))
        return try await transport.send(request, limits: limits)
    }
}
