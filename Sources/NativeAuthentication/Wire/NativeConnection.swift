import HTTPTransport
import Logging
import OAuth
import OpenIDConnect
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends the requests of native authentication and reads the answers; it logs neither bodies nor headers.
struct NativeConnection: Sendable {
    let configuration: NativeAuthConfiguration
    let transport: any HTTPTransport

    private var logger: Logger { configuration.logger }

    /// How long to wait before a request is repeated.
    private static let pause = Duration.milliseconds(500)

    /// Sends a form, and once more where that is safe and the way to the issuer or the issuer itself failed.
    ///
    /// Both together take no longer than the limit of one request, or than `limit`.
    func send(
        _ endpoint: NativeEndpoint,
        _ form: FormParameters,
        _ correlationID: UUID,
        within limit: Duration? = nil
    ) async throws(NativeRequestFailure) -> NativeResponse {
        let request = await request(endpoint, form, correlationID)
        // Now it is certain that the issuer has nothing of it; what a transport throws does not tell.
        guard !Task.isCancelled else {
            throw NativeRequestFailure(
                cause: .failed(CancellationError()),
                correlationID: correlationID,
                isUnsent: true
            )
        }
        let limits = configuration.tokenOptions.limits
        let response: HTTPResponse
        do {
            response = try await exchange(request, endpoint, limit.map { limits.shortened(to: $0) } ?? limits)
        } catch {
            let isUnsent = (error as? HTTPTransportError).map { !$0.mayHaveTakenEffect } ?? false
            logger.debug("no answer", metadata: ["endpoint": "\(endpoint.rawValue)"])
            throw NativeRequestFailure(
                cause: .failed(error),
                correlationID: correlationID,
                endpoint: endpoint,
                isUnsent: isUnsent
            )
        }
        logger.debug("answered", metadata: ["endpoint": "\(endpoint.rawValue)", "status": "\(response.status)"])
        return try read(response, endpoint, form, correlationID)
    }

    private func exchange(
        _ request: HTTPRequest,
        _ endpoint: NativeEndpoint,
        _ limits: HTTPLimits
    ) async throws -> HTTPResponse {
        let start = ContinuousClock.now
        var timeLeft: Duration { limits.total - Self.pause - start.duration(to: .now) }
        let rest: Duration
        do {
            let response = try await transport.send(request, limits: limits)
            rest = timeLeft
            guard response.status >= 500, endpoint.hasNoLastingEffect, rest > .zero else { return response }
        } catch let error as HTTPTransportError {
            rest = timeLeft
            let isSafe = endpoint.hasNoLastingEffect || !error.mayHaveTakenEffect
            guard error.isTransient, isSafe, rest > .zero else { throw error }
        }
        logger.debug("repeating a request", metadata: ["endpoint": "\(endpoint.rawValue)"])
        try await configuration.tokenOptions.pause(Self.pause)
        return try await transport.send(request, limits: limits.shortened(to: rest))
    }

    private func read(
        _ response: HTTPResponse,
        _ endpoint: NativeEndpoint,
        _ form: FormParameters,
        _ sent: UUID
    ) throws(NativeRequestFailure) -> NativeResponse {
        let correlationID = response.headers["client-request-id"].flatMap { UUID(uuidString: $0) } ?? sent
        func failure(_ cause: NativeRequestFailure.Cause) -> NativeRequestFailure {
            NativeRequestFailure(cause: cause, correlationID: correlationID, endpoint: endpoint)
        }
        // Only an object says anything; everything else is judged by its status.
        let object = response.jsonObject(mending: true)
        var form = form
        form.conceal(object?.answeredTokens ?? [])
        switch response.status {
        case 200:
            guard let object else { throw failure(.unexpected("is not JSON")) }
            if object["challenge_type"] == "redirect" {
                throw failure(.redirect(reason: object["redirect_reason"]?.text.flatMap(form.redactingSentence)))
            }
            // Some issuers send errors with status 200.
            if let error = OAuthError(object, status: response.status) {
                throw failure(.refused(form.redacting(error), redacting(object, form)))
            }
            let issuerNow = response.headers["date"].flatMap(HTTPDate.seconds)
            return NativeResponse(
                endpoint: endpoint,
                object: form.redactingShown(object),
                correlationID: correlationID,
                issuerNow: issuerNow
            )
        case 400, 401:
            guard let object, let error = OAuthError(object, status: response.status) else {
                throw failure(.unexpected("has status \(response.status) and names no error"))
            }
            throw failure(.refused(form.redacting(error), redacting(object, form)))
        case let status where IssuerUnavailable.isMeant(by: status): throw failure(.failed(IssuerUnavailable(response)))
        // To start again at a tenant that is not there would end the same way.
        case 404 where endpoint.startsFlow:
            throw failure(.unexpected("has status 404", .correct("check the authority's address and its tenant")))
        default: throw failure(.unexpected("has status \(response.status)"))
        }
    }

    /// A refusal without the secrets of the form in what is shown of it.
    private func redacting(_ object: JSONValue.Object, _ form: FormParameters) -> JSONValue.Object {
        var object = form.redactingShown(object)
        object["error_uri"] = object["error_uri"]?.text.map { .string(form.redacting($0)) }
        return object
    }

    private func request(_ endpoint: NativeEndpoint, _ form: FormParameters, _ correlationID: UUID) async -> HTTPRequest
    {
        var url = configuration.authority.url + endpoint.rawValue
        if let datacenter = configuration.datacenter { url += "?dc=\(datacenter)" }
        var headers: HTTPHeaders = [
            "content-type": "application/x-www-form-urlencoded", "accept": "application/json",
            "client-request-id": correlationID.uuidString.lowercased(), "return-client-request-id": "true",
            "x-client-SKU": "tokenstore.native", "x-client-Ver": TokenStore.version,
        ]
        for (name, value) in await configuration.interceptor?.headers(for: url) ?? [:] {
            guard RequestHeaderName.isAllowed(name) else {
                logger.warning("a header of the interceptor was left out", metadata: ["name": "\(name)"])
                continue
            }
            headers[name] = value
        }
        return HTTPRequest("POST", url, headers: headers, body: form.encoded)
    }
}

/// The endpoints of native authentication; the raw value is the path behind the tenant.
enum NativeEndpoint: String, Sendable {
    case signUpStart = "/signup/v1.0/start"
    case signUpChallenge = "/signup/v1.0/challenge"
    case signUpContinue = "/signup/v1.0/continue"
    case initiate = "/oauth2/v2.0/initiate"
    case challenge = "/oauth2/v2.0/challenge"
    case introspect = "/oauth2/v2.0/introspect"
    case token = "/oauth2/v2.0/token"
    case registerIntrospect = "/register/v1.0/introspect"
    case registerChallenge = "/register/v1.0/challenge"
    case registerContinue = "/register/v1.0/continue"
    case resetStart = "/resetpassword/v1.0/start"
    case resetChallenge = "/resetpassword/v1.0/challenge"
    case resetContinue = "/resetpassword/v1.0/continue"
    case resetSubmit = "/resetpassword/v1.0/submit"
    case resetPoll = "/resetpassword/v1.0/poll_completion"

    /// Whether it is the first that a flow asks.
    fileprivate var startsFlow: Bool { [.signUpStart, .initiate, .resetStart].contains(self) }

    /// Whether a request whose answer was lost may be sent again: it sends no code, changes no account and spends no
    /// token.
    var hasNoLastingEffect: Bool {
        switch self {
        case .initiate, .introspect, .registerIntrospect, .resetStart, .resetPoll: true
        default: false
        }
    }
}
