public import HTTPTransport
public import OAuth
import OpenIDConnect
package import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Signs in a person who decides on another device, such as a telephone
/// ([RFC 8628](https://www.rfc-editor.org/rfc/rfc8628)).
///
/// It stores nothing: what it returns has been checked and is to be saved in one commit.
///
/// ```swift
/// let device = try await DeviceCodeFlow(clientID: "my-app", transport: transport).begin("api://todo/Read", at: authority)
/// print("Open \(device.authorization.verificationURI) and enter \(device.authorization.userCode).")
/// let account = try store.keep(try await device.tokens()).account
/// ```
public struct DeviceCodeFlow: Sendable {
    public let clientID: String
    let transport: any HTTPTransport

    /// The limits of each request to the issuer.
    public var limits = HTTPLimits.issuer

    /// How long the person may take, if that is less than the codes live.
    public var timeLimit: Duration?

    public var now: @Sendable () -> Date = { Date() }

    /// Takes room for the answer before the codes are redeemed.
    package var answerSpace: @Sendable () async throws -> AnswerSpace? = { nil }

    /// How the time between two requests is waited.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    public init(clientID: String, transport: any HTTPTransport) {
        self.clientID = clientID
        self.transport = transport
    }

    /// The time in Unix seconds.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }

    /// Asks the issuer for the codes; the scopes for an ID token and a refresh token are added to `scope`.
    ///
    /// - Throws: ``SignInError``.
    public func begin(_ scope: Scope, at authority: Authority) async throws -> PendingDevice {
        do {
            let issuer = try await IssuerAccess(authority, transport: transport, limits: limits)
            guard let url = issuer.metadata.deviceAuthorizationEndpoint else {
                throw SignInError.noDeviceEndpoint(issuer.metadata.issuer)
            }
            let scope = AuthorizationCodeFlow.scope(scope, authority, issuer.metadata)
            var form = FormParameters()
            form.append("client_id", clientID)
            form.append("scope", scope.text)
            let endpoint = DeviceAuthorizationEndpoint(url, transport: transport, limits: limits)
            let authorization = try await endpoint.send(form, now: seconds)
            let lifetime = Duration.seconds(authorization.lifetime)
            let request = TokenRequest(clientID: clientID, authority: authority, scope: scope, grant: .deviceCode)
            return PendingDevice(
                authorization: authorization,
                flow: self,
                issuer: issuer,
                request: request,
                timeLimit: timeLimit.map { min($0, lifetime) } ?? lifetime,
                startedAt: now()
            )
        } catch {
            throw SignInError(wrapping: error)
        }
    }
}
