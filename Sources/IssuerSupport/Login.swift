package import HTTPTransport
package import LocalIdentityProvider
package import OAuth
import OpenIDConnect
package import TokenStorage

/// Signs a person in with a password, over HTTP.
package struct Login: Sendable {
    package static let ana = "ana.rojas@example.org"
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)
    private static let password = "Quinoa-7-Lunas"

    let provider: LocalIdentityProvider
    let transport: any HTTPTransport
    private var tenant: String { provider.baseURL + "/fabrikvine.onmicrosoft.com" }

    package init(provider: LocalIdentityProvider, transport: any HTTPTransport) {
        self.provider = provider
        self.transport = transport
    }

    package func response(client: String, scope: Scope) async throws -> TokenResponse {
        let types = ("challenge_type", "password redirect oob")
        let start = try await post("oauth2/v2.0/initiate", [("client_id", client), ("username", Self.ana), types])
        let challenge = try await post(
            "oauth2/v2.0/challenge",
            [("client_id", client), ("continuation_token", try token(start)), types]
        )
        let answer = try await post(
            "oauth2/v2.0/token",
            [
                ("client_id", client), ("grant_type", "password"), ("continuation_token", try token(challenge)),
                ("username", Self.ana), ("password", Self.password), ("client_info", "true"),
                ("scope", scope.text + " openid profile offline_access"), types,
            ]
        )
        let body = try JSONValue(parsing: answer.body.reveal())
        guard let object = body.object else { throw ExpectationFailure("a token response") }
        return TokenResponse(object)
    }

    /// Signs in and stores the answer, changed as a test needs it.
    @discardableResult
    package func signIn(
        to store: TokenStore,
        client: String,
        scope: Scope,
        _ change: (inout TokenResponse) -> Void = { _ in }
    ) async throws -> Account.ID {
        var response = try await response(client: client, scope: scope)
        change(&response)
        var request = TokenRequest(
            clientID: client,
            authority: try Authority(parsing: tenant),
            scope: scope,
            grant: Grant(rawValue: "password")
        )
        request.username = Self.ana
        guard let account = try await store.save(response, for: request).account else {
            throw ExpectationFailure("an account")
        }
        return account
    }

    private func post(_ path: String, _ fields: [(String, String)]) async throws -> HTTPResponse {
        var form = FormParameters()
        for (name, value) in fields { form.append(name, value) }
        let headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
        let request = HTTPRequest("POST", "\(tenant)/\(path)", headers: headers, body: form.encoded)
        let response = try await transport.send(request, limits: Self.limits)
        guard response.status == 200 else { throw ExpectationFailure("success at \(path): \(response.body.reveal())") }
        return response
    }

    private func token(_ response: HTTPResponse) throws -> String {
        let object = try JSONValue(parsing: response.body.reveal()).object
        guard let token = object?["continuation_token"]?.text else { throw ExpectationFailure("a continuation token") }
        return token
    }
}
