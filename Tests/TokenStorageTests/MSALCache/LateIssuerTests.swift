import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// An account that one document names by its host alone, and whose issuer an ID token of the next one tells.
@Suite(.onBothEngines)
struct LateIssuerTests {
    private typealias Row = KeyValuePairs<String, JSONValue>

    private static let row: Row = [
        "home_account_id": "sub1", "environment": "fs.corp.example", "client_id": "cid", "realm": "adfs",
    ]
    private static let bare = Account.ID(issuer: "fs.corp.example", homeAccountID: "sub1")
    private static let account = Account.ID(issuer: "https://fs.corp.example/adfs", homeAccountID: "sub1")
    private static let buckets = ["AccessToken", "RefreshToken", "IdToken", "Account"]

    private static func idToken(_ issuer: String = account.issuer, _ changes: Row = [:]) -> JSONValue {
        let claims: JSONValue = [
            "iss": .string(issuer), "sub": "sub1", "aud": "cid", "name": "Ada", "iat": .seconds(Fixture.now - 10),
        ]
        return JSONValue.idToken(claims, row).with(changes)
    }

    private static func document(
        refreshToken: String = "R1",
        written: Int64 = Fixture.now - 10,
        idTokens: [JSONValue] = []
    ) -> JSONValue {
        .cache(
            accessTokens: [.accessToken("A1", "s1", row)],
            refreshTokens: [.refreshToken(refreshToken, row).with(["last_modification_time": .seconds(written)])],
            idTokens: idTokens,
            accounts: [.account(row).with(["authority_type": "ADFS", "username": "ada@corp.example"])]
        )
    }

    private static let without = document()
    private static let with = document(idTokens: [idToken()])

    private static func secrets(_ fixture: TestStore) throws -> [JSONValue?] {
        try fixture.rows("RefreshToken").map { $0["secret"] }
    }

    @Test func `an ID token that comes later tells the issuer of the same account`() throws {
        let fixture = try TestStore(Self.without)
        #expect(try fixture.store.accounts().map(\.id) == [Self.bare])
        let report = try fixture.take(Self.with)
        #expect(report.accounts == 1)
        #expect(report.profiles == 0)
        #expect(report.accessTokens == 0)
        #expect(report.refreshTokens == 0)
        #expect(report.idTokens == 1)
        #expect(report.unchanged == 3)
        let account = try #require(try fixture.store.accounts().first)
        #expect(try fixture.store.accounts().count == 1)
        #expect(account.id == Self.account)
        #expect(account.issuer == Self.account.issuer)
        #expect(account.username == "ada@corp.example")
        #expect(account.name == "Ada")
        #expect(try fixture.request("s1", of: Self.account) == .hit("A1"))
        #expect(try fixture.store.refreshTokens(of: Self.account, client: "cid").map(\.secret) == [Secret("R1")])
        #expect(try fixture.store.check() == [])
    }

    @Test func `documents with and without the ID token give one store in any order`() throws {
        let first = try TestStore(Self.with)
        let second = try TestStore(Self.without)
        try second.take(Self.with)
        try first.take(Self.without)
        for bucket in Self.buckets {
            #expect(try Set(first.rows(bucket)) == Set(second.rows(bucket)), "\(bucket)")
            #expect(try first.rows(bucket).count == 1, "\(bucket)")
        }
        let accounts = try second.store.accounts()
        #expect(try first.store.accounts() == accounts)
        for document in [Self.without, Self.with, try second.export()] {
            #expect(try second.take(document).changes == 0)
        }
        #expect(try second.store.accounts() == accounts)
    }

    @Test func `a newer refresh token of the document with the issuer takes the place`() throws {
        let fixture = try TestStore(Self.without)
        try fixture.take(Self.document(refreshToken: "R2", written: Fixture.now - 5, idTokens: [Self.idToken()]))
        #expect(try Self.secrets(fixture) == ["R2"])
        try fixture.take(Self.without)
        #expect(try Self.secrets(fixture) == ["R2"])
    }

    @Test func `a sign-out of the account with the issuer leaves no token behind`() throws {
        let fixture = try TestStore(Self.without)
        try fixture.take(Self.with)
        _ = try fixture.store.removeAccount(Self.account)
        #expect(try fixture.store.accounts().isEmpty)
        #expect(try Self.secrets(fixture) == [])
    }

    @Test func `tags, the default account and sign-outs go along`() throws {
        let fixture = try TestStore(Self.without)
        let other = JSONValue.refreshToken("R-other", Self.row).with(["client_id": "cid2"])
        try fixture.take(.cache(refreshTokens: [other]))
        try fixture.store.setTags(["team": "blue"], of: Self.bare)
        try fixture.store.setDefaultAccount(Self.bare)
        _ = try fixture.store.removeAccount(Self.bare, client: "cid2")
        try fixture.take(Self.with)
        #expect(try fixture.store.accounts().map(\.id) == [Self.account])
        #expect(try fixture.store.tags(of: Self.account) == ["team": "blue"])
        #expect(try fixture.store.defaultAccount()?.id == Self.account)
        #expect(try fixture.store.signInState(of: Self.account, client: "cid2") == .signedOut)
        #expect(try fixture.store.check() == [])
    }

