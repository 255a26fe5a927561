import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onBothEngines)
struct ImportTests {
    /// What an export must say of a document: the same values under any keys, with times and types normalised.
    private func entities(_ document: JSONValue) -> Set<JSONValue> {
        Set(
            (document.object?.members ?? []).flatMap { bucket, value in
                (value.object?.members ?? []).map { _, entity in
                    .object(.init([("bucket", .string(bucket)), ("entity", entity)]))
                }
            }
        )
    }

    private func expectRoundTrip(_ document: JSONValue, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let fixture = try TestStore()
        let report = try fixture.take(document)
        let export = try fixture.store.exportedText()
        #expect(try entities(JSONValue(parsing: export)) == entities(document), sourceLocation: sourceLocation)
        let again = try fixture.take(document)
        #expect(again.unchanged == entities(document).count - report.rejected.count, sourceLocation: sourceLocation)
        #expect(try fixture.store.exportedText() == export, sourceLocation: sourceLocation)
        #expect(try fixture.store.events().count == 1, sourceLocation: sourceLocation)
        let copy = try TestStore(JSONValue(parsing: export))
        #expect(try entities(copy.export()) == entities(document), sourceLocation: sourceLocation)
    }

    @Test func `the shipped fixture is exported as it was imported`() throws {
        let file = Repository.root.appending(path: "Tests/Fixtures/harbor.json")
        try expectRoundTrip(JSONValue(parsing: String(contentsOf: file, encoding: .utf8)))
    }

    @Test func `overlapping access tokens are all kept`() throws {
        try expectRoundTrip(
            .standardCache(.accessToken("a", "s1"), .accessToken("b", "s1 s2"), .accessToken("c", "s2 s1 s3"))
        )
    }

    @Test func `access tokens that differ in one property are all kept`() throws {
        let changes: [KeyValuePairs<String, JSONValue>] = [
            [:], ["realm": "t2"], ["client_id": "cid2"], ["environment": .string(Fixture.aliasHost)],
            ["token_type": "pop"],
            ["key_id": "k1", "kid": "k1"], ["requested_claims": "{\"a\":1}"], ["user_assertion_hash": "h"],
            ["ext_cache_key": "e"],
            ["application_cache_identifier": "i"], ["home_account_id": "u2.t1"], ["home_account_id": nil],
        ]
        try expectRoundTrip(.cache(accessTokens: changes.map { .accessToken("a", "s1", $0) }))
    }

    @Test func `refresh tokens of an account are all kept, one for each scope and family`() throws {
        try expectRoundTrip(
            .cache(refreshTokens: [
                .refreshToken("r1", ["target": "s1"]), .refreshToken("r2", ["target": "s2"]), .refreshToken("r3"),
                .refreshToken("r4", ["family_id": "1"]), .refreshToken("r5", ["family_id": "1", "target": "s1"]),
                .refreshToken("r6", ["environment": .string(Fixture.aliasHost)]),
            ])
        )
    }

    @Test func `what early releases of MSAL.NET and of MSAL for Node called by other names is read`() throws {
        let token = JSONValue.accessToken("a", "s1", ["extended_expires_on": nil, "ext_expires_on": "1900000000"])
        let document = JSONValue.cache(
            accessTokens: [token],
            refreshTokens: [.refreshToken("r1"), .refreshToken("r2", ["familyId": "1"])]
        )
        let fixture = try TestStore(document)
        let row = try fixture.rows("AccessToken")[0]
        #expect(row["extended_expires_on"] == "1900000000")
        #expect(row["ext_expires_on"] == "1900000000")
        let families = try fixture.rows("RefreshToken").map { ($0["secret"].text ?? "", $0["family_id"].text ?? "") }
        #expect(families.map { $0.0 + $0.1 }.sorted() == ["r1", "r21"])
        #expect(try fixture.take(fixture.export()).changes == 0)
    }

    @Test func `ID tokens of several hosts, tenants and clients are all kept, older ones too`() throws {
        try expectRoundTrip(
            .cache(idTokens: [
                .idToken(Fixture.claims(["iat": 1_789_999_999])),
                .idToken(Fixture.claims(["iat": 1_780_000_000]), ["environment": .string(Fixture.aliasHost)]),
                .idToken(Fixture.claims(["tid": "t2"]), ["realm": "t2"]),
                .idToken(Fixture.claims(), ["client_id": "cid2"]),
                .idToken(Fixture.claims(), ["secret": "not a token"]).with(["client_id": "cid3"]),
            ])
        )
    }

