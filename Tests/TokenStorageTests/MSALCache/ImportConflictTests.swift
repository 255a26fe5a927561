import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Rows that stand in each other's way, in one document or in two.
@Suite(.onBothEngines)
struct ImportConflictTests {
    /// Every name in a document, with those of the objects in it.
    private func expectOwnNames(_ document: JSONValue, sourceLocation: SourceLocation = #_sourceLocation) {
        guard let members = document.object?.members else { return }
        #expect(Set(members.map { Array($0.name.utf8) }).count == members.count, sourceLocation: sourceLocation)
        for member in members { expectOwnNames(member.value, sourceLocation: sourceLocation) }
    }

    @Test func `every entry of an export has its own key`() throws {
        let fixture = try TestStore(
            .cache(
                accessTokens: [
                    .accessToken("a1", "s1"), .accessToken("a2", "s1", ["token_type": "pop", "key_id": "k1"]),
                    .accessToken("a3", "s1", ["token_type": "pop", "key_id": "k2"]), .accessToken("a4", "s1 s2"),
                    .accessToken("a5", "s2 s1"),
                ],
                refreshTokens: [.refreshToken("r1"), .refreshToken("r2", ["family_id": "1"])],
                accounts: [.account()]
            ).with(["Private": ["e\u{301}": 1, "\u{E9}": 2]])
        )
        let export = try fixture.export()
        expectOwnNames(export)
        #expect(export["AccessToken"].object?.members.count == 5)
        #expect(export["RefreshToken"].object?.members.count == 2)
        #expect(export["Private"].object?.members.map { Array($0.name.utf8).count } == [3, 2])
        #expect(try TestStore(export).export() == export)
    }

    @Test func `entries replace a bucket that was empty`() throws {
        let fixture = try TestStore(["AccessToken": [:], "Private": [:]])
        try fixture.take(["AccessToken": [:], "Private": ["k": 1]])
        #expect(try fixture.export() == ["AccessToken": [:], "Private": ["k": 1]])
    }

    @Test func `an export that holds nothing of MSAL's is a cache again`() throws {
        let fixture = try TestStore(["AccessToken": [:], "Private": ["k": 1]])
        let export = try fixture.export()
        #expect(try TestStore(export).export() == export)
    }

    @Test func `a token that cannot be decoded does not replace one that can`() throws {
        let fixture = try TestStore(.standardCache())
        let before = try fixture.export()
        #expect(try fixture.take(.cache(idTokens: [.idToken([:], ["secret": "garbage"])])).unchanged == 1)
        #expect(try fixture.export() == before)
        #expect(try fixture.store.accounts(matching: .claim("name", equals: "Ada")).count == 1)
    }

    @Test func `an account without names leaves the stored names`() throws {
        let fixture = try TestStore(.standardCache())
        try fixture.take(.cache(accounts: [.account(["local_account_id": nil, "username": ""])]))
        #expect(try fixture.rows("Account").map { $0["username"] } == ["ada@example.net"])
        #expect(try fixture.store.accounts(matching: .localAccountID("u1")).count == 1)
    }

    @Test func `an answer to a sign-in without names leaves the stored names`() throws {
        let fixture = try TestStore(.standardCache())
        try fixture.signIn(.signIn(without: "id_token"))
        #expect(try fixture.rows("Account").map { $0["local_account_id"] } == ["u1"])
        #expect(try fixture.rows("Account").map { $0["username"] } == ["ada@example.net"])
    }

    @Test func `an invalid row does not hide the one behind it`() throws {
        let document: JSONValue = ["AccessToken": ["KEY": .accessToken("a", "s1"), "key": ["foo": "bar"]]]
        let fixture = try TestStore()
        let report = try fixture.take(document)
        #expect(report.accessTokens == 1)
        #expect(report.rejected.count == 1)
        #expect(report.unchanged == 0)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.rows("AccessToken").count == 2)
    }

