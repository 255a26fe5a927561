import OAuth

extension SampleAccount {
    /// What a token endpoint answers when the account signs in.
    var response: TokenResponse {
        var response = TokenResponse(accessToken: Secret(accessToken(0)), expiresIn: 3_600)
        response.tokenType = "Bearer"
        response.refreshToken = Secret(refreshToken)
        response.idToken = Secret(idToken)
        response.clientInfo = clientInfo
        response.scope = Scope(Self.scope(0) + " openid profile")
        return response
    }

    /// What was asked of the token endpoint.
    static func request(grant: Grant = .authorizationCode) throws -> TokenRequest {
        TokenRequest(
            clientID: client,
            authority: try Authority(parsing: "https://\(environment)/\(tenant)"),
            scope: Scope(scope(0) + " openid profile offline_access"),
            grant: grant
        )
    }
}
