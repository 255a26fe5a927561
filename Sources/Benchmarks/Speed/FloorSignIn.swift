import OAuth

/// The texts of the rows that the store writes for a first sign-in, worked out before the clock runs.
///
/// The store reads them out of the response while the clock runs; the floor does not.
struct FloorSignIn {
    let texts: CTexts

    /// Names and values in turn.
    let claims: CTexts
    let now: Int64

    init(_ account: SampleAccount, now: Int64) {
        self.now = now
        let profile = """
            {"name":"\(account.name)","client_info":"\(account.clientInfo)","account_source":"authorization_code"}
            """
        // In the order of the enumeration in FloorStore.h.
        texts = CTexts([
            SampleAccount.authority, account.homeAccountID, account.uid, SampleAccount.tenant,
            SampleAccount.environment, "https://\(SampleAccount.environment)/\(SampleAccount.tenant)/v2.0",
            account.username, account.name, SampleAccount.client, SampleAccount.tenant, account.uid,
            "\(SampleAccount.scope(0)) openid profile", SampleAccount.scope(0), profile, account.idToken,
            account.refreshToken, account.accessToken(0),
        ])
        let unindexed: Set = ["iat", "nbf", "exp"]
        claims = CTexts(
            account.claims.filter { !unindexed.contains($0.name) }.flatMap { name, value -> [String] in
                guard value.hasPrefix("[") else { return [name, value] }
                return value.dropFirst().dropLast().split(separator: ",").flatMap { [name, String($0)] }
            }
        )
    }
}
