import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onBothEngines)
struct RoundTripTests {
    @Test func `an empty store exports an empty cache`() throws {
        let fixture = try TestStore()
        let document = try fixture.store.exportMSALCache()
        #expect(try document.withUnsafeBytes { try JSONValue(parsing: $0) } == [:])
    }

    @Test(arguments: [false, true])
    func `an account's home tenant stands behind others in an export`(isReversed: Bool) throws {
        let guest = JSONValue.account(["realm": "t2", "username": "ada#EXT#@example.com"])
        let rows: [JSONValue] = [guest, .account(["realm": "organizations"])]
        let fixture = try TestStore(.cache(accounts: isReversed ? rows.reversed() : rows))
        #expect(try fixture.rows("Account") == rows)
        #expect(try TestStore(fixture.export()).rows("Account") == rows)
    }

    @Test func `a domain means the tenant that an ID token of the store names`() throws {
        let realm: KeyValuePairs<String, JSONValue> = ["realm": "contoso.onmicrosoft.com"]
        let old = JSONValue.accessToken("old", "s1", realm).with(["cached_at": .seconds(Fixture.now - 1_000)])
        let fixture = try TestStore(
            .cache(
                accessTokens: [old],
                refreshTokens: [.refreshToken("r")],
                idTokens: [.idToken(Fixture.claims(), realm)]
            )
        )
        try fixture.take(.cache(accessTokens: [.accessToken("new", "s1", realm)], accounts: [.account(realm)]))
        #expect(try fixture.request("s1") == .hit("new"))
        #expect(try fixture.rows("AccessToken").count == 1)
        #expect(try fixture.take(try fixture.export()).changes == 0)
    }

    @Test func `an exported document is imported by another store`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let document = try fixture.store.exportMSALCache()
        let other = try TestStore()
        #expect(try other.store.importMSALCache(document).accessTokens == 1)
        #expect(try other.store.accounts().map(\.id) == fixture.store.accounts().map(\.id))
    }

    @Test func `a token that lasts longer than a calendar ends with the year 9999, and comes back`() throws {
        let fixture = try TestStore()
        let time: JSONValue = 99_999_999_999_999
        try fixture.signIn(.signIn(["expires_in": time, "ext_expires_in": time, "refresh_in": time]))
        let token = try #require(try fixture.rows("AccessToken").first)
        for name in ["expires_on", "extended_expires_on", "refresh_on"] { #expect(token[name] == "253402300799") }
        let other = try TestStore()
        let report = try other.store.importMSALCache(fixture.store.exportMSALCache())
        #expect(report.accessTokens == 1)
        #expect(report.rejected.isEmpty)
    }

    @Test(arguments: ["", " ", nil] as [JSONValue])
    func `a store takes every row of an export, also of a token without a scope`(scope: JSONValue) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["scope": scope]), scope: "")
        let document = try fixture.export()
        #expect(document["AccessToken"].object?.members.map { $0.value["target"] } == [""])
        #expect(try fixture.take(document).rejected == [])
        #expect(try fixture.take(document).changes == 0)
        let other = try TestStore()
        #expect(try other.take(document).rejected == [])
        for bucket in ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"] {
            #expect(try Set(other.rows(bucket)) == Set(fixture.rows(bucket)), "\(bucket)")
        }
    }

    @Test func `a store takes every row of an export, whatever characters a name has`() throws {
        let fixture = try TestStore()
        let claims = Fixture.claims([
            "preferred_username": "a\u{0}b", "name": "A\u{0}B", "given_name": "A", "family_name": "\u{0}",
        ])
        try fixture.signIn(.signIn(["id_token": .string(Fixture.idToken(claims))]))
        let document = try fixture.export()
        let other = try TestStore()
        #expect(try other.take(document).rejected == [])
        #expect(try other.rows("Account").map { $0["given_name"] } == ["A"])
        #expect(try Set(other.rows("Account")) == Set(fixture.rows("Account")))
    }

    @Test(arguments: [nil, 1] as [JSONValue])
    func `an access token whose scope is no text is not taken in`(scope: JSONValue) throws {
        let token = JSONValue.accessToken("a", "s1", ["target": scope])
        #expect(try TestStore().take(.cache(accessTokens: [token])).rejected.map(\.bucket) == ["AccessToken"])
    }

    @Test func `a token of type DPoP that a document has comes back`() throws {
        let token = JSONValue.accessToken("a", "s1", ["token_type": "DPoP", "key_id": "k"])
        let fixture = try TestStore(.cache(accessTokens: [token], accounts: [.account()]))
        #expect(try fixture.export()["AccessToken"].object?.members.map { $0.value["secret"] } == ["a"])
    }

    @Test(arguments: [nil, ""] as [JSONValue])
    func `a client's own token names no account as it did before`(account: JSONValue) throws {
        let token = JSONValue.accessToken("a", "s1", ["home_account_id": account])
        let fixture = try TestStore(.cache(accessTokens: [token]))
        #expect(try fixture.rows("AccessToken").map { $0["home_account_id"] } == [account])
        #expect(try fixture.take(.cache(accessTokens: [token])).unchanged == 1)
    }

    @Test func `a token of words in any script comes back, and can be used`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("clé d’accès", "s1")))
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["clé d’accès"])
        #expect(try fixture.request("s1") == .hit("clé d’accès"))
    }

    @Test(arguments: [false, true])
    func `of the ID tokens of a document the one that was issued last is the newest`(isReversed: Bool) throws {
        let tokens = [("old", 1_789_900_000), ("new", 1_789_999_990)].map { client, time in
            JSONValue.idToken(Fixture.claims(["iat": .number(String(time))]), ["client_id": .string(client)])
        }
        let document = JSONValue.cache(idTokens: isReversed ? tokens.reversed() : tokens, accounts: [.account()])
        let fixture = try TestStore(document)
        #expect(try fixture.store.idTokens(of: Fixture.account).map(\.clientID) == ["new", "old"])
    }
}
