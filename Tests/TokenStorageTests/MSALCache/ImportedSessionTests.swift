import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Documents over a session that the store has renewed itself.
@Suite(.onBothEngines)
struct ImportedSessionTests {
    /// What tells how old a document is that names no time beside its refresh token.
    enum Evidence: CaseIterable {
        case idToken, accessToken
    }

    /// A document with a refresh token as MSAL for Go and MSAL.NET write it, without a time.
    private func document(_ secret: String, at time: Int64, _ evidence: Evidence = .idToken) -> JSONValue {
        .cache(
            accessTokens: evidence == .accessToken ? [.accessToken("a", "s2", ["cached_at": .seconds(time)])] : [],
            refreshTokens: [.refreshToken(secret)],
            idTokens: evidence == .idToken ? [.idToken(Fixture.claims(["iat": .number("\(time)")]))] : []
        )
    }

    @Test(arguments: Evidence.allCases)
    func `a refresh token that a refresh brought without an ID token stays before older documents`(
        evidence: Evidence
    ) throws {
        let fixture = try TestStore(document("r1", at: Fixture.now - 900, evidence))
        try fixture.refresh(.new(["refresh_token": "r2"]))
        let between = document("r3", at: Fixture.now - 90, evidence)
        #expect(try fixture.take(between).refreshTokens == 0)
        #expect(try fixture.request("s9") == .refresh(["r2"]))
        #expect(try fixture.take(between).changes == 0)
        fixture.clock.seconds = Fixture.now + 90
        try fixture.take(document("r4", at: Fixture.now + 60, evidence))
        #expect(try fixture.request("s9") == .refresh(["r4"]))
    }
}
