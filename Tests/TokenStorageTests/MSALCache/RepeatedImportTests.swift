import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Documents that come again after the store has renewed what they hold, at an issuer that gives out each refresh token
/// for one use.
@Suite(.onBothEngines)
struct RepeatedImportTests {
    private static let issuer = "https://id.example/op"
    private static let account = Account.ID(issuer: issuer, homeAccountID: "u")
    private static let place: KeyValuePairs<String, JSONValue> = [
        "environment": "id.example", "home_account_id": "u",
    ]

    private func refreshToken(_ secret: String, _ target: String?, at time: Int64? = nil) -> JSONValue {
        var token = JSONValue.refreshToken(secret, Self.place)
        if let target { token = token.with(["target": .string(target)]) }
        if let time { token = token.with(["last_modification_time": .seconds(time)]) }
        return token
    }

    private func document(_ tokens: JSONValue..., at issued: Int64 = Fixture.now - 900) -> JSONValue {
        let claims: JSONValue = [
            "iss": .string(Self.issuer), "sub": "u", "aud": "cid", "iat": .number("\(issued)"),
        ]
        return .cache(refreshTokens: tokens, idTokens: [.idToken(claims, Self.place).with(["realm": "op"])])
    }

    /// Refreshes with the refresh token that is sent first; the issuer names a wider scope.
    private func refresh(_ fixture: TestStore, to secret: String) throws {
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(issuer: Self.issuer),
            scope: "read",
            grant: .refreshToken
        )
        let response = try TokenResponse.new(["refresh_token": .string(secret), "scope": "openid read"])
        let used = try #require(try fixture.store.refreshTokens(of: Self.account, client: Fixture.client).first)
        #expect(try fixture.store.save(response, for: request, refreshing: used).outcome == .stored)
    }

    private func secrets(_ fixture: TestStore) throws -> [String] {
        try fixture.rows("RefreshToken").map { $0["secret"].text ?? "" }.sorted()
    }

    @Test(arguments: [nil, "read", "openid read"], [nil, Fixture.now - 900])
    func `a document brings no refresh token back that a refresh has spent`(target: String?, time: Int64?) throws {
        let document = self.document(refreshToken("r0", target, at: time))
        let fixture = try TestStore(document)
        try refresh(fixture, to: "r1")
        #expect(try fixture.take(document).refreshTokens == 0)
        #expect(try secrets(fixture) == ["r1"])
        // Nor does it where no other token tells how old it is.
        #expect(try fixture.take(.cache(refreshTokens: [refreshToken("r0", target, at: time)])).refreshTokens == 0)
        #expect(try secrets(fixture) == ["r1"])
    }

    @Test func `a refresh token for another API, and a newer one, are taken in beside it`() throws {
        let fixture = try TestStore(document(refreshToken("r0", nil)))
        try refresh(fixture, to: "r1")
        #expect(try fixture.take(document(refreshToken("other", "write"))).refreshTokens == 1)
        fixture.clock.seconds = Fixture.now + 90
        #expect(try fixture.take(document(refreshToken("newer", nil), at: Fixture.now + 60)).refreshTokens == 1)
        #expect(try secrets(fixture) == ["newer", "other", "r1"])
    }
}
