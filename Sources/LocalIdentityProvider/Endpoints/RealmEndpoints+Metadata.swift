/// Discovery and the key set of one issuer (OpenID Connect Discovery section 3).
extension RealmEndpoints {
    func metadata() throws -> Reply {
        let scopes = ScopeRequest.openIDScopes + realm.tenant.resources.flatMap(\.scopeNames)
        let authentication: JSON = ["none", "client_secret_post", "client_secret_basic"]
        return try .json([
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
            "grant_types_supported": .array(TokenEndpoint.grantTypes.sorted().map(JSON.string)),
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": [.string(realm.algorithm.rawValue)],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": authentication,
            "revocation_endpoint_auth_methods_supported": authentication,
            "introspection_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "prompt_values_supported": ["none", "login", "consent", "select_account", "create"],
            "claims_parameter_supported": true,
            "request_parameter_supported": false,
            "request_uri_parameter_supported": false,
            "scopes_supported": .array(scopes.map(JSON.string)),
            "claims_supported": [
                "iss", "aud", "sub", "oid", "tid", "tfp", "iat", "nbf", "exp", "auth_time", "amr", "nonce", "name",
                "preferred_username", "email", "given_name", "family_name",
            ],
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
}
