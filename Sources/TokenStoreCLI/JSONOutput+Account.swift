import OAuth
import TokenStorage

extension JSONOutput {
    /// Writes the members of an account, whose names scripts rely on.
    mutating func members(of summary: AccountSummary, withTokens: Bool = false) {
        let account = summary.account
        member("homeAccountId", account.id.homeAccountID)
        identifier("localAccountId", summary.localAccountID)
        identifier("username", account.username)
        identifier("name", account.name)
        identifier("environment", account.environment)
        identifier("issuer", account.issuer)
        identifier("tenantId", summary.tenantID)
        identifier("policy", account.policy)
        array("clientIds", summary.clientIDs)
        member("signInState", summary.signInState.rawValue)
        member("hasRefreshToken", summary.hasRefreshToken)
        object("accessTokenCounts") {
            $0.member("valid", summary.validCount)
            $0.member("aging", summary.agingCount)
            $0.member("expired", summary.expiredCount)
        }
        time("nextExpiry", Timestamp(summary.nextExpiry))
        time("lastUsed", Timestamp(summary.lastUsed))
        if withTokens {
            array("accessTokens", summary.accessTokens) { token, json in json.object { $0.members(of: token) } }
        }
        array("tenantProfiles", account.tenantProfiles) { profile, json in json.object { $0.members(of: profile) } }
    }

    private mutating func members(of token: AccessTokenSummary) {
        identifier("clientId", token.clientID)
        array("scopes", token.scopes)
        member("tokenType", token.tokenType)
        member("state", token.state.rawValue)
        time("cachedAt", Timestamp(token.cachedAt))
        time("expiresAt", Timestamp(token.expiresAt))
        time("refreshAt", Timestamp(token.refreshAt))
    }

    private mutating func members(of profile: TenantProfile) {
        identifier("tenantId", profile.tenantID)
        identifier("localAccountId", profile.localAccountID)
        member("isHome", profile.isHome)
    }
}
