package import HTTPTransport
package import OAuth

/// An issuer's revocation endpoint ([RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)).
package struct RevocationEndpoint: Sendable {
    package let url: String
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    package init(_ url: String, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.url = url
        self.transport = transport
        self.limits = limits
    }

    /// Ends a refresh token and the access tokens that came from it; a token that has ended already is not an error.
    ///
    /// - Throws: ``RevocationError``.
    package func revoke(_ token: Secret, clientID: String) async throws {
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
        // RFC 7009 §2.2: a token that has ended already is not an error.
        request.isIdempotent = true
        let response = try await transport.send(request, limits: limits)
        if IssuerUnavailable.isMeant(by: response.status) { throw IssuerUnavailable(response) }
        // Only an object can carry an OAuth error; everything else is judged by its status.
        let object = response.jsonObject()
        // Some issuers send errors with status 200.
        if let refusal = object.flatMap({ OAuthError($0, status: response.status) }) {
            // Google's word for one that has ended already; with 401 it is about who asks (RFC 6750 §3.1).
            let mayBeOfToken = response.isSuccess || response.status == 400
            guard !mayBeOfToken || refusal.code.rawValue != "invalid_token" else { return }
            throw form.redacting(refusal)
        }
        guard !response.isSuccess else { return }
        throw UnusableAnswer(status: response.status, isJSON: object != nil)
    }
}

/// Why a token was not revoked.
package struct RevocationError: Error, CustomStringConvertible {
    /// The address of the revocation endpoint.
    package let url: String

    /// An `OAuthError`, ``IssuerUnavailable``, ``UnusableAnswer`` or `HTTPTransportError`.
    package let reason: any Error

    package var description: String {
        let place = "the revocation endpoint \(url)"
        return switch reason {
        case let error as IssuerUnavailable: "\(place) answered \(error.status)"
        case let error as UnusableAnswer: "\(place) answered \(error.status)"
        case let error as OAuthError: "\(place) refused: \(error.problem)"
        case let error as HTTPTransportError: "\(place) was not reached: \(error.problem)"
        default: "\(place) was not reached: \(reason)"
        }
    }
}
