/// What an access token's bearer may know of the person (OpenID Connect Core section 5.3).
extension RealmEndpoints {
    func userInfo() async throws -> Reply {
        guard let token = exchange.bearer ?? exchange.form["access_token"] else { throw ProtocolError.accessToken(nil) }
        guard let verified = try await verifier.liveClaims(of: token),
            verified.realm.issuer == realm.issuer, verified.claims["aud"]?.text == realm.userInfoAudience,
            let subject = verified.claims["sub"], let userID = verified.claims["oid"]?.text
        else { throw ProtocolError.accessToken("invalid_token") }
        let scopes = Set((verified.claims["scp"]?.text ?? "").split(separator: " "))
        guard scopes.contains("openid") else { throw ProtocolError.accessToken("insufficient_scope", status: 403) }
        let user = try await state.users.user(userID)
        var members: [String: JSON] = ["sub": subject, "oid": .string(user.id)]
        if scopes.contains("profile") {
            members["name"] = .string(user.name)
            members["preferred_username"] = .string(user.email)
            for (name, value) in realm.tenant.claims(of: user.attributes) { members[name] = value }
        }
        if scopes.contains("email") { members["email"] = .string(user.email) }
        return try .json(.object(members))
    }
}
