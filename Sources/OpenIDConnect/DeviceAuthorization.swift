import HTTPTransport
import OAuth

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

    /// Seconds until the codes end.
    public let lifetime: Int64

    /// Seconds between two requests to the token endpoint.
    public let interval: Int64

    private static let usualInterval: Int64 = 5
    private static let usualLifetime: Int64 = 1_800
    private static let longestLifetime: Int64 = 86_400
    private static let longestUserCode = 64

    /// Reads the JSON of an answer.
    ///
    /// - Throws: ``DeviceAuthorizationError`` if there is nothing to ask with, or nothing fit to be shown: what is shown
    ///   goes to a terminal, which obeys control characters.
    init(_ object: JSON.Object) throws(DeviceAuthorizationError) {
        guard let deviceCode = object["device_code"]?.text, !deviceCode.isEmpty else {
            throw .incomplete("device_code")
        }
        guard let userCode = object["user_code"]?.text, !userCode.isEmpty, userCode.utf8.count <= Self.longestUserCode,
            userCode.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { throw .incomplete("user_code") }
        // Some issuers still use the name of a draft.
        guard let address = (object["verification_uri"] ?? object["verification_url"])?.text,
            HTTPAddress(address) != nil
        else { throw .incomplete("verification_uri") }
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        verificationURI = address
        verificationURIComplete = object["verification_uri_complete"]?.text.flatMap {
            HTTPAddress($0) == nil ? nil : $0
        }
        lifetime = min(max(object["expires_in"]?.seconds ?? Self.usualLifetime, 1), Self.longestLifetime)
        interval = min(max(object["interval"]?.seconds ?? Self.usualInterval, 1), Self.longestLifetime)
    }

    /// What the token endpoint is asked with, beside the client.
    package func append(to form: inout FormParameters) { form.append("device_code", deviceCode) }
}
