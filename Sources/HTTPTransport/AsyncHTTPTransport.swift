import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// HTTP over the network, by async-http-client.
///
/// Its client starts at the first request, so that a program that finds its token in the store pays nothing.
public final class AsyncHTTPTransport: HTTPTransport {
    private let options: HTTPTransportOptions
    private let clients = LockedValue<HTTPClients?>(nil)

    /// A transport with connections of its own, which end with it.
    public init(options: HTTPTransportOptions = HTTPTransportOptions()) { self.options = options }

    /// How many files and threads the first request of a process takes at once, where nothing else has started NIO yet.
    ///
    /// Without them NIO ends the process, and tasks wait for ever for a thread.
    package static var needs: (files: Int, threads: Int) {
        let loops = NIOSingletons.groupLoopCountSuggestion
        // A loop waits with up to three files; a request has its socket, and the files that it reads.
        return (loops * 3 + 16, loops + 3)
    }

    deinit {
        // A failure to close idle connections cannot be reported to a caller.
        clients.withLock(\.self)?.shutdown()
    }

    public func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        guard let address = WebAddress(secure: request.url) else {
            throw HTTPTransportError.invalidURL(request.description)
        }
        let client = try client(for: address)
        let body = request.body.map(OutgoingBody.init)
        let end = ContinuousClock.now + limits.total.sleepable
        do {
            return try await Self.within(limits.total, address, body) {
                try await Self.exchange(request, body, by: client, address, limits)
            }
        } catch {
            try Task.checkCancellation()
            throw await failure(error, at: address, isSent: body?.isAskedFor, until: end)
        }
    }

    /// Runs `work` for as long as `limit` at most.
    ///
    /// Once `body` is on its way only the time counts in which this process ran: what came while it was stopped, or the
    /// machine slept, is read first. What the limit cuts off may still be a whole answer.
    private static func within<Value: Sendable>(
        _ limit: Duration,
        _ address: WebAddress,
        _ body: OutgoingBody?,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: work)
            group.addTask {
                let limit = limit.sleepable
                let end = ContinuousClock.now + limit
                var left = limit
                // What was not sent in time may be another's to send by now.
                while left > .zero, body?.isAskedFor != false || ContinuousClock.now < end {
                    let pause = min(left, .seconds(1))
                    try await Task.sleep(for: pause)
                    left -= pause
                }
                throw HTTPTransportError.timedOut(host: address.name)
            }
            guard let first = await group.nextResult() else { throw CancellationError() }
            group.cancelAll()
            guard case .failure = first, case .success(let value)? = await group.nextResult() else {
                return try first.get()
            }
            return value
        }
    }

    /// What `error` means, with what only the transport knows of it, or can find out until `end`.
    private func failure(
        _ error: any Error,
        at address: WebAddress,
        isSent: Bool?,
        until end: ContinuousClock.Instant
    ) async -> HTTPTransportError {
        let way = clients.withLock { $0?.proxy(for: address) }
        if let refusal = way?.refusal(error, to: address.name) { return refusal }
        let failure = HTTPTransportError(error, host: address.name, isSent: isSent)
        guard way == nil, failure.code == .notTrusted, let host = failure.host else {
            return failure.by(proxy: way?.name)
        }
        let flaw = await CertificateTimes.shown(at: address, until: end)?.flaw(at: Int64(time(nil)))
        return flaw.map { .outdated(host: host, flaw: $0) } ?? failure
    }

    private static func exchange(
        _ request: HTTPRequest,
        _ body: OutgoingBody?,
        by client: HTTPClient,
        _ address: WebAddress,
        _ limits: HTTPLimits
    ) async throws -> HTTPResponse {
        let response = try await within(limits.head, address, body) {
            try await head(of: request, body, by: client)
        }
        var (received, cut) = try await Self.body(of: response, address, limit: limits.bodySize)
        let sent = HTTPResponse(
            status: Int(response.status.code),
            headers: HTTPHeaders(response.headers.map { (name: $0.name, value: $0.value) }),
            body: received.withUnsafeMutableReadableBytes { bytes in
                defer { wipe(bytes) }
                return Secret(copying: UnsafeRawBufferPointer(bytes))
            }
        )
        func answer() throws -> HTTPResponse {
            // Who names codings undoes them.
            guard request.headers["accept-encoding"] == nil else { return sent }
            return try sent.decoded(limit: limits.bodySize, host: address.name)
        }
        guard let cut else { return try answer() }
        guard let whole = try? answer(), whole.isWhole(for: request) else { throw cut }
        return whole
    }

    /// The body of an answer, and what has cut it off, if it is not all.
    private static func body(
        of response: HTTPClientResponse,
        _ address: WebAddress,
        limit: Int
    ) async throws -> (ByteBuffer, cut: (any Error)?) {
        var received = ByteBuffer()
        do {
            for try await part in response.body {
                guard received.readableBytes + part.readableBytes <= limit else {
                    throw HTTPTransportError.tooLarge(host: address.name, limit: limit)
                }
                received.writeImmutableBuffer(part)
            }
        } catch let error as HTTPTransportError {
            throw error
        } catch {
            return (received, error)
        }
        return (received, nil)
    }

    /// Sends a request until the head of its answer is there.
    ///
    /// A server may close a connection just when the next request is on its way there, without having read it. Only the
    /// sender knows whether it may go twice.
    private static func head(
        of request: HTTPRequest,
        _ body: OutgoingBody?,
        by client: HTTPClient
    ) async throws -> HTTPClientResponse {
        let outgoing = outgoing(request, body)
        do {
            return try await client.execute(outgoing, deadline: .distantFuture)
        } catch  where request.mayBeRepeated && isClosing(error) {
            return try await client.execute(outgoing, deadline: .distantFuture)
        }
    }

    /// Whether the connection ended before the first byte of an answer.
    private static func isClosing(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
        default: false
        }
    }

    private static func outgoing(_ request: HTTPRequest, _ body: OutgoingBody?) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers.fields { outgoing.headers.add(name: name, value: value) }
        // What a proxy compresses all the same is undone below.
        if request.headers["accept-encoding"] == nil {
            outgoing.headers.add(name: "accept-encoding", value: "identity")
        }
        // RFC 9110 §10.1.5; the firewalls before some issuers refuse a request that does not say what sends it.
        if request.headers["user-agent"] == nil { outgoing.headers.add(name: "user-agent", value: "tokenstore") }
        outgoing.body = body.map { .bytes($0, length: .known(Int64($0.count))) }
        return outgoing
    }

    private func client(for address: WebAddress) throws -> HTTPClient {
        try clients.withLock { clients in
            var started = try clients ?? HTTPClients(options)
            defer { clients = started }
            return try started.client(for: address)
        }
    }
}

