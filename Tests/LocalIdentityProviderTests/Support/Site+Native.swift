/// The native endpoints of the standard seed's tenant.
extension Site {
    func native(_ path: String, _ form: [String: String]) async throws -> Answer {
        try await post("\(tenant)/\(path)", form)
    }

    func token(_ client: String, _ form: [String: String]) async throws -> Answer {
        let defaults = ["client_id": client, "client_info": "true"]
        return try await native("oauth2/v2.0/token", defaults.merging(form) { _, given in given })
    }

    func initiate(_ client: String, _ username: String, types: String = everyType, capabilities: String? = nil)
        async throws
        -> Answer
    {
        var form = ["client_id": client, "username": username, "challenge_type": types]
        form["capabilities"] = capabilities
        return try await native("oauth2/v2.0/initiate", form)
    }

    func challenge(_ client: String, _ token: String, types: String = everyType, id: String? = nil) async throws
        -> Answer
    {
        var form = ["client_id": client, "continuation_token": token, "challenge_type": types]
        form["id"] = id
        return try await native("oauth2/v2.0/challenge", form)
    }

    /// Sign-in up to the challenge's answer.
    func challenged(_ client: String, _ username: String, capabilities: String? = nil) async throws -> Answer {
        let started = try await initiate(client, username, capabilities: capabilities)
        return try await challenge(client, started.token)
    }

    func signInWithPassword(
        _ username: String = ana,
        _ password: String = anasPassword,
        client: String = "pwd-app",
        capabilities: String? = nil,
        more: [String: String] = [:]
    ) async throws -> Answer {
        let challenged = try await challenged(client, username, capabilities: capabilities)
        let form = [
            "grant_type": "password", "continuation_token": try challenged.token, "username": username,
            "password": password, "scope": "openid profile offline_access", "challenge_type": Self.everyType,
        ]
        return try await token(client, form.merging(more) { _, given in given })
    }

    func signInWithCode(_ username: String = bo, client: String = "otp-app", more: [String: String] = [:]) async throws
        -> Answer
    {
        let challenged = try await challenged(client, username)
        let form = try [
            "grant_type": "oob", "continuation_token": challenged.token, "oob": code(to: username),
            "scope": "openid profile offline_access",
        ]
        return try await token(client, form.merging(more) { _, given in given })
    }

    func refresh(_ refreshToken: String, client: String, scope: String? = nil) async throws -> Answer {
        var form = ["grant_type": "refresh_token", "refresh_token": refreshToken]
        form["scope"] = scope
        return try await token(client, form)
    }

    func signUp(_ step: String, _ client: String, _ form: [String: String]) async throws -> Answer {
        try await native("signup/v1.0/\(step)", form.merging(["client_id": client]) { given, _ in given })
    }

    func startSignUp(_ client: String, _ username: String, _ more: [String: String] = [:]) async throws -> Answer {
        let form = ["username": username, "challenge_type": Self.everyType]
        return try await signUp("start", client, form.merging(more) { _, given in given })
    }

    func challengeSignUp(_ client: String, _ token: String) async throws -> Answer {
        try await signUp("challenge", client, ["continuation_token": token, "challenge_type": Self.everyType])
    }

    func reset(_ step: String, _ client: String, _ form: [String: String]) async throws -> Answer {
        try await native("resetpassword/v1.0/\(step)", form.merging(["client_id": client]) { given, _ in given })
    }

    func register(_ step: String, _ client: String, _ form: [String: String]) async throws -> Answer {
        try await native("register/v1.0/\(step)", form.merging(["client_id": client]) { given, _ in given })
    }
}
