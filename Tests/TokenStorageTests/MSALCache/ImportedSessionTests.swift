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

    /// What MSAL for Apple's systems knows of accounts; it says so in a record of its own.
    private func metadata(_ states: KeyValuePairs<String, JSONValue>) -> JSONValue {
        let items: [(name: String, value: JSONValue)] = states.map { home, state in
            (home, ["client_id": "cid", "sign_in_state": state])
        }
        let record: JSONValue = ["client_id": "cid", "account_metadata_map": .object(.init(items))]
        return ["AccessToken": [:], "AccountMetadataMap": ["cid": record]]
    }

    @Test func `a document that only says signed out ends no session`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let report = try fixture.take(metadata([Fixture.home: "signed_out"]))
        #expect(report.accounts == 0)
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .unknown)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.request("s9") == .refresh(["r1"]))
        // The tokens of a newer document tell that the account signed out later.
        let signedOut = metadata([Fixture.home: "signed_out"])["AccountMetadataMap"]
        let other = try TestStore(.standardCache(.accessToken("a", "s1")))
        try other.take(document("r2", at: Fixture.now - 1).with(["AccountMetadataMap": signedOut]))
        #expect(try other.request("s1") == .signIn(.signedOut))
    }

    @Test func `an account that a document signs out without a refresh token is named`() throws {
        let fixture = try TestStore(
            .cache(accessTokens: [.accessToken("a", "s1")], idTokens: [.idToken()], accounts: [.account()])
        )
        let report = try fixture.take(metadata([Fixture.home: "signed_out"]))
        #expect(report.accounts == 1)
        #expect(report.accountNames == ["ada@example.net"])
        #expect(try fixture.request("s1") == .signIn(.signedOut))
    }

    @Test func `a sign-out that was imported before is not repeated with another account's state`() throws {
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1")], accounts: [.account()]))
        try fixture.take(metadata([Fixture.home: "signed_out"]))
        try fixture.signIn(.signIn(without: "refresh_token"))
        let report = try fixture.take(metadata([Fixture.home: "signed_out", "u2.t1": "signed_in"]))
        #expect(report.other == 1)
        #expect(report.accounts == 0)
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedIn)
    }
}
