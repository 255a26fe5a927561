public import OAuth
import TokenStorage

/// A person of one tenant of Microsoft's cloud who is a guest of another.
public enum Guest {
    public static let home = "aaaaaaaa-0000-4000-8000-000000000001"
    public static let other = "bbbbbbbb-0000-4000-8000-000000000002"

    private static let id = "11111111-0000-4000-8000-000000000001"
    private static let idAtOther = "22222222-0000-4000-8000-000000000002"

    /// Signs the person in at one of the two tenants, for `s1`; the secrets are `at-` and `rt-` with the tenant.
    public static func signIn(to fixture: TestStore, at tenant: String) throws -> Account? {
        let issuer = "https://login.microsoftonline.com/\(tenant)"
        var response = TokenResponse(accessToken: Secret("at-\(tenant)"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-\(tenant)")
        response.clientInfo = Fixture.clientInfo(id, home)
        response.idToken = Secret(
            Fixture.idToken([
                "iss": .string("\(issuer)/v2.0"), "aud": .string(Fixture.client), "sub": "s", "tid": .string(tenant),
                "oid": .string(tenant == home ? id : idAtOther),
            ])
        )
        return try fixture.signIn(response, scope: "s1", at: issuer).account.flatMap { try fixture.store.account($0) }
    }
}
