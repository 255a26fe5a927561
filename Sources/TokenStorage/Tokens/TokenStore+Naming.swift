package import OAuth

extension TokenStore {
    /// Names the account of a sign-in that was stored by what its issuer says besides the ID token, in one commit; one
    /// that has been removed meanwhile stays so.
    ///
    /// - Throws: ``TokenStoreError``.
    package func nameAccount(of response: TokenResponse, for request: TokenRequest, by claims: Claims) throws {
        try write { session in
            let identity = try session.filed(ResponseIdentity(response, request: request))
            guard let id = identity.account?.id, let row = try session.accountRow(id) else { return }
            let named = identity.account(namedBy: claims)
            let profile = identity.tenantProfile(
                account: named,
                environment: request.authority.environment,
                grant: request.grant,
                further: claims
            )
            guard try session.saveTenantProfile(profile, account: row, from: .signIn).change != .none else { return }
            try session.nameAccount(row, username: named.username, name: named.name, isHome: true)
            try session.record(.name, account: id, client: request.clientID)
        }
    }
}
