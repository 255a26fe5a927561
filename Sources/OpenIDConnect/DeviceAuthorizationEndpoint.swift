public import HTTPTransport
import OAuth

/// An issuer's device authorization endpoint ([RFC 8628 §3.1](https://www.rfc-editor.org/rfc/rfc8628#section-3.1)).
public struct DeviceAuthorizationEndpoint: Sendable {
    public let url: String
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    public init(_ url: String, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.url = url
        self.transport = transport
        self.limits = limits
    }

    /// Asks for codes; `parameters` are the client and the scope, `now` is the caller's clock in Unix seconds.
    ///
    /// - Throws: `OAuthError` for a refusal, ``IssuerUnavailable`` for 429 and 5xx, ``DeviceAuthorizationError`` for
    ///   what is neither, `HTTPTransportError`.
    public func send(_ parameters: FormParameters, now: Int64) async throws -> DeviceAuthorization {
        let response = try await transport.send(.form(parameters, to: url), limits: limits)
        if response.status == 429 || response.status >= 500 { throw IssuerUnavailable(response, now: now) }
        // Only an object can carry codes or an error; everything else is judged by its status.
        let object = try? response.body.withUnsafeBytes { try JSON(parsing: $0).object }
        if let refusal = object.flatMap({ OAuthError($0, status: response.status) }) {
            throw parameters.redacting(refusal)
        }
        guard response.isSuccess, let object else { throw DeviceAuthorizationError.unusable(status: response.status) }
        return try DeviceAuthorization(object)
    }
}
