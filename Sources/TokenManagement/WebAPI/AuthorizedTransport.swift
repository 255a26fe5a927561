public import HTTPTransport
public import OAuth
import OpenIDConnect
import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Calls a web API with access tokens of one account.
///
/// The store is asked before every request, so that a token that has ended is renewed. Where the API answers 401 and
/// says that the token is invalid, or challenges for claims, the token is refreshed once and the request repeated once
/// ([RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)). A token that is bound to a key is sent with a
/// proof of that key ([RFC 9449 §7](https://www.rfc-editor.org/rfc/rfc9449#section-7)), and the request repeated once
/// where the API wants its nonce in it.
public struct AuthorizedTransport: HTTPTransport {
    private let api: WebAPI
    private let account: Account.ID
    private let manager: TokenManager
    private let transport: any HTTPTransport

    /// Calls the API over `transport`; ``TokenManager/authorized(_:account:)`` takes the manager's own.
    public init(_ api: WebAPI, account: Account.ID, manager: TokenManager, transport: any HTTPTransport) {
        self.api = api
        self.account = account
        self.manager = manager
        self.transport = TranslatedTransport(transport)
    }

    /// Sends `request` with exactly one `Authorization` header, the access token's.
    ///
    /// The time for it includes that of its token, and of a request that is repeated. A refresh that takes longer goes
    /// on, and serves the next call; where a stored token can stand in, no more than half of the time is waited for it.
    ///
    /// - Throws: ``WebAPIError`` before anything is sent, ``AcquisitionError``, `TokenStoreError`, `HTTPTransportError`,
    ///   `CancellationError`.
    public func send(_ request: HTTPRequest, limits: HTTPLimits = .webAPI) async throws -> HTTPResponse {
        try await answer(to: request, limits).response
    }

    /// The answer, and the token that the API was sent for it.
    private func answer(
        to request: HTTPRequest,
        _ limits: HTTPLimits
    ) async throws -> (response: HTTPResponse, sent: AccessToken) {
        guard !api.url.isEmpty, !api.scope.matchesNothing || account.hasIssuer && !api.scope.isEmpty else {
            throw WebAPIError.notConfigured
        }
        guard isAddressed(request) else { throw WebAPIError.invalidURL(request.description) }
        let call = TimedTransport(transport, for: limits.total)
        let wanted = SilentRequest(account: account, scope: api.scope)
        let (response, refused) = try await traced(request, wanted, insteadOf: nil, over: call, limits)
        guard response.status == 401, let challenge = BearerChallenge(response) else { return (response, refused) }
        var renewed = SilentRequest(account: account, scope: api.scope)
        renewed.claims = challenge.claims
        renewed.forcesRefresh = challenge.claims == nil
        renewed.keepsWaits = true
        return try await traced(request, renewed, insteadOf: refused, over: call, limits)
    }

    private func traced(
        _ request: HTTPRequest,
        _ wanted: SilentRequest,
        insteadOf refused: AccessToken?,
        over call: TimedTransport,
        _ limits: HTTPLimits
    ) async throws -> (response: HTTPResponse, sent: AccessToken) {
        try await OperationSpan.run(.webAPI) { span in
            span.setRequest(request)
            let (response, token) = try await send(request, wanted, insteadOf: refused, over: call, limits)
            span.setResponse(response)
            return (response, token)
        }
    }

    /// The JSON that the API answers to `request`, or to a GET of its own address.
    ///
    /// - Throws: ``WebAPIError``, and what ``send(_:limits:)`` throws.
    public func json(_ request: HTTPRequest? = nil, limits: HTTPLimits = .webAPI) async throws -> JSONValue {
        let (response, token) = try await answer(to: request ?? HTTPRequest("GET", api.url), limits)
        guard response.isSuccess else {
            throw WebAPIError.status(response.status, WebAPIError.Failure(response.body, to: token.secret))
        }
        // The position of a JSON error is of no use to the caller.
        guard let value = try? response.body.withUnsafeBytes({ try JSONValue(parsing: $0) }) else {
            throw WebAPIError.notJSON
        }
        return value
    }

    private func send(
        _ request: HTTPRequest,
        _ wanted: SilentRequest,
        insteadOf refused: AccessToken?,
        over call: TimedTransport,
        _ limits: HTTPLimits
    ) async throws -> (HTTPResponse, AccessToken) {
        var wanted = wanted
        let left = call.left
        wanted.timeout = min(wanted.timeout, left)
        // A token that is good enough is not to be of no use because a better one was waited for to the end.
        wanted.standInTimeout = left / 2
        let (token, key) = try await provableToken(wanted, insteadOf: refused)
        var request = request
        request.headers["authorization"] = "\(token.authorizationScheme) \(token.secret.reveal())"
        guard let key else { return (try await call.send(request, limits: limits), token) }
        let now = manager.store.options.now
        let proving = DPoPTransport(
            key,
            servers: manager.dpopServers,
            transport: call,
            accessToken: token.secret,
            now: { now().unixSeconds }
        )
        return (try await proving.send(request, limits: limits), token)
    }