    @Test func `an import after the sign-out at the issuer counts`() throws {
        let fixture = try TestStore(Self.with)
        _ = try fixture.store.removeAccount(Self.account)
        try fixture.take(Self.without)
        try fixture.take(Self.with)
        #expect(try fixture.store.accounts().map(\.id) == [Self.account])
        #expect(try fixture.store.signInState(of: Self.account, client: "cid") != .signedOut)
    }

    @Test func `of many accounts with one id each gets the issuer at its host`() throws {
        let hosts = (0..<100).map { "h\($0).example" }
        func row(_ host: String) -> Row { ["home_account_id": "sub1", "environment": .string(host), "realm": "adfs"] }
        let fixture = try TestStore(.cache(refreshTokens: hosts.map { .refreshToken("R-" + $0, row($0)) }))
        let idTokens = hosts.map { host -> JSONValue in
            .idToken(["iss": .string("https://\(host)/adfs"), "sub": "sub1", "aud": "cid"], row(host))
        }
        try fixture.take(.cache(idTokens: idTokens))
        // An entry without the issuer is of the account that has it now.
        let others = hosts.map { JSONValue.refreshToken("S-" + $0, row($0)).with(["client_id": "b"]) }
        try fixture.take(.cache(refreshTokens: others))
        #expect(try Set(fixture.store.accounts().map(\.id.issuer)) == Set(hosts.map { "https://\($0)/adfs" }))
        for host in hosts {
            let account = Account.ID(issuer: "https://\(host)/adfs", homeAccountID: "sub1")
            let found = try fixture.store.refreshTokens(of: account, client: "b").map(\.secret)
            #expect(found == [Secret("S-" + host)])
        }
    }

    @Test func `a trial says the same and moves nothing`() throws {
        let fixture = try TestStore(Self.without)
        let text = Self.with.serialized
        let report = try Array(text.utf8).withUnsafeBytes {
            try fixture.store.importMSALCache(MSALCacheDocument($0), isTrial: true)
        }
        #expect(report.unchanged == 3)
        #expect(try fixture.store.accounts().map(\.id) == [Self.bare])
    }

    @Test func `an account whose refresh is under way does not go from under it`() throws {
        let fixture = try TestStore(Self.without)
        let token = try #require(try fixture.store.refreshTokens(of: Self.bare, client: "cid").first)
        _ = try fixture.store.beginRefresh(with: token)
        try fixture.take(Self.with)
        #expect(try fixture.store.refreshTokens(of: Self.bare, client: "cid").map(\.secret) == [Secret("R1")])
    }

    @Test func `a refresh token that the issuer has ended stays ended`() throws {
        let fixture = try TestStore(Self.without)
        let token = try #require(try fixture.store.refreshTokens(of: Self.bare, client: "cid").first)
        let authority = try Authority(issuer: Self.account.issuer)
        _ = try fixture.store.beginRefresh(with: token)
        try fixture.store.endRefresh(
            with: token,
            of: TokenQuery(account: Self.bare, clientID: "cid", scope: "s9"),
            authority: authority.url,
            RefreshConsequence(token: .ended)
        )
        try fixture.take(Self.with)
        let query = TokenQuery(account: Self.account, clientID: "cid", scope: "s9")
        let state = try fixture.store.silentState(for: query) { _ in authority }
        #expect(state?.candidates.map { $0.attempt?.hasEnded } == [true])
    }

    /// ID tokens that do not tell that the account is the one without an issuer.
    private static let others: [[JSONValue]] = [
        [idToken("https://other.corp.example/adfs")],
        [idToken("https://fs.corp.example:8443/adfs")],
        [idToken("https://fs.corp.example/b", ["realm": "b"])],
        [idToken(), idToken("https://fs.corp.example/adfs/b", ["client_id": "cid2"])],
        [idToken(account.issuer, ["home_account_id": "SUB1"])],
        [idToken(account.issuer, ["account_issuer": .string(account.issuer)])],
    ]

    @Test(arguments: others.indices)
    func `an ID token that may be of another account leaves the one without an issuer`(number: Int) throws {
        let fixture = try TestStore(Self.without)
        let document = JSONValue.cache(idTokens: Self.others[number])
        try fixture.take(document)
        #expect(try fixture.store.accounts().count == 1 + Self.others[number].count)
        #expect(try fixture.store.refreshTokens(of: Self.bare, client: "cid").map(\.secret) == [Secret("R1")])
        #expect(try fixture.take(document).changes == 0)
    }
}
