import Database
import OAuth

/// What storing an answer asks about an account that is there, asked at once: each question that waits for the one
/// before it costs the way to the server and back.
extension StoreConnection {
    /// Asks a server what a sign-in will ask about an account in a row that it has found.
    func askAhead(about identity: ResponseIdentity, in row: Int64, _ response: TokenResponse, _ request: TokenRequest)
        throws
    {
        guard connection.isServer else { return }
        let (client, realm) = (request.clientID, Realm(identity.realm))
        try askAheadForTenantProfile(row, realm: realm.fold, environment: request.authority.environment)
        try askAheadForBoundKey(row, client: client)
        try askAheadForRefreshTokens(row, client: client, family: response.familyID)
        if let account = identity.account?.id {
            try askAheadForTenant(of: request.authority, account: account, client: client)
        }
        try askAheadAboutTokens(response, request, realm, row)
    }

    /// Asks a server what the answer to a refresh will ask.
    func askAhead(about used: StoredRefreshToken, _ response: TokenResponse, _ request: TokenRequest) throws {
        guard connection.isServer, let row = try accountRow(used.account) else { return }
        try askAheadForRotation(of: used, account: row)
        let tenant = namedTenant(response, request) ?? plainTenant(of: request.authority, account: used.account) ?? ""
        try askAheadForTenant(of: request.authority, account: used.account, client: request.clientID)
        try askAheadForRealm(tenant, of: row, environment: request.authority.environment)
        if response.idToken != nil {
            try askAheadForTenantProfile(row, realm: tenant.folded, environment: request.authority.environment)
        }
        try askAheadAboutTokens(response, request, Realm(tenant), row)
    }

    /// nil also where the answer contradicts itself, which is reported when it is stored.
    private func namedTenant(_ response: TokenResponse, _ request: TokenRequest) -> String? {
        do { return try ResponseIdentity(response, request: request).namedTenant } catch { return nil }
    }

    private func askAheadAboutTokens(
        _ response: TokenResponse,
        _ request: TokenRequest,
        _ realm: Realm,
        _ row: Int64
    ) throws {
        try askAheadForChange(ofAccount: row)
        try askAheadForState(of: row, client: request.clientID)
        try askAheadForIDToken(of: request, realm: realm.fold, account: row)
        if let token = AccessTokenRow(response, request: request, realm: realm, now: now) {
            try askAheadForAccessTokens(like: token, account: row)
        }
    }
}
