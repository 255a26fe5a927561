import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Documents that are older than what the store has, most of which name no time.
@Suite(.onBothEngines)
struct OlderImportTests {
    /// A cache of one account at some time, as libraries write it that put no time beside a refresh token.
    private func document(_ name: String, at issued: Int64) -> JSONValue {
        .cache(
            accessTokens: [.accessToken("a-" + name, "s1", ["cached_at": .seconds(issued)])],
            refreshTokens: [.refreshToken("r-" + name)],
            idTokens: [
                .idToken(
                    Fixture.claims(["iat": .number("\(issued)"), "preferred_username": .string(name + "@example.net")])
                )
            ],
            accounts: [.account(["username": .string(name + "@example.net")])]
        )
    }

    private var older: JSONValue { document("old", at: Fixture.now - 900) }
    private var newer: JSONValue { document("new", at: Fixture.now - 90) }

    @Test func `an older document replaces neither the refresh token nor the names, in any order`() throws {
        for documents in [[newer, older], [older, newer], [older, newer, older]] {
            let fixture = try TestStore()
            for document in documents { try fixture.take(document) }
            #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r-new"])
            #expect(try fixture.rows("Account").map { $0["username"] } == ["new@example.net"])
            #expect(try fixture.store.accounts().map(\.username) == ["new@example.net"])
            #expect(try fixture.take(older).changes == 0)
            #expect(try fixture.take(newer).changes == 0)
        }
    }

    @Test func `an older document neither signs an account out nor takes its client out of a family`() throws {
        func snapshot(_ name: String, at issued: Int64, _ state: JSONValue, _ family: JSONValue) -> JSONValue {
            let item: JSONValue = ["client_id": "cid", "sign_in_state": state]
            let record: JSONValue = ["client_id": "cid", "account_metadata_map": ["u1.t1": item]]
            return document(name, at: issued).with([
                "AppMetadata": ["k": .appMetadata(["family_id": family])], "AccountMetadataMap": ["cid": record],
            ])
        }
        let newer = snapshot("new", at: Fixture.now - 90, "signed_in", "1")
        for family: JSONValue in [nil, ""] {
            let older = snapshot("old", at: Fixture.now - 900, "signed_out", family)
            for documents in [[newer, older], [older, newer], [older, newer, older]] {
                let fixture = try TestStore()
                for document in documents { try fixture.take(document) }
                #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedIn)
                #expect(try fixture.rows("AppMetadata").map { $0["family_id"] } == ["1"])
                let record = try fixture.export()["AccountMetadataMap"]["cid"]["account_metadata_map"]
                #expect(record["u1.t1"]["sign_in_state"] == "signed_in")
            }
        }
    }