    /// An access token, and the key that an API wants a proof of, if the token is bound to one.
    ///
    /// A sign-in in between brings another key and other tokens, which are taken then.
    private func provableToken(
        _ wanted: SilentRequest,
        insteadOf refused: AccessToken?
    ) async throws -> (AccessToken, DPoPKey?) {
        for _ in 1...3 {
            let token = try await manager.acquireTokenSilently(wanted, insteadOf: refused).accessToken
            guard token.isDPoP else { return (token, nil) }
            let client = manager.clientID
            let stored = try await manager.store.performRead { [account] in
                try $0.boundKey(of: account, client: client)
            }
            guard let stored, stored.thumbprint == token.keyID else { continue }
            do {
                return (token, try DPoPKey(stored))
            } catch {
                throw AcquisitionError.dpop(error)
            }
        }
        throw AcquisitionError.dpop(.noKey)
    }

    /// Whether the request is for the API: a token is a secret between it and the issuer.
    private func isAddressed(_ request: HTTPRequest) -> Bool {
        guard let origin = WebAddress(secure: api.url)?.origin, WebAddress(secure: request.url)?.origin == origin else {
            return false
        }
        let (path, base) = (request.url.path, api.url.path)
        let directory = base.hasSuffix("/") ? base : base + "/"
        guard path.utf8.elementsEqual(base.utf8) || path.utf8.starts(with: directory.utf8) else { return false }
        return RequestPath(path).staysBelow
    }
}

/// A transport for the requests of one call, which all end by one moment.
private struct TimedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let end: ContinuousClock.Instant

    init(_ transport: any HTTPTransport, for time: Duration) {
        self.transport = transport
        end = .now + time.sleepable
    }

    /// What is left of the call's time.
    var left: Duration { end - .now }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        let left = left
        guard left > .zero else { throw HTTPTransportError.timedOut(host: request.server) }
        return try await transport.send(request, limits: limits.shortened(to: left))
    }
}

extension TokenManager {
    /// Calls a web API with access tokens of an account.
    public func authorized(_ api: WebAPI, account: Account.ID) -> AuthorizedTransport {
        AuthorizedTransport(api, account: account, manager: self, transport: transport)
    }
}

/// The path of a request as the servers behind an address may read it: they differ in what they decode, and how often.
struct RequestPath {
    private let text: String

    init(_ text: String) { self.text = text }

    /// How many times a path that is encoded again and again is decoded.
    private static let rounds = 4

    /// Whether no reading of the path leads up, out of the directory that it begins with.
    var staysBelow: Bool {
        // A percent sign is always the first of three characters.
        guard text.utf8.percentDecoded != nil else { return false }
        var bytes = Array(text.utf8)
        for _ in 0...Self.rounds {
            guard Self.isPlain(bytes) else { return false }
            let decoded = Self.decoded(bytes)
            if decoded == bytes { return true }
            bytes = decoded
        }
        return false
    }

    /// `bytes` with percent-encoded characters decoded, and other percent signs unchanged.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var (rest, decoded) = (bytes[...], [UInt8]())
        while !rest.isEmpty {
            if let byte = rest.prefix(3).percentDecoded, byte.count == 1 {
                decoded += byte
                rest = rest.dropFirst(3)
            } else {
                decoded.append(rest.removeFirst())
            }
        }
        return decoded
    }

    /// Whether the path is text without control characters, and no segment of it is one or more dots.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), String(validating: bytes, as: UTF8.self) != nil else {
            return false
        }
        let segments = bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        return !segments.contains { segment in
            // Some servers cut off parameters behind a semicolon, and some dots and spaces at the end.
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.contains(UInt8(ascii: ".")) && name.allSatisfy { $0 == UInt8(ascii: ".") || $0 == 0x20 }
        }
    }
}

extension String {
    /// The path of a URL, without query and fragment.
    fileprivate var path: String {
        let rest = firstRange(of: "://").map { self[$0.upperBound...] } ?? self[...]
        return String(rest.drop { !"/?#".contains($0) }.prefix { $0 != "?" && $0 != "#" })
    }
}

/// A web API that is called with access tokens.
public struct WebAPI: Hashable, Sendable {
    /// Where it is; requests go nowhere else.
    public let url: String

    /// The scopes that its access tokens must have.
    public let scope: Scope

    /// An API at this address and below it, whose tokens cover this scope.
    public init(url: String, scope: Scope) {
        self.url = url
        self.scope = scope
    }

    /// An API at this address and below it, whose tokens cover this scope.
    public init(url: URL, scope: Scope) { self.init(url: url.absoluteString, scope: scope) }
}

/// What a web API asks for that refused a token ([RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)).
package struct BearerChallenge {
    /// The claims that a new token has to have; nil: the token is merely no good any more.
    package let claims: JSONValue?

    /// nil if another token would fare no better.
    package init?(_ response: HTTPResponse) {
        let challenges = ["bearer", "dpop"].lazy.flatMap { AuthenticationChallenge.all($0, in: response) }
        let asking = challenges.first { challenge in
            ["invalid_token", "insufficient_claims"].contains { challenge["error"]?.hasSameBytes(as: $0) ?? false }
        }
        guard let asking else { return nil }
        claims = asking["claims"].flatMap(Self.claims)
    }

    /// The claims travel as JSON in base64, of either alphabet; any other value is ignored.
    private static func claims(_ text: String) -> JSONValue? {
        let encoded = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        guard let bytes = Base64URL.decode(encoded) else { return try? JSONValue(parsing: text) }
        return bytes.withUnsafeBytes { try? JSONValue(parsing: $0) }
    }
}
