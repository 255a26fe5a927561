import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Rules C29 to C46: which stored token answers a request.
@Suite(.onBothEngines)
struct LookupCases {
    @Test(arguments: [("s1 s2 s3", "s3 s1"), ("s1 s2 s3", "S1"), ("s1 s2 s3", "s1 s1"), ("s1 s1", "s1")])
    func `C29: scopes match in any order, any case and any number`(stored: String, wanted: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", stored)))
        #expect(try fixture.request(Scope(wanted)) == .hit("a"))
    }

    @Test func `C30: a scope that was not granted needs a refresh`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1 s2 s3")))
        #expect(try fixture.request("s4") == .refresh(["r1"]))
        #expect(try fixture.request("s1 s4") == .refresh(["r1"]))
        try fixture.refresh(.new(), scope: "s4")
        #expect(try fixture.request("s4") == .hit("new"))
    }

    @Test func `C31: reserved scopes take no part`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1 openid profile offline_access") == .hit("a"))
    }

    @Test(arguments: ["", "openid", "openid profile offline_access"])
    func `C32: a request without a scope is refused`(scope: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let error = #expect(throws: TokenStoreError.self) { try fixture.request(Scope(scope)) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(arguments: [(300, LookupResult.hit("a")), (299, .refresh(["r1"]))] as [(Int64, LookupResult)])
    func `C33: a token is returned while it is valid for 300 seconds`(left: Int64, answer: LookupResult) throws {
        let row = JSONValue.accessToken("a", "s1", expiresIn: left, ["cached_at": .seconds(Fixture.now - 3000)])
        #expect(try TestStore(.standardCache(row)).request("s1") == answer)
    }

    @Test(arguments: [(150, LookupResult.hit("a")), (50, .refresh(["r1"]))] as [(Int64, LookupResult)])
    func `C34: the buffer can be chosen`(left: Int64, answer: LookupResult) throws {
        let row = JSONValue.accessToken("a", "s1", expiresIn: left, ["cached_at": .seconds(Fixture.now - 3000)])
        let fixture = try TestStore(.standardCache(row))
        #expect(try fixture.request("s1") { $0.buffer = ExpiryBuffer(.seconds(100)) } == answer)
    }

    @Test func `of more tokens than are explained the answer is among them`() throws {
        let rows = (0..<60).map { JSONValue.accessToken("a\($0)", "s\($0)", expiresIn: 3_600 + $0) }
        let fixture = try TestStore(.cache(accessTokens: rows, accounts: [.account()]))
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s0")
        let taken = try fixture.store.consideredTokens(for: query).filter { $0.isTaken }
        #expect(taken.map(\.scope) == ["s0"])
        #expect(try fixture.request("s0") == .hit("a0"))
    }

    @Test func `a token for an API is not said to be the answer to a request for none`() throws {
        let fixture = try TestStore()
        let issuer = "https://idp.example.com/adfs"
        let claims: JSONValue = ["iss": .string(issuer), "sub": "s", "aud": "cid"]
        let response = try TokenResponse.signIn(
            ["id_token": .string(Fixture.idToken(claims)), "scope": "api.read"],
            without: "client_info"
        )
        let account = try #require(try fixture.signIn(response, at: issuer).account)
        let query = TokenQuery(account: account, clientID: Fixture.client, scope: "openid")
        let considered = try fixture.store.consideredTokens(for: query)
        #expect(considered.map(\.reason) == ["is for an API, and none was asked for"])
        #expect(!considered.contains { $0.isTaken })
    }

    @Test(arguments: [(1, LookupResult.hit("a")), (0, .refresh(["r1"]))] as [(Int64, LookupResult)])
    func `a token of two seconds is not returned once it has ended`(left: Int64, answer: LookupResult) throws {
        let row = JSONValue.accessToken("a", "s1", expiresIn: left, ["cached_at": .seconds(Fixture.now + left - 2)])
        let fixture = try TestStore(.standardCache(row))
        #expect(try fixture.request("s1") == answer)
        fixture.clock.seconds += 1
        #expect(try fixture.request("s1") == .refresh(["r1"]))
    }

    @Test(
        arguments: [(3600, LookupResult.refresh(["r1"])), (61, .refresh(["r1"])), (60, .hit("a")), (30, .hit("a"))]
            as [(Int64, LookupResult)]
    )
    func `C35: a token cached more than a minute in the future has ended`(ahead: Int64, answer: LookupResult) throws {
        let row = JSONValue.accessToken("a", "s1", expiresIn: 7200, ["cached_at": .seconds(Fixture.now + ahead)])
        let fixture = try TestStore(.standardCache(row))
        #expect(try fixture.request("s1") == answer)
        let isUsable = answer == .hit("a")
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
        let reason = isUsable ? "fits best" : "was stored in the future, so a clock is or was wrong"
        #expect(try fixture.store.consideredTokens(for: query).map(\.reason) == [reason])
        let summary = try fixture.store.summary(of: Fixture.account, withTokens: true)
        #expect(summary?.accessTokens.map(\.state) == [isUsable ? TokenState.valid : .expired])
        #expect(summary?.expiredCount == (isUsable ? 0 : 1))
        #expect(try fixture.store.status().expiredAccessTokens == (isUsable ? 0 : 1))
        // A clock that is wrong deletes nothing, and selects no account that is to be deleted.
        #expect(try fixture.store.accounts(matching: .expired).isEmpty)
        #expect(try fixture.store.previewPurgeExpired().accessTokens == 0)
        #expect(try fixture.store.purgeExpired().accessTokens == 0)
    }

    @Test(arguments: [true, false])
    func `C36: an expired token does not hide a valid one`(isExpiredFirst: Bool) throws {
        let rows: [JSONValue] = [.accessToken("old", "s1 s2", expiresIn: -10), .accessToken("ok", "s1 s3")]
        let ordered = isExpiredFirst ? rows : rows.reversed()
        let fixture = try TestStore(.cache(accessTokens: ordered, refreshTokens: [.refreshToken("r1")]))
        #expect(try fixture.request("s1") == .hit("ok"))
    }

    @Test(arguments: [true, false])
    func `C37: the exact set of scopes comes first`(isExactFirst: Bool) throws {
        let rows: [JSONValue] = [.accessToken("x", "s1", expiresIn: 900), .accessToken("y", "s1 s2")]
        let fixture = try TestStore(.cache(accessTokens: isExactFirst ? rows : rows.reversed()))
        #expect(try fixture.request("s1") == .hit("x"))
    }

    @Test func `after the fewest scopes freshness, the latest expiry and the newest row count`() throws {
        func answer(_ rows: JSONValue...) throws -> LookupResult {
            try TestStore(.cache(accessTokens: rows)).request("s1")
        }
        let aging: KeyValuePairs<String, JSONValue> = ["refresh_on": .seconds(Fixture.now - 1)]
        #expect(try answer(.accessToken("x", "s1 s2 s3"), .accessToken("y", "s1 s4", expiresIn: 900)) == .hit("y"))
        #expect(
            try answer(.accessToken("x", "s1 s2", expiresIn: 7200, aging), .accessToken("y", "s1 s3")) == .hit("y")
        )
        #expect(try answer(.accessToken("x", "s1 s2", expiresIn: 900), .accessToken("y", "s1 s3")) == .hit("y"))
        #expect(try answer(.accessToken("x", "s1 s2"), .accessToken("y", "s1 s3")) == .hit("y"))
    }

    @Test func `C38: a token minted for claims answers only a request for these claims`() throws {
        let claims: JSONValue = ["access_token": ["nbf": ["essential": true]]]
        let row = JSONValue.accessToken("a", "s1", ["requested_claims": .string(claims.serialized)])
        let fixture = try TestStore(.standardCache(row))
        #expect(try fixture.request("s1") == .refresh(["r1"]))
        #expect(try fixture.request("s1") { $0.requestedClaims = claims } == .hit("a"))
        try fixture.refresh(.new())
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["a", "new"])
    }

    @Test(arguments: [("pop", "k1", LookupResult.hit("a")), ("PoP", "k1", .hit("a")), ("pop", "k2", .refresh(["r1"]))])
    func `C39: a bound token answers only for its key`(type: String, key: String, answer: LookupResult) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1", ["token_type": "pop", "kid": "k1"])))
        let found = try fixture.request("s1") {
            $0.tokenType = type
            $0.keyID = key
        }
        #expect(found == answer)
        #expect(try fixture.request("s1") == .refresh(["r1"]))
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["a"])
    }

    @Test(arguments: ["", nil, "bearer"] as [JSONValue])
    func `C40: a missing token type is Bearer`(type: JSONValue) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1", ["token_type": type])))
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test func `C41: the token of a forced refresh replaces the valid token`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try fixture.refresh(.new())
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["new"])
    }

    @Test func `C42: without a refresh token nothing can be forced, and the valid token stays`() throws {
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1")], accounts: [.account()]))
        #expect(try fixture.store.refreshTokens(of: Fixture.account, client: "cid", family: "1").isEmpty)
        #expect(try fixture.request("s9") == .signIn(.noRefreshToken))
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test func `C43: a valid token does not answer a claims challenge`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let challenge: JSONValue = ["access_token": ["nbf": nil]]
        #expect(try fixture.request("s1") { $0.requestedClaims = challenge } == .refresh(["r1"]))
    }

    @Test func `C44: another client's refresh token outside a family is not used`() throws {
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("r2", ["client_id": "cid2"])]))
        #expect(try fixture.request("s1") == .signIn(.noRefreshToken))
    }

    @Test(
        arguments: [
            // The host of the account says it.
            ([(Fixture.host, "1"), (Fixture.aliasHost, nil)], .refresh(["r2"])),
            ([(Fixture.host, nil), (Fixture.aliasHost, "1")], .signIn(.noRefreshToken)),
            // Else one that says a family.
            ([("login.windows.net", nil), (Fixture.aliasHost, "1")], .refresh(["r2"])),
        ] as [([(String, String?)], LookupResult)]
    )
    func `of a client's rows at hosts that share accounts one decides`(
        hosts: [(String, String?)],
        answer: LookupResult
    ) throws {
        for hosts in [hosts, hosts.reversed()] {
            let rows = hosts.map { host, family in
                JSONValue.appMetadata([
                    "environment": .string(host), "family_id": family.map { JSONValue.string($0) } ?? .null,
                ])
            }
            let token = JSONValue.refreshToken("r2", ["client_id": "cid2", "family_id": "1"])
            let fixture = try TestStore(.cache(refreshTokens: [token], appMetadata: rows))
            #expect(try fixture.request("s1") == answer)
        }
    }

    @Test func `C45: a token without its ID token is a hit`() throws {
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1")]))
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.idTokens(of: Fixture.account).isEmpty)
    }

    @Test func `C46: a refresh token needs no app metadata`() throws {
        let fixture = try TestStore(
            .cache(accessTokens: [.accessToken("a", "s1", expiresIn: -10)], refreshTokens: [.refreshToken("r1")])
        )
        #expect(try fixture.request("s1") == .refresh(["r1"]))
    }

    @Test func `of several refresh tokens the client's own and newest come first`() throws {
        func row(_ secret: String, _ changes: KeyValuePairs<String, JSONValue>) -> JSONValue {
            .refreshToken(secret, changes)
        }
        let fixture = try TestStore(
            .cache(refreshTokens: [
                row("old", ["target": "s1", "last_modification_time": "1789990000"]),
                row("new", ["target": "s2", "last_modification_time": "1789999000.125"]),
                row("unknown", ["target": "s3"]),
                row("sibling", ["client_id": "cid2", "family_id": "1", "last_modification_time": "1789999999"]),
            ])
        )
        #expect(try fixture.request("s1") == .refresh(["new", "old", "unknown", "sibling"]))
    }
}
