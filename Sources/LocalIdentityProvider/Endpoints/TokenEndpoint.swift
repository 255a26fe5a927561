import Foundation

/// `…/oauth2/v2.0/token`.
struct TokenEndpoint: Sendable {
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
    static let grantTypes: Set<String> = [
        "authorization_code", "refresh_token", deviceGrant, "password", "oob", "mfa_oob", "continuation_token",
    ]

    let state: ProviderState
    var mint: TokenMint { TokenMint(state: state) }

    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        let client = try ClientAuthentication(realm: realm).client(exchange)
        switch try exchange.form.required("grant_type") {
        case "authorization_code": return try await authorizationCode(exchange, realm, client)
        case "refresh_token": return try await refresh(exchange, realm, client)
        case Self.deviceGrant: return try await deviceCode(exchange, realm, client)
        case let grant where Self.grantTypes.contains(grant):
            return try await native(grant, NativeRequest(exchange, realm, state))
        default:
            throw ProtocolError("unsupported_grant_type", ErrorNumber.grant, "Use a grant that the metadata lists.")
        }
    }

    private func authorizationCode(_ exchange: Exchange, _ realm: Realm, _ client: Client) async throws -> Reply {
        let (code, family) = try await state.grants.redeem(
            code: exchange.form.required("code"),
            client: client,
            realm: realm,
            redirectURI: exchange.form.required("redirect_uri"),
            verifier: exchange.form["code_verifier"]
        )
        return try await begun(family, scope: code.scope, nonce: code.nonce, exchange, realm, client)
    }

    /// Everything that can refuse comes before the token is spent, so that a refusal costs nothing.
    private func refresh(_ exchange: Exchange, _ realm: Realm, _ client: Client) async throws -> Reply {
        let token = try exchange.form.required("refresh_token")
        let family = try await state.grants.family(of: token, client: client, realm: realm)
        let user = try await state.users.user(family.signedIn.userID)
        if await state.users.isEnded(user.id, since: family.created) {
            await state.grants.end(family.id, because: "the password was reset")
            throw ProtocolError.badRefreshToken
        }
        let scopes = try ScopeRequest(exchange.form["scope"] ?? family.scope, tenant: realm.tenant)
        try await checkConsent(scopes, user: user, client: client)
        let contexts = ClaimsRequest(exchange.form["claims"])?.contexts ?? []
        guard client.secondFactor == .never || Set(contexts).isSubset(of: family.signedIn.contexts) else {
            throw ProtocolError.invalidGrant(
                ErrorNumber.mfaRequired,
                "The API asks for a second factor. Sign in interactively."
            )
        }
        let added = try await addedClaims(exchange, realm, client, user)
        let child = try await state.grants.rotate(token, client: client, realm: realm)
        return try await mint.tokens(
            for: .init(
                realm: realm,
                client: client,
                user: user,
                signedIn: family.signedIn,
                scopes: scopes,
                familyID: family.id,
                refreshToken: child,
                addedClaims: added,
                idTokenFault: exchange.idTokenFault
            )
        )
    }

    private func deviceCode(_ exchange: Exchange, _ realm: Realm, _ client: Client) async throws -> Reply {
        let code = try exchange.form.required("device_code")
        let (device, family) = try await state.grants.pollDevice(code, client: client, realm: realm)
        return try await begun(family, scope: device.scope, nonce: nil, exchange, realm, client)
    }

    /// The first tokens of a family.
    private func begun(
        _ family: RefreshFamily,
        scope: String,
        nonce: String?,
        _ exchange: Exchange,
        _ realm: Realm,
        _ client: Client
    ) async throws -> Reply {
        let user = try await state.users.user(family.signedIn.userID)
        let scopes = try ScopeRequest(scope, tenant: realm.tenant)
        return try await mint.tokens(
            for: .init(
                realm: realm,
                client: client,
                user: user,
                signedIn: family.signedIn,
                scopes: scopes,
                familyID: family.id,
                refreshToken: scopes.isRefreshable ? await state.grants.text(of: family) : nil,
                nonce: nonce,
                addedClaims: addedClaims(exchange, realm, client, user),
                idTokenFault: exchange.idTokenFault
            )
        )
    }

    func addedClaims(_ exchange: Exchange, _ realm: Realm, _ client: Client, _ user: User) async throws -> [String:
        JSON]
    {
        guard let provider = client.claimsProvider else { return [:] }
        let call = ClaimsProviderCall(
            provider: provider,
            realm: realm,
            client: client,
            user: user,
            correlationID: exchange.correlationID
        )
        return try await call.claims()
    }

    func checkConsent(_ scopes: ScopeRequest, user: User, client: Client) async throws {
        let missing = scopes.missingConsent(await state.users.consents(of: user.id, to: client))
        guard missing.isEmpty else {
            throw ProtocolError.invalidGrant(
                ErrorNumber.notConsented,
                "Nobody agreed to \(missing.joined(separator: " ")). Sign in interactively to be asked.",
                suberror: "consent_required"
            )
        }
    }
}
