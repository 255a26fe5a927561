import HTTPTypes
import OAuth

/// The public endpoints of an issuer: its metadata and keys, and userinfo to the bearer of an access token.
struct IssuerEndpoints: Sendable {
    let state: ProviderState
    let exchange: Exchange
    let realm: Realm

    /// OpenID Connect Discovery section 3.
    func metadata() throws -> Reply {
        let scopes = ScopeRequest.openIDScopes + realm.tenant.resources.flatMap(\.scopeNames)
        let secrets: [JSONValue] = ["client_secret_post", "client_secret_basic"]
        return .object([
            "issuer": .string(realm.issuer),
            "authorization_endpoint": .string(url(.authorize)),
            "token_endpoint": .string(url(.token)),
            "device_authorization_endpoint": .string(url(.deviceCode)),
            "userinfo_endpoint": .string(url(.userInfo)),
            "revocation_endpoint": .string(url(.revoke)),
            "introspection_endpoint": .string(url(.introspectToken)),
            "end_session_endpoint": .string(url(.logout)),
            "jwks_uri": .string(url(.keys)),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": .array(ClientEndpoints.grantTypes.map(JSONValue.string)),
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": [.string(realm.tenant.algorithm.rawValue)],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": .array(["none"] + secrets),
            "revocation_endpoint_auth_methods_supported": .array(["none"] + secrets),
            "introspection_endpoint_auth_methods_supported": .array(secrets),
            "prompt_values_supported": ["none", "login", "consent", "select_account", "create"],
            "claims_parameter_supported": true,
            "request_uri_parameter_supported": false,
            "scopes_supported": .array(scopes.map(JSONValue.string)),
            "dpop_signing_alg_values_supported": state.proofs.settings.isSupported ? ["ES256"] : nil,
        ])
    }

    /// An endpoint in the form of the address that was asked for the metadata, with `tfp` or without it.
    private func url(_ route: Route) -> String {
        let url = realm.url(route)
        guard realm.policy != nil, exchange.head.path?.hasPrefix("/tfp/") == false else { return url }
        return url.replacing("/tfp/", with: "/", maxReplacements: 1)
    }

    func keys() async throws -> Reply {
        var reply = try await Reply.json(state.keys.published(for: realm))
        reply.headers["cache-control"] = "public, max-age=300"
        return reply
    }

    /// OpenID Connect Core section 5.3.
    func userInfo() async throws -> Reply {
        guard let token = try await state.presentedToken(exchange) else {
            throw ProtocolError.accessToken(nil)
        }
        guard let (claims, issuer) = try await state.liveClaims(of: token), issuer.issuer == realm.issuer,
            claims["aud"]?.text == realm.userInfoAudience
        else { throw ProtocolError.accessToken("invalid_token") }
        let scopes = claims.scopes
        guard scopes.contains("openid") else { throw ProtocolError.accessToken("insufficient_scope", status: 403) }
        let user = try await state.users.user(claims["oid"]?.text ?? "")
        var members = scopes.contains("profile") ? realm.tenant.claims(of: user.attributes) : [:]
        members["sub"] = claims["sub"]
        members["oid"] = .string(user.id)
        members["name"] = scopes.contains("profile") ? .string(user.name) : nil
        members["preferred_username"] = scopes.contains("profile") ? .string(user.email) : nil
        members["email"] = scopes.contains("email") ? .string(user.email) : nil
        return .json(JSONValue(members))
    }
}
