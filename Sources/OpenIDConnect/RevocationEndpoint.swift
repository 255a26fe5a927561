public import HTTPTransport
public import OAuth

/// An issuer's revocation endpoint ([RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)).
public struct RevocationEndpoint: Sendable {
    public let url: String
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    public init(_ url: String, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.url = url
        self.transport = transport
        self.limits = limits
    }

    /// Ends a refresh token and the access tokens that came from it; one that has ended already is no error.
    ///
    /// - Throws: ``RevocationError``.
    public func revoke(_ token: Secret, clientID: String) async throws {
        do {
            try await send(token, clientID: clientID)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw RevocationError(url: url, reason: error)
        }
    }

    private func send(_ token: Secret, clientID: String) async throws {
        var form = FormParameters()
        form.append("token", token)
        form.append("token_type_hint", "refresh_token")
        form.append("client_id", clientID)
        var request = HTTPRequest.form(form, to: url)
        // RFC 7009 §2.2: a token that has ended already is no error.
        request.isIdempotent = true
        let response = try await transport.send(request, limits: limits)
        guard !response.isSuccess else { return }
        if response.status == 429 || response.status >= 500 { throw IssuerUnavailable(response) }
        // Only an object can carry an OAuth error; everything else is judged by its status.
        let object = try? response.body.withUnsafeBytes { try JSON(parsing: $0).object }
        if let refusal = object.flatMap({ OAuthError($0, status: response.status) }) { throw form.redacting(refusal) }
        throw UnusableAnswer(status: response.status, isJSON: object != nil)
    }
}

/// Why a token was not revoked.
public struct RevocationError: Error, CustomStringConvertible {
    /// The address of the revocation endpoint.
    public let url: String

    /// An `OAuthError`, ``IssuerUnavailable``, ``UnusableAnswer`` or `HTTPTransportError`.
    public let reason: any Error

    public var description: String {
        let place = "the revocation endpoint \(url)"
        return switch reason {
        case let error as IssuerUnavailable: "\(place) answered \(error.status)"
        case let error as UnusableAnswer: "\(place) answered \(error.status)"
        case let error as OAuthError: "\(place) refused: \(error)"
        default: "\(place) was not reached: \(reason)"
        }
    }
}
