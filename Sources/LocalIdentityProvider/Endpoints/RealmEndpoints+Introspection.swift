import Foundation

/// RFC 7662, for clients that can keep a secret.
extension RealmEndpoints {
    func introspect() async throws -> Reply {
        let client = try ClientRequest(authenticating: exchange, realm).client
        guard !client.isPublic else { throw ProtocolError.clientSecret }
        let token = try exchange.form.required("token")
        if let family = await state.grants.liveFamily(of: token), family.holder.tenantID == realm.tenant.id,
            await !state.users.isEnded(family.signedIn.userID, since: family.created)
        {
            return try .json([
                "active": true, "token_type": "refresh_token", "client_id": .string(family.holder.clientID),
                "scope": .string(family.scope), "iat": .integer(Int(family.currentIssued.timeIntervalSince1970)),
                "sub": .string(TokenMint.subject(of: family.signedIn.userID, for: family.holder.clientID)),
            ])
        }
        guard let verified = try await verifier.liveClaims(of: token),
            verified.realm.tenant.id == realm.tenant.id
        else { return try .json(["active": false]) }
        var members: [String: JSON] = ["active": true, "token_type": "Bearer"]
        for name in ["iss", "sub", "aud", "exp", "iat", "nbf", "jti", "oid", "tid"] {
            members[name] = verified.claims[name]
        }
        members["client_id"] = verified.claims["azp"]
        members["scope"] = verified.claims["scp"]
        return try .json(.object(members))
    }
}
