import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Rules C47 to C60 and C91: what a token response changes.
@Suite(.onBothEngines)
struct SaveCases {
    @Test func `C47: a new token evicts what it overlaps`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1 s2")))
        try fixture.refresh(.new(["scope": "s2 s3"]))
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["new"])
    }

    @Test func `C48, D9: reserved scopes do not count as an overlap`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1 openid profile")))
        try fixture.refresh(.new(["scope": "s9 openid profile"]), scope: "s9")
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["a", "new"])
    }

    @Test func `C48, D9: a shared email scope does not count as an overlap`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "email openid profile s1")))
        try fixture.refresh(.new(["scope": "email openid profile s9"]), scope: "s9")
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["a", "new"])
    }

    @Test func `tokens for reserved scopes alone replace each other`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "openid profile")))
        try fixture.refresh(.new(["scope": "openid"]), scope: "openid")
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["new"])
    }

    @Test func `C49: tokens of another realm, account, client, key or claims are untouched`() throws {
        let others: [JSONValue] = [
            .accessToken("realm", "s1", ["realm": "t2"]), .accessToken("account", "s1", ["home_account_id": "u2.t1"]),
            .accessToken("client", "s1", ["client_id": "cid2"]), .accessToken("key", "s1", ["kid": "k1"]),
            .accessToken("claims", "s1", ["requested_claims": "{\"a\":1}"]),
        ]
        let fixture = try TestStore(
            .cache(accessTokens: others + [.accessToken("own", "s1")], refreshTokens: [.refreshToken("r1")])
        )
        let before = try fixture.rows("AccessToken").filter { $0["secret"] != "own" }
        try fixture.refresh(.new())
        let after = try fixture.rows("AccessToken")
        #expect(after.filter { $0["secret"] != "new" } == before)
        #expect(before.count == 5)
        #expect(after.count == 6)
    }

    @Test func `C50: a refresh token is replaced by a new one, else it stays`() throws {
        let fixture = try TestStore(.standardCache())
        try fixture.refresh(.new())
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r1"])
        try fixture.refresh(.new(["refresh_token": "r2"]))
        let rows = try fixture.rows("RefreshToken")
        #expect(rows.map { $0["secret"] } == ["r2"])
        #expect(rows.map { $0["last_modification_time"] } == ["1790000000"])
    }

    @Test func `a sign-in's token is the client's in the letters that it was issued to`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["refresh_token": "r1"]))
        try fixture.signIn(.signIn(["refresh_token": "r2"]), client: "CID")
        let token = try fixture.currentRefreshToken()
        #expect(token.secret == Secret("r2"))
        #expect(token.clientID == "CID")
        try fixture.refresh(.new(["refresh_token": "r3"]), client: "cid")
        #expect(try fixture.currentRefreshToken().clientID == "CID")
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r3"])
    }

    @Test func `C51: a refresh token that another process stored first stays`() throws {
        let fixture = try TestStore(.standardCache())
        let used = try fixture.currentRefreshToken()
        let other = try fixture.another()
        let request = TokenRequest(
            clientID: "cid",
            authority: try Fixture.authority(),
            scope: "s2",
            grant: .refreshToken
        )
        try other.save(.new(["refresh_token": "r2", "access_token": "theirs"]), for: request, refreshing: used)
        let saved = try fixture.refresh(.new(["refresh_token": "r3"]), with: used)
        #expect(saved.outcome == .storedBesideNewerRefreshToken)
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r2"])
        #expect(try fixture.request("s1") == .hit("new"))
        #expect(try fixture.request("s2") == .hit("theirs"))
    }

    @Test(arguments: [true, false])
    func `a refresh that a new sign-in overtakes brings nothing of the old session back`(isSignedOut: Bool) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["access_token": "old", "refresh_token": "r-old"]))
        let used = try fixture.currentRefreshToken()
        fixture.clock.seconds += 5
        if isSignedOut { try fixture.store.removeAccount(Fixture.account, client: "cid") }
        try fixture.signIn(.signIn(["access_token": "fresh", "refresh_token": "r-fresh"]))
        let answer = try TokenResponse.new(["refresh_token": "r-late", "access_token": "late"])
        #expect(try fixture.refresh(answer, with: used).outcome == .discarded)
        #expect(try fixture.request("s1") == .hit("fresh"))
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r-fresh")
    }

    @Test func `C52: a family token is offered to a client whose family is not known`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["foci": "1"]))
        #expect(try fixture.request("s1", client: "cid2") == .refresh(["r"]))
        try fixture.refresh(.new(["foci": "1"]), client: "cid2")
        let metadata = try fixture.rows("AppMetadata")
        #expect(metadata.map { $0["client_id"] } == ["cid", "cid2"])
        #expect(metadata.map { $0["family_id"] } == ["1", "1"])
    }

    @Test func `C52: a family's token stays the client's that it was at a sign-in of a sibling`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["foci": "1"]))
        try fixture.signIn(.signIn(["foci": "1", "refresh_token": "r2"]), client: "cid2")
        let tokens = try fixture.rows("RefreshToken")
        #expect(tokens.map { $0["client_id"] } == ["cid"])
        #expect(tokens.map { $0["secret"] } == ["r2"])
    }

    @Test func `C52: a family's token stays the family's where an answer to a sibling names none`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["foci": "1"]))
        try fixture.refresh(.new(["refresh_token": "r2"]), client: "cid2")
        let tokens = try fixture.rows("RefreshToken")
        #expect(tokens.map { $0["client_id"] } == ["cid"])
        #expect(tokens.map { $0["family_id"] } == ["1"])
        #expect(try fixture.rows("AppMetadata").map { $0["family_id"] } == ["1", "1"])
        for client in ["cid", "cid2"] { #expect(try fixture.request("s9", client: client) == .refresh(["r2"])) }
    }

    @Test func `C53: a client known to be in no family is not offered the family token`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["foci": "1"]))
        try fixture.take(.cache(appMetadata: [.appMetadata(["client_id": "cid2", "family_id": ""])]))
        #expect(try fixture.request("s1", client: "cid2") == .signIn(.noRefreshToken))
        #expect(try fixture.rows("RefreshToken").count == 1)
    }

    @Test func `C54: fewer scopes than asked for are stored, and the declined ones named`() throws {
        let fixture = try TestStore(.standardCache())
        let saved = try fixture.refresh(.new(["scope": "s1"]), scope: "s1 s2 openid")
        #expect(saved.grantedScope == "s1")
        #expect(saved.declinedScope == "s2")
        #expect(saved.outcome == .stored)
        #expect(try fixture.request("s1") == .hit("new"))
    }

    @Test func `C55: a response without a scope granted what was asked for`() throws {
        let fixture = try TestStore(.standardCache())
        let saved = try fixture.refresh(.new(), scope: "s2 s1")
        #expect(saved.declinedScope.isEmpty)
        #expect(try fixture.rows("AccessToken").map { $0["target"] } == ["s1 s2"])
    }

    @Test func `C56: a response without an access token stores the account`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(without: "access_token"))
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
        #expect(try fixture.rows("IdToken").count == 1)
        #expect(try fixture.rows("AccessToken").isEmpty)
    }

    @Test func `the grant of a sign-in is that of the home tenant`() throws {
        let accounts: [JSONValue] = [
            .account(["account_source": "home"]), .account(["realm": "t2", "account_source": "other"]),
        ]
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("r1")], accounts: accounts))
        #expect(try fixture.store.signInGrant(of: Fixture.account) == Grant(rawValue: "home"))
        try fixture.signIn(.signIn())
        #expect(try fixture.store.signInGrant(of: Fixture.account) == .authorizationCode)
    }

    @Test func `C59: a short-lived token is stored and served with a third of its life as buffer`() throws {
        let fixture = try TestStore(.standardCache())
        try fixture.refresh(.new(["expires_in": 120]))
        #expect(try fixture.request("s1") == .hit("new"))
        fixture.clock.seconds = Fixture.now + 80
        #expect(try fixture.request("s1") == .hit("new"))
        fixture.clock.seconds = Fixture.now + 85
        #expect(try fixture.request("s1") == .refresh(["r1"]))
    }

    @Test func `C91: an answer without identity belongs to the account of the request`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1", expiresIn: -10)))
        let kept = try ["RefreshToken", "IdToken", "Account"].map { try fixture.rows($0) }
        try fixture.refresh(.new())
        #expect(try fixture.request("s1") == .hit("new"))
        #expect(try ["RefreshToken", "IdToken", "Account"].map { try fixture.rows($0) } == kept)
    }

    @Test func `C91: an answer without identity is found at common, a tenant and by default`() throws {
        let fixture = try TestStore(
            .cache(
                refreshTokens: [.refreshToken("r1")],
                accounts: [.account(["realm": "t2"]), .account()]
            )
        )
        let common = "https://login.microsoftonline.com/common"
        try fixture.refresh(.new(), at: common)
        #expect(try fixture.request("s1", at: common) == .hit("new"))
        #expect(try fixture.request("s1") == .hit("new"))
        try fixture.refresh(.new(["access_token": "guest"]), at: "https://login.microsoftonline.com/t2")
        #expect(try fixture.request("s1", at: "https://login.microsoftonline.com/t2") == .hit("guest"))
        #expect(try fixture.request("s1", at: common) == .hit("new"))
    }

    @Test(arguments: [true, false])
    func `C60: the answer to a refresh does not restore a removed account`(isWiped: Bool) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let used = try fixture.currentRefreshToken()
        if isWiped {
            try fixture.store.removeAccount(Fixture.account)
        } else {
            try fixture.store.removeAccount(Fixture.account, client: "cid")
        }
        let saved = try fixture.refresh(.new(["refresh_token": "r2"]), with: used)
        #expect(saved.outcome == .discarded)
        #expect(try fixture.store.accounts().isEmpty)
        #expect(try fixture.export() == [:])
    }
}
