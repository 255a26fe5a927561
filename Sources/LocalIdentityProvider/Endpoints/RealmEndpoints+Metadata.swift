/// Discovery and the key set of one issuer (OpenID Connect Discovery section 3).
extension RealmEndpoints {
    func metadata() throws -> Reply {
        let scopes = ScopeRequest.openIDScopes + realm.tenant.resources.flatMap(\.scopeNames)
        let authentication: JSON = ["none", "client_secret_post", "client_secret_basic"]
        return try .json([
            "issuer": .string(realm.issuer),
            "authorization_endpoint": .string(realm.url(.authorize)),
            "token_endpoint": .string(realm.url(.token)),
            "device_authorization_endpoint": .string(realm.url(.deviceCode)),
            "userinfo_endpoint": .string(realm.url(.userInfo)),
            "revocation_endpoint": .string(realm.url(.revoke)),
            "introspection_endpoint": .string(realm.url(.introspectToken)),
            "end_session_endpoint": .string(realm.url(.logout)),
            "jwks_uri": .string(realm.url(.keys)),
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

    func keys() async throws -> Reply {
        var reply = try await Reply.json(state.keys.published(for: realm))
        reply.headers["cache-control"] = "public, max-age=300"
        return reply
    }
}
