package import HTTPTransport
package import OAuth

/// An issuer's device authorization endpoint ([RFC 8628 §3.1](https://www.rfc-editor.org/rfc/rfc8628#section-3.1)).
package struct DeviceAuthorizationEndpoint: Sendable {
    package let url: String
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    package init(_ url: String, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.url = url
        self.transport = transport
        self.limits = limits
    }

    /// Asks for codes; `parameters` are the client and the scope, `now` is the caller's clock in Unix seconds.
    ///
    /// - Throws: `OAuthError` for a refusal, ``IssuerUnavailable`` for 408, 429 and 5xx, ``DeviceAuthorizationError``
    ///   for any other answer, `HTTPTransportError`.
    package func send(_ parameters: FormParameters, now: Int64) async throws -> DeviceAuthorization {
        var request = HTTPRequest.form(parameters, to: url)
        // Codes that were never shown end by themselves.
        request.isIdempotent = true
        let response = try await transport.send(request, limits: limits)
        if IssuerUnavailable.isMeant(by: response.status) { throw IssuerUnavailable(response, now: now) }
        // Only an object can carry codes or an error; everything else is judged by its status.
        let object = response.jsonObject()
        if let refusal = object.flatMap({ OAuthError($0, status: response.status) }) {
            throw parameters.redacting(refusal)
        }
        guard response.isSuccess, let object else { throw DeviceAuthorizationError.unusable(status: response.status) }
        return try DeviceAuthorization(object)
    }
}

/// What a person is to do on another device, and what this one asks with meanwhile
/// ([RFC 8628 §3.2](https://www.rfc-editor.org/rfc/rfc8628#section-3.2)).
public struct DeviceAuthorization: Sendable {
    let deviceCode: Secret

    /// The code to enter, printable as it is.
    public let userCode: String

    /// Where to enter it.
    public let verificationURI: String

    /// The same address with the code in it, for a QR code or a browser.
    public let verificationURIComplete: String?

    /// How long the codes are good.
    public let lifetime: Duration

    /// How long to wait between two requests to the token endpoint.
    public let interval: Duration

    private static let usualInterval = Duration.seconds(5)
    private static let usualLifetime = Duration.seconds(1_800)
    private static let longestLifetime = Duration.seconds(86_400)
    private static let longestUserCode = 64

    /// Reads the JSON of an answer.
    ///
    /// - Throws: ``DeviceAuthorizationError`` if the device code is missing, or the user code cannot be shown: it is
    ///   written to a terminal, which obeys control characters.
    init(_ object: JSONValue.Object) throws(DeviceAuthorizationError) {
        guard let deviceCode = object["device_code"]?.text, !deviceCode.isEmpty else {
            throw .incomplete("device_code")
        }
        guard let userCode = object["user_code"]?.text, !userCode.isEmpty, userCode.utf8.count <= Self.longestUserCode,
            userCode.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { throw .incomplete("user_code") }
        // Some issuers still use the name of a draft, and some write null for the other.
        guard let address = object["verification_uri"]?.text ?? object["verification_url"]?.text,
            WebAddress(secure: address) != nil
        else { throw .incomplete("verification_uri") }
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        verificationURI = address
        verificationURIComplete = object["verification_uri_complete"]?.text.flatMap {
            WebAddress(secure: $0) == nil ? nil : $0
        }
        lifetime = min(max(object["expires_in"]?.duration ?? Self.usualLifetime, .seconds(1)), Self.longestLifetime)
        interval = min(max(object["interval"]?.duration ?? Self.usualInterval, .seconds(1)), Self.longestLifetime)
    }

    /// What the token endpoint is asked with, beside the client.
    package func append(to form: inout FormParameters) { form.append("device_code", deviceCode) }
}

/// Why no device can be connected by what an issuer answered.
package enum DeviceAuthorizationError: Error, Hashable, CustomStringConvertible {
    /// The answer is neither an authorization nor an OAuth error.
    case unusable(status: Int)

    /// A field is missing, or is not fit to be shown to anyone.
    case incomplete(String)

    package var problem: String {
        switch self {
        case .unusable(let status):
            "the issuer answered the request for a device code with \(status) and no OAuth error"
        case .incomplete(let field):
            "the issuer's answer to the request for a device code has no usable \(field)"
        }
    }

    package var remedy: Remedy {
        switch self {
        case .unusable: .correct("check the authority")
        case .incomplete: Remedy(.useBrowser, "sign in with a browser")
        }
    }

    package var description: String { problem }
}
