/// What an access token's bearer may know of the person (OpenID Connect Core section 5.3).
struct UserInfoEndpoint: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        guard let token = exchange.bearer ?? exchange.form["access_token"] else { throw Self.refused(nil) }
        guard let verified = try await TokenVerifier(state: state).liveClaims(of: token),
            verified.realm.issuer == realm.issuer, verified.claims["aud"]?.text == realm.userInfoAudience,
            let subject = verified.claims["sub"], let userID = verified.claims["oid"]?.text
        else { throw Self.refused("invalid_token") }
        let scopes = Set((verified.claims["scp"]?.text ?? "").split(separator: " "))
        guard scopes.contains("openid") else { throw Self.refused("insufficient_scope", status: 403) }
        let user = try await state.users.user(userID)
        var members: [String: JSON] = ["sub": subject, "oid": .string(user.id)]
        if scopes.contains("profile") {
            members["name"] = .string(user.name)
            members["preferred_username"] = .string(user.email)
            for (name, value) in user.attributes {
                if let claim = realm.tenant.attribute(name)?.claim { members[claim] = .string(value) }
            }
        }
        if scopes.contains("email") { members["email"] = .string(user.email) }
        return try .json(.object(members))
    }

    /// RFC 6750 section 3: no error code when no token was sent.
    static func refused(_ code: String?, status: Int = 401) -> ProtocolError {
        var error = ProtocolError(
            code ?? "invalid_token",
            ErrorNumber.invalidParameter,
            "The access token is missing, expired, revoked or for something else. Ask for a new one.",
            status: status
        )
        error.headers["www-authenticate"] = code.map { #"Bearer error="\#($0)""# } ?? "Bearer"
        return error
    }
}
