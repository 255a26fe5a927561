import HTTPTransport
import OAuth
import OpenIDConnect
import TokenStorage

/// Answers of an issuer to what it is asked: tokens, device codes, errors; tokens are stored as any are.
struct TokenResponseInput: FuzzInput {
    private let scratch: ScratchStore
    private let requests: [TokenRequest]

    init() throws {
        scratch = try ScratchStore { _ in }
        requests = try [
            Authority(parsing: "https://login.microsoftonline.com/common"),
            Authority(parsing: "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_SI"),
            Authority(issuer: "https://id.example"),
        ].map { TokenRequest(clientID: "app", authority: $0, scope: "read openid", grant: .authorizationCode) }
    }

    func run(_ bytes: [UInt8]) async throws {
        let issuer = CannedIssuer(bytes)
        try await ask { form in
            let endpoint = DeviceAuthorizationEndpoint("https://id.example/device", transport: issuer)
            let device = try await endpoint.send(form, now: IDTokenInput.now)
            try hold(device.lifetime > 0 && device.interval > 0, "codes live, and are asked for now and then")
        }
        try await ask { _ in
            let endpoint = RevocationEndpoint("https://id.example/revoke", transport: issuer)
            try await endpoint.revoke(Secret("refresh"), clientID: "app")
        }
        try await ask { form in
            let endpoint = TokenEndpoint("https://id.example/token", transport: issuer)
            let answer = try await endpoint.send(.refreshToken, form, now: IDTokenInput.now)
            guard answer.response.accessToken != nil || answer.response.refreshToken != nil else { return }
            try store(answer.response)
        }
    }

    /// Makes one request, which may end in a refusal.
    private func ask(_ body: (FormParameters) async throws -> Void) async throws {
        var form = FormParameters()
        form.append("client_id", "app")
        form.append("refresh_token", Secret("refresh"))
        do {
            try await body(form)
        } catch let error as OAuthError {
            _ = (Refusal(error).isAboutToken, "\(error)")
            try hold(!"\(error)".contains("refresh="), "an error does not repeat what was sent")
        } catch let error {
            _ = try unlessRefused(
                by: IssuerUnavailable.self,
                UnusableAnswer.self,
                DeviceAuthorizationError.self,
                RevocationError.self
            ) { throw error }
        }
    }

    private func store(_ response: TokenResponse) throws {
        try scratch.restore()
        let store = try scratch.open()
        for request in requests {
            let saved = try unlessRefused(by: TokenStoreError.self) { try store.save(response, for: request) }
            guard let account = saved?.account else { continue }
            try hold(try store.accounts().contains { $0.id == account }, "an account that was saved is there")
        }
        try store.forEachAccount(withTokens: true) { _ in }
        let problems = try store.check()
        try hold(problems.isEmpty, "a store that took a response is sound, unlike \(problems)")
    }
}
