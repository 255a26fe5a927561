import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Accounts with one subject at several issuers of one host, which a cache names alike.
@Suite(.onBothEngines)
struct SharedHostTests {
    private static let host = "https://id.example"
    private static let buckets = ["AccessToken", "RefreshToken", "IdToken", "Account"]

    @Test(arguments: [["", "/oauth2/default"], ["/oauth2/aus1", "/oauth2/default"], ["/realms/a", "/realms/b"]])
    func `accounts with one subject at two issuers of a host keep all their tokens`(paths: [String]) throws {
        let fixture = try TestStore()
        for path in paths { try fixture.signIn(subject: "1", atIssuer: Self.host + path, path) }
        let document = try fixture.export()
        let copy = try TestStore()
        #expect(try copy.take(document).rejected.isEmpty)
        #expect(try copy.store.status().accounts == 2)
        for path in paths {
            let account = Account.ID(issuer: Self.host + path, homeAccountID: "1")
            let tokens = try copy.store.refreshTokens(of: account, client: "app")
            #expect(tokens.map(\.secret) == [Secret("rt-" + path)])
            let idTokens = try copy.store.idTokens(of: account, client: "app")
            #expect(idTokens.map(\.idToken.claims.issuer) == [Self.host + path])
            #expect(try copy.request("read", of: account, client: "app") == .hit("at-" + path))
        }
        for bucket in Self.buckets {
            #expect(try Set(copy.rows(bucket)) == Set(document[bucket].object?.members.map(\.value) ?? []), "\(bucket)")
        }
        #expect(try fixture.take(document).changes == 0)
        #expect(try copy.take(document).changes == 0)
    }