    @Test(arguments: ["t1", "organizations"], ["t1", "organizations"])
    func `a newer document renames an account, whatever it calls the tenant`(first: String, second: String) throws {
        func document(_ name: String, at issued: Int64, in realm: String) -> JSONValue {
            let place: KeyValuePairs<String, JSONValue> = ["realm": .string(realm)]
            let username = JSONValue.string(name + "@example.net")
            let claims = Fixture.claims([
                "iat": .number("\(issued)"), "preferred_username": username, "name": .string(name),
            ])
            let account = JSONValue.account(place).with(["username": username])
            return .cache(idTokens: [.idToken(claims, place)], accounts: [account])
        }
        let older = document("old", at: Fixture.now - 900, in: first)
        let newer = document("new", at: Fixture.now - 90, in: second)
        let fixture = try TestStore(older)
        try fixture.take(newer)
        for document in [older, newer] { #expect(try fixture.take(document).changes == 0) }
        #expect(try fixture.store.accounts().map(\.username) == ["new@example.net"])
        #expect(try fixture.store.accounts().map(\.name) == ["new"])
        #expect(try fixture.rows("Account").map { $0["username"] } == ["new@example.net"])
    }

    @Test func `an ID token without the time of its issue replaces none, unless a sign-in brings it`() throws {
        let timed = JSONValue.idToken()
        func untimed(_ id: JSONValue) -> JSONValue {
            .idToken(Fixture.claims(["jti": id]).with([:], without: "iat"))
        }
        let documents: [(tokens: [JSONValue], kept: JSONValue)] = [
            ([untimed("1"), untimed("2")], untimed("1")), ([timed, untimed("1")], timed),
            ([untimed("1"), timed], timed),
        ]
        for (tokens, kept) in documents {
            let document = JSONValue.cache(idTokens: tokens)
            let fixture = try TestStore(document)
            #expect(try fixture.rows("IdToken") == [kept])
            #expect(try fixture.take(document).changes == 0)
            let signedIn = untimed("3")["secret"]
            try fixture.signIn(.signIn(["id_token": signedIn]))
            #expect(try fixture.rows("IdToken").map { $0["secret"] } == [signedIn])
        }
    }

    @Test func `a newer document does not change where the tokens of an account are sent`() throws {
        let fixture = try TestStore(.standardCache())
        let issuer = try fixture.store.accounts().map(\.issuer)
        let planted = Fixture.claims(["iss": "https://evil.example/t1/v2.0", "iat": .number("\(Fixture.now)")])
        #expect(try fixture.take(.cache(idTokens: [.idToken(planted)])).idTokens == 1)
        #expect(try fixture.store.accounts().map(\.issuer) == issuer)
    }

    @Test(arguments: ["harbor.b2clogin.com", "contoso.ciamlogin.com"])
    func `a host with one tenant, named by a domain, has new names in a newer document`(host: String) throws {
        func document(_ name: String, at issued: Int64) -> JSONValue {
            let place: KeyValuePairs<String, JSONValue> = [
                "environment": .string(host), "home_account_id": .string(Fixture.b2cHome),
                "realm": "harbor.onmicrosoft.com",
            ]
            let claims: JSONValue = [
                "iss": .string("https://\(host)/t9/v2.0/"), "aud": "cid", "sub": "o1", "oid": "o1",
                "emails": [.string(name + "@example.net")], "iat": .number("\(issued)"),
            ]
            let account = JSONValue.account(place).with(["username": .string(name + "@example.net")])
            return .cache(idTokens: [.idToken(claims, place)], accounts: [account])
        }
        let documents = [document("old", at: Fixture.now - 900), document("new", at: Fixture.now - 90)]
        for documents in [documents, documents.reversed()] {
            let fixture = try TestStore()
            for document in documents { try fixture.take(document) }
            let accounts = try fixture.store.accounts(matching: .username("new@example.net"))
            #expect(accounts.map(\.username) == ["new@example.net"])
            #expect(accounts.map { $0.tenantProfiles.map(\.isHome) } == [[true]])
            for document in documents { #expect(try fixture.take(document).changes == 0) }
        }
    }

    @Test func `a document does not rename an account that has signed in since`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try fixture.take(older)
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r")
    }

    @Test func `an older document of another host of the cloud does not rename an account`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let host: KeyValuePairs<String, JSONValue> = ["environment": .string(Fixture.aliasHost)]
        let name: JSONValue = "old@example.net"
        func document(at issued: Int64) -> JSONValue {
            let claims = Fixture.claims(["iat": .number("\(issued)"), "preferred_username": name])
            return .cache(idTokens: [.idToken(claims, host)], accounts: [.account(host).with(["username": name])])
        }
        let older = document(at: Fixture.now - 900)
        try fixture.take(older)
        #expect(try fixture.rows("Account").count == 2)
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
        #expect(try fixture.take(older).changes == 0)
        // A newer one does, as one of the same host.
        let other = try TestStore()
        try other.signIn(.signIn())
        try other.take(document(at: Fixture.now - 1))
        #expect(try other.store.accounts().map(\.username) == ["old@example.net"])
    }

    @Test(arguments: [false, true])
    func `of the ID tokens of several tenants the newest tells how old a refresh token is`(isReversed: Bool) throws {
        func document(_ name: String, home: Int64, guest: Int64) -> JSONValue {
            let claims = Fixture.claims(["iat": .number("\(Fixture.now + guest)"), "tid": "t2"])
            let tokens: [JSONValue] = [
                .idToken(Fixture.claims(["iat": .number("\(Fixture.now + home)")])),
                .idToken(claims, ["realm": "t2"]),
            ]
            return .cache(
                refreshTokens: [.refreshToken("r-" + name)],
                idTokens: isReversed ? tokens.reversed() : tokens
            )
        }
        let fixture = try TestStore(document("old", home: -500, guest: -900))
        let newer = document("new", home: -700, guest: -90)
        try fixture.take(newer)
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r-new")
        #expect(try fixture.take(newer).changes == 0)
        // What is newer of one tenant may be older as a whole.
        try fixture.take(document("mixed", home: -300, guest: -900))
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r-new")
    }

