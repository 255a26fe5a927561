import Logging
import OAuth
import OpenIDConnect
import SignIn
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the steps of one flow have in common.
struct NativeFlow: Sendable {
    let application: NativeAuthPublicClientApplication
    let username: String
    var scope = Scope([])
    var claims: JSONValue?

    /// What the requests are marked with.
    let correlationID: UUID

    /// The parameters of a page for new accounts.
    var isSignUp = false

    /// What the requests sent so far; every state of the flow adds to it.
    private let sent = SentSecrets()

    init(_ application: NativeAuthPublicClientApplication, username: String, correlationID: UUID? = nil) {
        self.application = application
        self.username = username
        self.correlationID = correlationID ?? UUID()
    }

    var configuration: NativeAuthConfiguration { application.configuration }

    /// A form with what every request has.
    func form(_ token: Secret? = nil) -> FormParameters {
        var form = FormParameters()
        form.append("client_id", configuration.clientID)
        form.append("continuation_token", token)
        return form
    }

    func send(
        _ endpoint: NativeEndpoint,
        _ form: FormParameters,
        within limit: Duration? = nil
    ) async throws(NativeRequestFailure) -> NativeResponse {
        var form = form
        // An issuer may repeat what an earlier step sent it.
        form.conceal(sent.add(form.secrets))
        return try await application.connection.send(endpoint, form, correlationID, within: limit)
    }

    /// Begins a flow at the endpoint for it.
    func start(
        _ endpoint: NativeEndpoint,
        password: Secret? = nil,
        attributes: String? = nil
    ) async throws(NativeRequestFailure) -> Secret {
        var form = form()
        form.append("username", username)
        form.append("challenge_type", configuration.challengeTypes.text)
        form.append("password", password)
        form.append("attributes", attributes)
        form.append("capabilities", configuration.capabilities.text)
        return try await send(endpoint, form).continuationToken()
    }

    /// Asks the issuer what it wants to see, or for another code.
    func challenge(
        _ endpoint: NativeEndpoint,
        _ token: Secret,
        method: AuthMethod? = nil
    ) async throws(NativeRequestFailure) -> NativeChallenge {
        var form = form(token)
        form.append("challenge_type", configuration.challengeTypes.text)
        form.append("id", method?.id)
        let reply = try await send(endpoint, form)
        let challenge = try reply.challenge()
        if case .preverified = challenge { throw reply.unexpected("asks for something unknown") }
        return challenge
    }

    /// Asks for another code; a challenge of another kind ends the flow.
    func code(
        _ endpoint: NativeEndpoint,
        _ token: Secret,
        method: AuthMethod? = nil
    ) async throws(NativeRequestFailure) -> (delivery: CodeDelivery, token: Secret) {
        guard case .code(let delivery, let token) = try await challenge(endpoint, token, method: method) else {
            throw unexpected("asks for a password where a code is due", at: endpoint).ending()
        }
        return (delivery, token)
    }

    /// The methods that a code can be sent by; the token before is spent, so that a failure ends the flow.
    func methods(_ endpoint: NativeEndpoint, _ token: Secret) async throws(NativeRequestFailure) -> (
        Secret, [AuthMethod]
    ) {
        do {
            let reply = try await send(endpoint, form(token))
            return (try reply.continuationToken(), try reply.methods())
        } catch {
            throw error.ending()
        }
    }

    func unexpected(_ flaw: String, at endpoint: NativeEndpoint) -> NativeRequestFailure {
        NativeRequestFailure(cause: .unexpected(flaw), correlationID: correlationID, endpoint: endpoint)
    }

    func failed(_ error: any Error) -> NativeRequestFailure {
        NativeRequestFailure(cause: .failed(error), correlationID: correlationID, isUnsent: true)
    }

    /// The same for a browser, with the claims that the issuer asks for, else those of the flow.
    func browserRequest(wanting asked: String?) -> InteractiveRequest {
        var request = InteractiveRequest(scope: scope)
        request.authority = configuration.authority
        request.loginHint = username
        request.claims = asked.flatMap { try? JSONValue(parsing: $0) } ?? claims
        request.prompt = isSignUp ? .create : nil
        return request
    }
}

/// The passwords, codes and tokens that a flow has sent, which none of its answers may show.
private final class SentSecrets: Sendable {
    private let secrets = LockedValue<[Secret]>([])

    /// Adds those of the next request, and returns those of the requests before it.
    func add(_ added: [Secret]) -> [Secret] {
        secrets.withLock { secrets in
            let earlier = secrets
            secrets += added.filter { !earlier.contains($0) }
            return earlier
        }
    }
}

extension NativeFlow {
    /// Nothing is sent for an empty code.
    func emptyCode<Kind>(_ kind: Kind) -> NativeAuthError<Kind> {
        NativeAuthError(kind, "the code is empty", correlationID)
    }

    /// Nothing is sent for an empty password.
    func emptyPassword<Kind>(_ kind: Kind) -> NativeAuthError<Kind> {
        NativeAuthError(kind, "the password is empty", correlationID)
    }

    /// Nothing is sent for a blank username.
    func blankUsername<Kind>(_ kind: Kind) -> NativeAuthError<Kind> {
        NativeAuthError(kind, "the username is empty", correlationID)
    }

    var hasBlankUsername: Bool { username.allSatisfy(\.isWhitespace) }
}