    @Test func `an account whose issuer no document told stays one beside another`() throws {
        let host: KeyValuePairs<String, JSONValue> = [
            "home_account_id": "1", "environment": "id.example", "client_id": "app", "realm": "",
        ]
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("rt", host)], accounts: [.account(host)]))
        try fixture.signIn(subject: "1", atIssuer: Self.host + "/op", "op")
        let copy = try TestStore(fixture.export())
        let ids = try copy.store.accounts().map(\.id)
        #expect(Set(ids) == Set(try fixture.store.accounts().map(\.id)))
        for id in ids {
            let tokens = try copy.store.refreshTokens(of: id, client: "app").map(\.secret)
            #expect(tokens == [Secret(id.issuer == "id.example" ? "rt" : "rt-op")])
        }
    }

    @Test func `an entry without its issuer is of the account at its host that the document has made`() throws {
        let numbers = 0..<100
        let tokens = numbers.flatMap { number -> [JSONValue] in
            let row: KeyValuePairs<String, JSONValue> = [
                "environment": .string("h\(number).example"), "home_account_id": "1",
            ]
            let issuer = JSONValue.string("https://h\(number).example/op")
            return [
                .refreshToken("a\(number)", row).with(["client_id": "a", "account_issuer": issuer]),
                .refreshToken("b\(number)", row).with(["client_id": "b"]),
            ]
        }
        let fixture = try TestStore(.cache(refreshTokens: tokens))
        #expect(try fixture.store.accounts().count == numbers.count)
        for number in numbers {
            let account = Account.ID(issuer: "https://h\(number).example/op", homeAccountID: "1")
            let found = try fixture.store.refreshTokens(of: account, client: "b")
            #expect(found.map(\.secret) == [Secret("b\(number)")])
        }
    }

    @Test func `at many hosts with one id an export names the issuers of those that share a host`() throws {
        let fixture = try TestStore()
        for (host, path) in [("a", "/1"), ("a", "/2"), ("b", "/1"), ("c", "/1"), ("c", "/2")] {
            try fixture.signIn(subject: "1", atIssuer: "https://\(host).example\(path)", host + path)
        }
        let named = try fixture.rows("RefreshToken").compactMap { $0["account_issuer"].text }
        let shared = ["a.example/1", "a.example/2", "c.example/1", "c.example/2"]
        #expect(Set(named) == Set(shared.map { "https://" + $0 }))
        let other = try TestStore(fixture.export())
        #expect(try other.store.accounts().count == 5)
    }

    @Test func `an export names no issuer where id and host tell the account`() throws {
        let fixture = try TestStore()
        try fixture.signIn(subject: "1", atIssuer: Self.host + "/a", "a")
        try fixture.signIn(subject: "2", atIssuer: Self.host + "/b", "b")
        #expect(try !fixture.store.exportedText().contains("account_issuer"))
    }

    @Test(arguments: [["cid", "cid"], ["cid", "cid-2"]])
    func `persons whom a user flow gives no id are not taken for each other`(clients: [String]) throws {
        let fixture = try TestStore()
        let names = ["alice", "bob"]
        let documents = zip(names, clients).map { name, client in
            let row: KeyValuePairs<String, JSONValue> = [
                "home_account_id": "-b2c_1a_signin.t9", "environment": "harbor.b2clogin.com", "realm": "t9",
                "client_id": .string(client),
            ]
            let claims: JSONValue = [
                "iss": "https://harbor.b2clogin.com/t9/v2.0/", "sub": .string(name + "-sub"), "tid": "t9",
                "aud": .string(client), "preferred_username": .string(name),
            ]
            return JSONValue.cache(
                accessTokens: [.accessToken("at-" + name, "s1", row)],
                refreshTokens: [.refreshToken("rt-" + name, row)],
                idTokens: [.idToken(claims, row)],
                accounts: [.account(row).with(["local_account_id": .string(name + "-sub"), "username": .string(name)])]
            )
        }
        #expect(try fixture.take(documents[0]).rejected.isEmpty)
        let rejected = try fixture.take(documents[1]).rejected
        #expect(Set(rejected.map(\.bucket)) == ["AccessToken", "Account", "IdToken", "RefreshToken"])
        let account = try #require(try fixture.store.accounts().first)
        #expect(account.username == "alice")
        #expect(try fixture.request("s1", of: account.id, client: "cid") == .hit("at-alice"))
        #expect(try fixture.request("s1", of: account.id, client: "cid-2") != .hit("at-bob"))
        // Both persons' tokens come back out.
        #expect(Set(try fixture.rows("RefreshToken").map { $0["secret"] }) == ["rt-alice", "rt-bob"])
        #expect(try fixture.take(documents[0]).changes == 0)
    }

    @Test(arguments: zip(["id.example", Fixture.host], ["login.microsoftonline.com", "https://other.example/op"]))
    func `a name that is no issuer, or stands at Microsoft's hosts, is kept as it came`(host: String, name: String)
        throws
    {
        let row: KeyValuePairs<String, JSONValue> = ["environment": .string(host), "account_issuer": .string(name)]
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("rt", row)]))
        #expect(try fixture.rows("RefreshToken").map { $0["account_issuer"] } == [.string(name)])
        let issuer = host == Fixture.host ? Fixture.account.issuer : host
        #expect(try fixture.store.accounts().map(\.id.issuer) == [issuer])
    }
}

extension TestStore {
    /// Signs the user of an OpenID provider in to the client `app`; `name` ends the secrets of the tokens.
    func signIn(subject: String, atIssuer issuer: String, _ name: String) throws {
        var response = TokenResponse(accessToken: Secret("at-" + name), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-" + name)
        response.idToken = Secret(
            Fixture.idToken([
                "iss": .string(issuer), "sub": .string(subject), "aud": "app", "iat": .number(String(Fixture.now)),
                "exp": .number(String(Fixture.now + 600)),
            ])
        )
        let authority = try Authority(issuer: issuer)
        let request = TokenRequest(clientID: "app", authority: authority, scope: "read", grant: .authorizationCode)
        try store.save(response, for: request)
    }
}