    @Test func `an account with two usernames in two tenants is exported with both`() throws {
        let rows: [JSONValue] = [
            .account(["realm": "t2", "username": "ada_example.net#EXT#@guest.net"]), .account(),
            .account(["realm": "t3", "username": "other"]),
        ]
        try expectRoundTrip(.cache(accounts: rows))
        let fixture = try TestStore(.cache(accounts: rows))
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
    }

    @Test(arguments: ["tfp", "harbor.onmicrosoft.com", "t9"])
    func `a refresh leaves the tokens of a user flow where the imported cache has them`(realm: String) throws {
        let place: KeyValuePairs<String, JSONValue> = [
            "home_account_id": .string(Fixture.b2cHome), "environment": .string(Fixture.b2cHost),
            "realm": .string(realm),
        ]
        let claims: JSONValue = ["iss": "https://harbor.b2clogin.com/t9/v2.0/", "sub": "o1", "tfp": "B2C_1_SignIn"]
        let fixture = try TestStore(
            .cache(
                accessTokens: [.accessToken("a", "s1", expiresIn: -10).with(place)],
                refreshTokens: [.refreshToken("r1").with(place, without: "realm")],
                idTokens: [.idToken(claims).with(place)],
                accounts: [.account().with(place)]
            )
        )
        let response = try TokenResponse.new([
            "client_info": .string(Fixture.clientInfo("o1-b2c_1_signin", "t9")), "refresh_token": "r2",
            "id_token": .string(Fixture.idToken(claims.with(["iat": 1_790_000_000]))),
        ])
        let authority = "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_SignIn"
        try fixture.refresh(response, of: Fixture.b2cAccount, at: authority)
        for bucket in ["AccessToken", "IdToken", "Account"] {
            #expect(try fixture.rows(bucket).map { $0["realm"] } == [.string(realm)], "\(bucket)")
        }
        for authority in [authority, nil] {
            #expect(try fixture.request("s1", of: Fixture.b2cAccount, at: authority) == .hit("new"))
        }
        #expect(try fixture.take(fixture.export()).changes == 0)
    }

    @Test(arguments: ["harbor.b2clogin.com", "login.harbor.example"], ["tfp", "harbor.onmicrosoft.com"])
    func `an account goes on that MSAL for Java knows by a longer id`(host: String, realm: String) throws {
        let user = "3f9a7b52-8c1d-4e60-a2b4-5d6e7f809112-b2c_1_signin"
        let tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"
        let id = JSONValue.string("\(user).\(tenant)-B2C_1_SignIn")
        let place: KeyValuePairs<String, JSONValue> = [
            "home_account_id": id, "environment": .string(host), "realm": .string(realm),
        ]
        let issuer = JSONValue.string("https://\(host)/\(tenant)/v2.0/")
        let claims: JSONValue = ["iss": issuer, "sub": "o1", "tfp": "B2C_1_SignIn"]
        let fixture = try TestStore(
            .cache(
                accessTokens: [.accessToken("a", "s1").with(place)],
                refreshTokens: [.refreshToken("r1").with(place, without: "realm")],
                idTokens: [.idToken(claims).with(place)],
                accounts: [.account().with(place)]
            )
        )
        let account = try #require(try fixture.store.accounts().first)
        #expect([account.uid, account.utid, account.userFlow] == [user, tenant, "b2c_1_signin"])
        #expect(account.id.issuer == host)
        let info = JSONValue.string(Fixture.clientInfo(user, tenant))
        try fixture.refresh(
            .new(["client_info": info, "refresh_token": "r2"]),
            of: account.id,
            at: "https://\(host)/tfp/\(tenant)/b2c_1_signin"
        )
        #expect(try fixture.currentRefreshToken(of: account.id).secret.reveal() == "r2")
        #expect(try fixture.request("s1", of: account.id) == .hit("new"))
        // The library finds its rows by the id that it gave them.
        for bucket in ["AccessToken", "RefreshToken", "IdToken", "Account"] {
            #expect(try fixture.rows(bucket).map { $0["home_account_id"] } == [id], "\(bucket)")
        }
    }

