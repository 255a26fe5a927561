import Foundation
import OAuth

/// What a registered client asks for itself, without a browser.
struct ClientEndpoints: Sendable {
    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
    private static let nativeGrants = ["password", "oob", "mfa_oob", "continuation_token"]
    static let grantTypes = ["authorization_code", "refresh_token", deviceGrant] + nativeGrants

    let state: ProviderState
    let exchange: Exchange
    let realm: Realm
    let client: Client

    var form: Parameters { exchange.form }
    var tenant: Tenant { realm.tenant }
    var holder: Holder { realm.holder(client.id) }

    /// Requires a confidential client to prove that it knows its secret (RFC 6749 section 2.3).
    init(state: ProviderState, exchange: Exchange, realm: Realm) throws {
        self.state = state
        self.exchange = exchange
        self.realm = realm
        let basic = try exchange.authorization("basic").map(Self.credentials)
        client = try realm.client(basic?.id ?? exchange.form["client_id"])
        if exchange.route.isNative { try requireNative() }
        let secret = basic?.secret ?? exchange.form["client_secret"]
        guard secret.map(Secret.init) == client.secret.map(Secret.init) else { throw ProtocolError.clientSecret }
    }

    private func requireNative() throws {
        guard realm.policy == nil, client.isNativeEnabled else { throw ProtocolError.nativeDisabled }
    }

    /// RFC 6749 section 2.3.1: both halves are form-encoded before they are joined; an empty secret counts as missing.
    private static func credentials(_ text: String) throws -> (id: String?, secret: String?) {
        let halves = (Data(base64Encoded: text) ?? Data())
            .split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw ProtocolError.clientSecret }
        let decoded = try halves.map { try Parameters(urlEncoded: Array("v=".utf8) + $0)["v"] }
        return (decoded[0], decoded[1])
    }

    /// RFC 8628 section 3.1.
    func deviceCode() async throws -> Reply {
        let scope = form["scope"] ?? ScopeRequest.usual
        _ = try ScopeRequest(scope, tenant: tenant)
        let codes = await state.grants.beginDevice(holder, scope: scope)
        let page = realm.url(.device)
        return .object([
            "device_code": .string(codes.deviceCode), "user_code": .string(codes.userCode),
            "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(codes.userCode)"),
            "expires_in": .integer(Lifetime.deviceCode), "interval": .integer(Lifetime.devicePollInterval),
            "message": .string("Open \(page) and enter the code \(codes.userCode)."),
        ])
    }

    /// RFC 7009; answers 200 for unknown tokens too (section 2.2).
    func revoke() async throws -> Reply {
        let token = try form.required("token")
        if await !state.grants.revoke(token, holder: holder), let claims = try await state.claims(of: token)?.claims,
            claims["azp"]?.text == client.id, let id = claims["jti"]?.text
        {
            await state.grants.revokeAccessToken(id)
        }
        return .object([:])
    }

    /// RFC 7662, for clients that can keep a secret.
    func introspectToken() async throws -> Reply {
        guard !client.isPublic else { throw ProtocolError.clientSecret }
        let token = try form.required("token")
        if let family = await state.grants.liveFamily(of: token), family.holder.tenantID == tenant.id,
            await !state.hasEnded(family.signedIn)
        {
            return .object([
                "active": true, "token_type": "refresh_token", "client_id": .string(family.holder.clientID),
                "scope": .string(family.scope), "iat": .integer(Int(family.currentIssued.timeIntervalSince1970)),
                "sub": .string(TokenMint.subject(of: family.signedIn.userID, for: family.holder.clientID)),
            ])
        }
        guard let (claims, issuer) = try await state.liveClaims(of: token), issuer.tenant.id == tenant.id else {
            return .object(["active": false])
        }
        let told = ["iss", "sub", "aud", "exp", "iat", "nbf", "jti", "oid", "tid"]
        var members = claims.values.filter { told.contains($0.key) }
        members["active"] = true
        members["token_type"] = claims["cnf"] == nil ? "Bearer" : "DPoP"
        members["client_id"] = claims["azp"]
        members["scope"] = claims["scp"]
        return .json(JSONValue(members))
    }
}

/// `…/oauth2/v2.0/token`.
extension ClientEndpoints {
    func token() async throws -> Reply {
        let key = try state.proofs.thumbprint(exchange, baseURL: state.baseURL)
        switch try form.required("grant_type") {
        case "authorization_code":
            let (family, nonce) = try await state.grants.redeem(form, holder: holder, boundTo: key)
            try await requireLive(family, .badAuthorizationCode)
            return try await mint(family.signedIn.userID, family.scope).tokens(of: family, boundTo: key, nonce: nonce)
        case "refresh_token": return try await refresh(boundTo: key)
        case Self.deviceGrant:
            let family = try await state.grants.pollDevice(form, holder: holder, boundTo: key)
            try await requireLive(family, .unknownDevice)
            return try await mint(family.signedIn.userID, family.scope).tokens(of: family, boundTo: key)
        case let grant where Self.nativeGrants.contains(grant):
            try requireNative()
            return try await proceed()
        default: throw ProtocolError.unsupportedGrant
        }
    }

    /// Ends a family whose sign-in a password reset ended, be it before the family began, and refuses it.
    private func requireLive(_ family: Grants.Family, _ refusal: ProtocolError) async throws {
        guard await state.hasEnded(family.signedIn) else { return }
        await state.grants.end(family.id)
        throw refusal
    }

    /// Everything that can refuse comes before the token is spent, so that a refusal costs nothing.
    private func refresh(boundTo key: String?) async throws -> Reply {
        let token = try form.required("refresh_token")
        let lifetime = realm.policy?.refreshTokenLifetime ?? Lifetime.refreshToken
        let family = try await state.grants.family(of: token, holder: holder, lifetime: lifetime)
        guard family.thumbprint == nil || family.thumbprint == key else { throw ProtocolError.otherKey }
        try await requireLive(family, .badRefreshToken)
        let hasContexts = Set(ClaimsRequest.contexts(form["claims"])).isSubset(of: family.signedIn.contexts)
        guard client.secondFactor == .never || hasContexts else { throw ProtocolError.secondFactorClaimed }
        let mint = try await mint(family.signedIn.userID, form["scope"] ?? family.scope)
        let child = try await state.grants.rotate(token, holder: holder, lifetime: lifetime)
        return try await mint.tokens(of: family, boundTo: key, refreshToken: child)
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