    @Test func `of two refresh tokens that nothing tells the time of, the one that is there stays`() throws {
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("r1")], accounts: [.account()]))
        let other = JSONValue.cache(refreshTokens: [.refreshToken("r2")])
        #expect(try fixture.take(other).changes == 0)
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r1")
    }

    @Test(arguments: [nil, Fixture.now - 10])
    func `a refresh token that the issuer has ended makes way for any other`(time: Int64?) throws {
        let fixture = try TestStore(.standardCache())
        let request = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
        let token = try fixture.currentRefreshToken()
        var consequence = RefreshConsequence(token: .ended)
        consequence.event = "invalid_grant"
        try fixture.store.endRefresh(
            with: token,
            of: request,
            authority: "https://login.microsoftonline.com/t1",
            consequence
        )
        var other = JSONValue.refreshToken("r2")
        if let time { other = other.with(["last_modification_time": .seconds(time)]) }
        #expect(try fixture.take(.cache(refreshTokens: [other])).refreshTokens == 1)
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r2")
        // The one that has ended is spent, and does not come back.
        #expect(try fixture.take(.standardCache()).refreshTokens == 0)
    }

    @Test(arguments: [false, true])
    func `a token without its tenant goes to no issuer that it may not be of`(isSecondFirst: Bool) throws {
        let host: KeyValuePairs<String, JSONValue> = ["environment": "id.example", "home_account_id": "u"]
        func idToken(_ realm: String) -> JSONValue {
            let claims: JSONValue = ["iss": .string("https://id.example/\(realm)"), "sub": "u", "aud": "cid"]
            return .idToken(claims, host).with(["realm": .string(realm)])
        }
        let realms = isSecondFirst ? ["b", "a"] : ["a", "b"]
        let token = JSONValue.refreshToken("rt", host).with(["client_id": "c2"])
        var document = JSONValue.cache(refreshTokens: [token], idTokens: realms.map(idToken))
        let fixture = try TestStore()
        let report = try fixture.take(document)
        #expect(report.rejected.map(\.bucket) == ["RefreshToken"])
        #expect(try fixture.rows("RefreshToken") == [token])
        for issuer in ["a", "b"] {
            let account = Account.ID(issuer: "https://id.example/" + issuer, homeAccountID: "u")
            #expect(try fixture.store.refreshTokens(of: account, client: "c2", family: nil).isEmpty)
        }
        // An access token beside it tells.
        let access = JSONValue.accessToken("at", "s1", expiresIn: 3_600, host).with(["client_id": "c2", "realm": "b"])
        document = document.with(["AccessToken": ["k": access]])
        #expect(try fixture.take(document).rejected == [])
        let owner = Account.ID(issuer: "https://id.example/b", homeAccountID: "u")
        let found = try fixture.store.refreshTokens(of: owner, client: "c2", family: nil)
        #expect(found.map { $0.secret.reveal() } == ["rt"])
        #expect(try fixture.take(document).changes == 0)
    }

    @Test func `subjects that differ in case are one account each, however often they come`() throws {
        let host: KeyValuePairs<String, JSONValue> = ["environment": "adfs.example", "home_account_id": "s1"]
        let other: KeyValuePairs<String, JSONValue> = ["environment": "adfs.example", "home_account_id": "S1"]
        let claims: JSONValue = ["iss": "https://adfs.example/adfs", "sub": "s1", "aud": "cid"]
        let document = JSONValue.cache(
            accessTokens: [
                .accessToken("a", "s1", expiresIn: 3_600, host), .accessToken("b", "s1", expiresIn: 3_600, other),
            ],
            refreshTokens: [.refreshToken("r1", host), .refreshToken("r2", other)],
            idTokens: [.idToken(claims, host)]
        )
        let fixture = try TestStore(document)
        #expect(try fixture.store.accounts().count == 2)
        #expect(try fixture.take(document).changes == 0)
        #expect(try fixture.rows("AccessToken").count == 2)
        #expect(Set(try fixture.store.accounts().map(\.id.homeAccountID)) == ["s1", "S1"])
    }

    @Test func `a time that is yet to come makes no token newer than what the store has`() throws {
        let future: KeyValuePairs<String, JSONValue> = [
            "last_modification_time": .seconds(Fixture.now + 600), "cached_at": .seconds(Fixture.now + 600),
        ]
        let document = JSONValue.cache(
            accessTokens: [.accessToken("a-future", "s1", future)],
            refreshTokens: [.refreshToken("r-future", future)],
            accounts: [.account()]
        )
        let fixture = try TestStore(document)
        let times = try fixture.rows("RefreshToken").map { $0["last_modification_time"] }
        #expect(times == [.seconds(Fixture.now + 600)])
        #expect(try fixture.take(document).changes == 0)
        try fixture.refresh(.new(["refresh_token": "r-new", "access_token": "a-new"]))
        try fixture.take(document)
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r-new")
        #expect(try fixture.request("s1") == .hit("a-new"))
    }
}