    @Test func `of many tokens of one account each is compared with the one of its scope`() throws {
        func document(_ name: String, at time: Int64, _ scope: (Int) -> String) -> JSONValue {
            let tokens = (0..<150).map { number in
                JSONValue.accessToken("\(name)\(number)", scope(number), ["cached_at": .seconds(time)])
            }
            return .cache(accessTokens: tokens, accounts: [.account()])
        }
        let first = document("a", at: Fixture.now - 20) { "s\($0)" }
        let fixture = try TestStore(first)
        #expect(try fixture.take(first).changes == 0)
        #expect(try fixture.take(document("b", at: Fixture.now - 30) { "s\($0)" }).accessTokens == 0)
        #expect(try fixture.take(document("c", at: Fixture.now - 10) { "S\($0)" }).accessTokens == 150)
        #expect(try fixture.rows("AccessToken").count == 150)
        #expect(try fixture.request("s149") == .hit("c149"))
        // Each one twice.
        #expect(try fixture.take(document("d", at: Fixture.now - 5) { "t\($0 / 2)" }).accessTokens == 75)
        #expect(try fixture.rows("AccessToken").count == 225)
    }

    @Test func `an import replaces only rows that are older than the document's`() throws {
        let fixture = try TestStore(
            .cache(
                accessTokens: [.accessToken("a2", "s1", ["cached_at": "1790000005"])],
                refreshTokens: [.refreshToken("r2", ["last_modification_time": "1790000005"])],
                idTokens: [.idToken(Fixture.claims(["iat": 1_790_000_005, "name": "New"]))]
            )
        )
        let older = JSONValue.cache(
            accessTokens: [.accessToken("a1", "s1", ["cached_at": "1790000001"])],
            refreshTokens: [.refreshToken("r1", ["last_modification_time": "1790000001"])],
            idTokens: [.idToken(Fixture.claims(["iat": 1_790_000_001, "name": "Old"]))]
        )
        let before = try fixture.store.exportedText()
        #expect(try fixture.take(older).unchanged == 3)
        #expect(try fixture.store.exportedText() == before)
        let newer = JSONValue.cache(
            accessTokens: [.accessToken("a3", "s1", ["cached_at": "1790000009"])],
            refreshTokens: [.refreshToken("r3", ["last_modification_time": "1790000009"])]
        )
        let report = try fixture.take(newer)
        #expect(report.accessTokens == 1)
        #expect(report.refreshTokens == 1)
        #expect(try fixture.request("s1") == .hit("a3"))
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r3"])
    }

    @Test(arguments: [nil, "soon"] as [JSONValue], [-5_000, 60] as [Int64])
    func `an access token that can be used stays before one that cannot, whenever it was cached`(
        time: JSONValue,
        left: Int64
    ) throws {
        let ended = JSONValue.accessToken("ended", "s1", expiresIn: left, ["cached_at": .seconds(Fixture.now - 9_000)])
        let good = JSONValue.accessToken("good", "s1", ["cached_at": time])
        for tokens in [[ended, good], [good, ended]] {
            let documents = tokens.map { JSONValue.cache(accessTokens: [$0], accounts: [.account()]) }
            let fixture = try TestStore()
            for document in documents { try fixture.take(document) }
            #expect(try fixture.request("s1") == .hit("good"))
            for document in documents { #expect(try fixture.take(document).changes == 0) }
        }
    }

    @Test func `an imported refresh token signs in again after a sign-out`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        try fixture.take(.cache(accounts: [.account()]))
        #expect(try fixture.request("s1") == .signIn(.signedOut))
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s2") == .refresh(["r1"]))
    }

    @Test func `a long import reports its progress`() throws {
        let fixture = try TestStore()
        var document = JSONValue.cache(accounts: (0..<1100).map { .account(["home_account_id": .string("u\($0).t1")]) })
            .serialized
        var steps: [Int] = []
        _ = try document.withUTF8 {
            try fixture.store.importMSALCache(UnsafeRawBufferPointer($0)) { steps.append($0.done) }
        }
        #expect(steps == [512, 1024, 1100])
    }
}