extension HTTPResponse {
    /// Whether nothing is missing although it was cut off.
    ///
    /// An object of JSON is whole once it is closed, whatever of the framing is cut off behind it or never comes. What a
    /// POST has brought may be in no other answer, as a new refresh token is. What answers a form, as OAuth's endpoints
    /// do, is taken as their answers are read; behind another object the next one of a list may be missing.
    fileprivate func isWhole(for request: HTTPRequest) -> Bool {
        let isForm = request.headers["content-type"] == "application/x-www-form-urlencoded"
        return request.method == "POST" && isSuccess && jsonObject(forgiving: isForm) != nil
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
    }
}

/// The body of a request, copied only when a connection asks for it: before that, nothing of it has left this machine.
private final class OutgoingBody: Collection, Sendable {
    private let body: Secret
    private let asked = LockedValue(false)

    init(_ body: Secret) { self.body = body }

    /// Whether a connection has asked for it, so that the server may have it; nil if there is nothing to ask for.
    var isAskedFor: Bool? {
        guard !isEmpty else { return nil }
        let isAsked: Bool = asked.withLock(\.self)
        return isAsked
    }

    let startIndex = 0
    var endIndex: Int { body.count }

    func index(after index: Int) -> Int { index + 1 }

    subscript(position: Int) -> UInt8 {
        asked.withLock { $0 = true }
        return body.withUnsafeBytes { $0[position] }
    }

    func withContiguousStorageIfAvailable<Result>(
        _ use: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        asked.withLock { $0 = true }
        return try body.withUnsafeBytes { try $0.withMemoryRebound(to: UInt8.self) { try use($0) } }
    }
}