    @Test(arguments: ["AccessToken", "Private"])
    func `an entry that is kept aside is not replaced by an older one`(bucket: String) throws {
        func entry(_ secret: String, cachedAt time: Int64) -> JSONValue {
            let row = JSONValue.accessToken(secret, "s1", ["cached_at": .seconds(time), "expires_on": "soon"])
            return JSONValue.cache(accounts: [.account()]).with([bucket: ["k": row]])
        }
        let fixture = try TestStore(entry("b", cachedAt: Fixture.now - 10))
        let export = try fixture.export()
        try fixture.take(entry("a", cachedAt: Fixture.now - 20))
        #expect(try fixture.export() == export)
        try fixture.take(entry("c", cachedAt: Fixture.now - 10))
        try fixture.take(entry("d", cachedAt: Fixture.now + 90_000))
        #expect(try fixture.rows(bucket).map { $0["secret"] } == ["d"])
        // A time that is yet to come says nothing.
        try fixture.take(entry("e", cachedAt: Fixture.now))
        #expect(try fixture.rows(bucket).map { $0["secret"] } == ["e"])
    }

    @Test func `buckets of one name are one, and nothing changes twice`() throws {
        let tokens = ["a", "b"].map { JSONValue.accessToken($0, "s1").serialized }
        let document = """
            {"AccessToken": {"k": \(tokens[0])}, "AccessToken": {"k": \(tokens[1])},
            "Private": 1, "Private": 2, "Notes": {"m": 1, "n": 1}, "Notes": {"n": 2}}
            """
        let fixture = try TestStore()
        #expect(try fixture.store.take(document).accessTokens == 1)
        #expect(try fixture.store.take(document).changes == 0)
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["b"])
        let export = try fixture.export()
        #expect(export["Private"] == 2)
        #expect(export["Notes"]["m"] == 1)
        #expect(export["Notes"]["n"] == 2)
    }

    @Test func `of a key that is repeated the last entry counts, unless it makes no sense`() throws {
        let rows = ["a1", "a2"].map { JSONValue.accessToken($0, "s1").serialized }
        let document = #"{"AccessToken":{"k":\#(rows[0]),"k":\#(rows[1])},"Private":{"k":1,"k":2}}"#
        let fixture = try TestStore()
        let report = try fixture.store.take(document)
        #expect(report.accessTokens == 1)
        #expect(report.unchanged == 1)
        #expect(report.other == 1)
        #expect(try fixture.request("s1") == .hit("a2"))
        #expect(try fixture.export()["Private"] == ["k": 2])
        #expect(try fixture.store.take(document).changes == 0)
        #expect(try fixture.store.events().count == 1)
        let other = try TestStore()
        #expect(try other.store.take(#"{"AccessToken":{"k":\#(rows[0]),"k":{}}}"#).rejected.count == 1)
        #expect(try other.request("s1") == .hit("a1"))
    }

    @Test func `a token that replaces an older one of the same document is not counted`() throws {
        func rows(_ row: (String, JSONValue) -> JSONValue) -> [JSONValue] {
            [row("old", .seconds(Fixture.now - 20)), row("new", .seconds(Fixture.now - 10))]
        }
        let fixture = try TestStore()
        let report = try fixture.take(
            .cache(
                accessTokens: rows { .accessToken($0, "s1", ["cached_at": $1]) },
                refreshTokens: rows { .refreshToken($0, ["last_modification_time": $1]) },
                idTokens: rows { .idToken(Fixture.claims(["jti": .string($0), "iat": $1])) }
            )
        )
        #expect([report.accessTokens, report.refreshTokens, report.idTokens] == [1, 1, 1])
        #expect(report.unchanged == 3)
        #expect(try ["AccessToken", "RefreshToken"].map { try fixture.rows($0)[0]["secret"] } == ["new", "new"])
    }

    @Test func `of two rows of one client the first counts, and the second fills gaps`() throws {
        let document = JSONValue.cache(appMetadata: [
            .appMetadata(["family_id": "1", "x": "a"]),
            .appMetadata(["client_id": "CID", "x": "b", "y": "c"]),
        ])
        let fixture = try TestStore(document)
        let row = JSONValue.appMetadata(["family_id": "1", "x": "a", "y": "c"])
        #expect(try fixture.rows("AppMetadata") == [row])
        #expect(try fixture.take(document).changes == 0)
        #expect(try fixture.rows("AppMetadata") == [row])
    }

    @Test(arguments: [true, false])
    func `rows of a tenant and of its alias do not replace each other by turns`(isWordFirst: Bool) throws {
        func rows(_ row: JSONValue, _ secret: KeyValuePairs<String, JSONValue>) -> [JSONValue] {
            let rows = [row.with(["realm": "organizations"]), row.with(secret)]
            return isWordFirst ? rows : rows.reversed()
        }
        let document = JSONValue.cache(
            accessTokens: rows(.accessToken("word", "s1"), ["secret": "tenant"]),
            idTokens: rows(.idToken(), ["secret": .string(Fixture.idToken(Fixture.claims(["jti": "2"])))]),
            accounts: rows(.account(), [:])
        )
        let fixture = try TestStore(document)
        let export = try fixture.export()
        #expect(try fixture.take(document).changes == 0)
        #expect(try fixture.export() == export)
        #expect(try fixture.request("s1") == .hit("tenant"))
        for bucket in ["AccessToken", "IdToken", "Account"] {
            #expect(try fixture.rows(bucket).map { $0["realm"] } == ["t1"], "\(bucket)")
        }
    }

    @Test func `an unusual token type is exported, and an empty key id counts as absent`() throws {
        let fixture = try TestStore(
            .cache(
                accessTokens: [
                    .accessToken("a", "s1", ["credential_type": "AccessToken_With_AuthScheme"]),
                    .accessToken("b", "s2", ["token_type": "pop", "key_id": "", "kid": "k1"]),
                ],
                idTokens: [.idToken(Fixture.claims(), ["credential_type": "V1IdToken"])]
            )
        )
        #expect(try fixture.rows("AccessToken")[0]["credential_type"] == "AccessToken_With_AuthScheme")
        #expect(try fixture.rows("AccessToken")[1]["kid"] == "k1")
        #expect(try fixture.rows("IdToken").map { $0["credential_type"] } == ["V1IdToken"])
    }

    @Test(arguments: ["AccessToken", "AccessToken_With_AuthScheme"])
    func `a token that is bound to a key does not count as a Bearer token`(bucket: String) throws {
        let bound = JSONValue.accessToken("bound", "s1", ["credential_type": "AccessToken_With_AuthScheme"])
            .with([:], without: "token_type")
        // As MSAL Node writes it.
        let named = bound.with(["tokenType": "pop", "keyId": "k1"])
        let fixture = try TestStore(.standardCache(.accessToken("bearer", "s1")))
        let report = try fixture.take([bucket: ["odd": bound, "named": named]])
        #expect(report.accessTokens == 1)
        #expect(report.rejected.map(\.reason) == ["it is bound to a key, and has no token_type"])
        #expect(try fixture.request("s1") == .hit("bearer"))
        let found = try fixture.request("s1") { query in
            query.tokenType = "pop"
            query.keyID = "k1"
        }
        #expect(found == .hit("bound"))
        let export = try fixture.export()
        #expect(export[bucket]["odd"] == bound)
        let rows = try fixture.rows(bucket).filter { $0["tokenType"] == "pop" }
        #expect(rows.map { $0["keyId"] } == ["k1"])
        #expect(rows.map { $0["credential_type"] } == ["AccessToken_With_AuthScheme"])
        #expect(try fixture.take(export).changes == 0)
    }

    @Test(arguments: ["harbor.onmicrosoft.com", "t9"])
    func `a user flow has one tenant under all names in its rows`(realm: JSONValue) throws {
        let row: KeyValuePairs<String, JSONValue> = [
            "home_account_id": .string(Fixture.b2cHome), "environment": .string(Fixture.b2cHost), "realm": realm,
        ]
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1", row)]))
        #expect(try fixture.request("s1", of: Fixture.b2cAccount) == .hit("a"))
    }

    @Test func `entries whose keys differ in case alone are two where the tokens are of two kinds`() throws {
        let bearer = JSONValue.accessToken("bearer", "s1")
        let bound = JSONValue.accessToken("bound", "s1", ["token_type": "pop", "key_id": "k1"])
        let fixture = try TestStore(["AccessToken": ["u1.t1-S1": bound, "u1.t1-s1": bearer]])
        #expect(Set(try fixture.rows("AccessToken").map { $0["secret"] }) == ["bearer", "bound"])
    }

    @Test func `metadata whose keys differ in case alone is one, whatever the family`() throws {
        let (old, new) = (JSONValue.appMetadata(), JSONValue.appMetadata(["family_id": "1"]))
        let fixture = try TestStore(["AppMetadata": ["AppMetaData-host-cid": old, "appmetadata-host-cid": new]])
        #expect(try fixture.rows("AppMetadata").map { $0["family_id"] } == ["1"])
    }

    @Test func `a domain means the tenant that the account's ID token names`() throws {
        let realm: KeyValuePairs<String, JSONValue> = ["realm": "contoso.onmicrosoft.com"]
        let document = JSONValue.cache(
            accessTokens: [.accessToken("a", "s1", realm)],
            idTokens: [.idToken(Fixture.claims(), realm)]
        )
        let fixture = try TestStore(document)
        #expect(try fixture.request("s1") == .hit("a"))
        for authority in ["microsoftonline.com/t1", "microsoftonline.com/Contoso.OnMicrosoft.com", "windows.net/t1"] {
            #expect(try fixture.request("s1", at: "https://login.\(authority)") == .hit("a"), "\(authority)")
        }
        #expect(try fixture.rows("AccessToken").map { $0["realm"] } == ["contoso.onmicrosoft.com"])
    }

    @Test func `an issuer that is no address makes no account of Microsoft's`() throws {
        let host: KeyValuePairs<String, JSONValue> = ["environment": "evil.example"]
        let planted = JSONValue.cache(idTokens: [.idToken(Fixture.claims(["iss": "login.windows.net"]), host)])
        for documents in [[planted, .standardCache()], [.standardCache(), planted]] {
            let fixture = try TestStore()
            for document in documents { try fixture.take(document) }
            let accounts = try fixture.store.accounts()
            #expect(Set(accounts.map(\.id.issuer)) == ["evil.example", "login.windows.net"])
            #expect(accounts.first { $0.id == Fixture.account }?.environment == Fixture.host)
        }
    }

    @Test func `a document follows no issuer that an earlier one named at another host`() throws {
        let host: KeyValuePairs<String, JSONValue> = ["environment": "id.example", "home_account_id": "u"]
        let claims: JSONValue = ["iss": "https://evil.example/x", "sub": "u", "aud": "cid"]
        let fixture = try TestStore(.cache(idTokens: [.idToken(claims, host)]))
        try fixture.take(.cache(refreshTokens: [.refreshToken("r", host)], accounts: [.account(host)]))
        let own = Account.ID(issuer: "id.example", homeAccountID: "u")
        #expect(try fixture.store.refreshTokens(of: own, client: "cid", family: nil).map(\.secret) == [Secret("r")])
    }

    @Test func `keys that differ only in case are one entry only if they name one account`() throws {
        func entries(_ bucket: (String) -> JSONValue) -> JSONValue {
            .object(.init([("SUB-key", bucket("SUB")), ("sub-key", bucket("sub"))]))
        }
        func row(_ id: String) -> KeyValuePairs<String, JSONValue> {
            ["environment": "id.example", "home_account_id": .string(id)]
        }
        let document = JSONValue.object(
            .init([
                ("RefreshToken", entries { .refreshToken("r-" + $0, row($0)) }),
                ("Account", entries { .account(row($0)) }),
            ])
        )
        let fixture = try TestStore(document)
        #expect(Set(try fixture.rows("RefreshToken").map { $0["secret"].text }) == ["r-SUB", "r-sub"])
        #expect(try fixture.store.status().accounts == 2)
    }
}
