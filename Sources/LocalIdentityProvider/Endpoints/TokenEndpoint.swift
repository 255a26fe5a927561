/// `…/oauth2/v2.0/token`.
struct TokenEndpoint: Sendable {
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
    static let grantTypes: Set<String> = [
        "authorization_code", "refresh_token", deviceGrant, "password", "oob", "mfa_oob", "continuation_token",
    ]

    let state: ProviderState
    let request: ClientRequest

    func respond() async throws -> Reply {
        switch try request.form.required("grant_type") {
        case "authorization_code":
            let (code, family) = try await state.grants.redeem(request)
            return try await first(of: family, scope: code.request.scope, nonce: code.request.nonce)
        case "refresh_token": return try await refresh()
        case Self.deviceGrant:
            let (device, family) = try await state.grants.pollDevice(request)
            return try await first(of: family, scope: device.scope, nonce: nil)
        case let grant where Self.grantTypes.contains(grant):
            let request = try ClientRequest(native: request.exchange, request.realm)
            return try await NativeEndpoints(state: state, request: request).tokens(for: grant)
        default: throw ProtocolError.unsupportedGrant
        }
    }

    /// Everything that can refuse comes before the token is spent, so that a refusal costs nothing.
    private func refresh() async throws -> Reply {
        let token = try request.form.required("refresh_token")
        let family = try await state.grants.family(of: token, for: request)
        let user = try await state.users.user(family.signedIn.userID)
        if await state.users.isEnded(user.id, since: family.created) {
            await state.grants.end(family.id, because: "the password was reset")
            throw ProtocolError.badRefreshToken
        }
        let scopes = try ScopeRequest(request.form["scope"] ?? family.scope, tenant: request.realm.tenant)
        try await checkConsent(scopes, user: user)
        let hasContexts = Set(request.contexts).isSubset(of: family.signedIn.contexts)
        guard request.client.secondFactor == .never || hasContexts else { throw ProtocolError.secondFactorClaimed }
        let added = try await addedClaims(user)
        let child = try await state.grants.rotate(token, for: request)
        return try await tokens(of: family, user: user, scopes: scopes, addedClaims: added, refreshToken: child)
    }

    private func first(of family: RefreshFamily, scope: String, nonce: String?) async throws -> Reply {
        let user = try await state.users.user(family.signedIn.userID)
        let scopes = try ScopeRequest(scope, tenant: request.realm.tenant)
        let added = try await addedClaims(user)
        return try await tokens(of: family, user: user, scopes: scopes, addedClaims: added, nonce: nonce)
    }

    /// Signs tokens; without a `refreshToken` they are the first of their family and bring its first one.
    func tokens(
        of family: RefreshFamily,
        user: User,
        scopes: ScopeRequest,
        addedClaims: [String: JSON],
        nonce: String? = nil,
        refreshToken: String? = nil
    ) async throws -> Reply {
        var refreshToken = refreshToken
        if refreshToken == nil, scopes.isRefreshable { refreshToken = await state.grants.text(of: family) }
        let mint = TokenMint(
            state: state,
            request: request,
            user: user,
            family: family,
            scopes: scopes,
            nonce: nonce,
            addedClaims: addedClaims
        )
        return try await mint.tokens(refreshToken: refreshToken)
    }

    func addedClaims(_ user: User) async throws -> [String: JSON] {
        guard let provider = request.client.claimsProvider else { return [:] }
        return try await ClaimsProviderCall(provider: provider, request: request, user: user).claims()
    }

    func checkConsent(_ scopes: ScopeRequest, user: User) async throws {
        let missing = scopes.missingConsent(await state.users.consents(of: user.id, to: request.client))
        guard missing.isEmpty else { throw ProtocolError.notConsented(missing) }
    }
}
