/// RFC 7009.
struct RevocationEndpoint: Sendable {
    let state: ProviderState

    /// Answers 200 for unknown tokens too (section 2.2).
    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        let client = try ClientAuthentication(realm: realm).client(exchange)
        let token = try exchange.form.required("token")
        if await !state.grants.revoke(token, client: client),
            let claims = try await TokenVerifier(state: state).claims(of: token)?.claims,
            claims["azp"]?.text == client.id, let id = claims["jti"]?.text
        {
            await state.grants.revokeAccessToken(id)
        }
        return try .json([:])
    }
}
