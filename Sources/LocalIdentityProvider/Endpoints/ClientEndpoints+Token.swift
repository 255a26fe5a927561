/// `…/oauth2/v2.0/token`.
extension ClientEndpoints {
    func token() async throws -> Reply {
        switch try form.required("grant_type") {
        case "authorization_code":
            let (family, nonce) = try await state.grants.redeem(form, holder: holder)
            return try await mint(family.signedIn.userID, family.scope).tokens(of: family, nonce: nonce)
        case "refresh_token": return try await refresh()
        case Self.deviceGrant:
            let family = try await state.grants.pollDevice(form, holder: holder)
            return try await mint(family.signedIn.userID, family.scope).tokens(of: family)
        case let grant where Self.nativeGrants.contains(grant):
            try requireNative()
            return try await proceed()
        default: throw ProtocolError.unsupportedGrant
        }
    }

    /// Everything that can refuse comes before the token is spent, so that a refusal costs nothing.
    private func refresh() async throws -> Reply {
        let token = try form.required("refresh_token")
        let lifetime = realm.policy?.refreshTokenLifetime ?? Lifetime.refreshToken
        let family = try await state.grants.family(of: token, holder: holder, lifetime: lifetime)
        guard await !state.users.isEnded(family.signedIn.userID, since: family.created) else {
            await state.grants.end(family.id)
            throw ProtocolError.badRefreshToken
        }
        let hasContexts = Set(ClaimsRequest.contexts(form["claims"])).isSubset(of: family.signedIn.contexts)
        guard client.secondFactor == .never || hasContexts else { throw ProtocolError.secondFactorClaimed }
        let mint = try await mint(family.signedIn.userID, form["scope"] ?? family.scope)
        let child = try await state.grants.rotate(token, holder: holder, lifetime: lifetime)
        return try await mint.tokens(of: family, refreshToken: child)
    }

    /// Ready to sign, once the person agreed to the scopes and the claims provider answered.
    func mint(_ userID: String, _ scope: String?) async throws -> TokenMint {
        let user = try await state.users.user(userID)
        let scopes = try ScopeRequest(scope, tenant: tenant)
        let missing = scopes.missingConsent(await state.users.consents(of: user.id, to: client))
        guard missing.isEmpty else { throw ProtocolError.notConsented(missing) }
        let call = client.claimsProvider.map { ClaimsProviderCall(provider: $0, endpoints: self, user: user) }
        return TokenMint(endpoints: self, user: user, scopes: scopes, addedClaims: try await call?.claims() ?? [:])
    }
}
