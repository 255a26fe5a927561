import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Tokens that other programs keep apart: for requested claims, on behalf of someone, with further parameters.
@Suite(.onBothEngines)
struct PartitionTests {
    private static let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")

    private func served(_ fixture: TestStore) throws -> String? {
        guard case .usable(let token, isAging: _) = try fixture.store.cachedToken(for: Self.query) else { return nil }
        return token.secret.reveal()
    }

    @Test(
        arguments: [
            ["requestedClaims": #"{"access_token":{"x":1}}"#, "requestedClaimsHash": "abc"],
            ["requested_claims": ["access_token": ["x": 1]]], ["userAssertionHash": "h1"],
            ["user_assertion_hash": "h1"], ["ext": ["fmi_path": "p"]], ["ext_cache_key_hash": "h"],
            ["additionalCacheKeyComponents": ["fmi_path": "p"]], ["resource": "https://mcp.example/a"],
            ["application_identifier": "com.example/signature"], ["mam_enrollment_identifier": "m"],
        ] as [KeyValuePairs<String, JSONValue>]
    )
    func `an access token of a partition neither replaces an ordinary one nor is served for it`(
        fields: KeyValuePairs<String, JSONValue>
    ) throws {
        let special = JSONValue.accessToken("special", "s1", expiresIn: 7200, fields)
        let document = JSONValue.cache(
            accessTokens: [.accessToken("plain", "s1"), special],
            accounts: [.account()]
        )
        let fixture = try TestStore(document)
        #expect(try fixture.rows("AccessToken").count == 2)
        #expect(try served(fixture) == "plain")
        #expect(try fixture.take(document).changes == 0)
        #expect(try fixture.take(try fixture.export()).changes == 0)
        let alone = try TestStore(.cache(accessTokens: [special], accounts: [.account()]))
        #expect(try served(alone) == nil)
        // A program that looks a token up by its key does not find it there either.
        let keys = try alone.export()["AccessToken"].object?.members.map(\.name) ?? []
        #expect(keys.count == 1 && !keys[0].hasSuffix("-s1"))
        // MSAL for Node asks whether the hash is in the key.
        let hash = special["requestedClaimsHash"].text
        #expect(keys[0].hasSuffix(hash.map { "-accesstoken-cid-t1-s1-\($0)-" } ?? "") || hash == nil)
        #expect(keys[0].contains("-atext-") == (hash == nil))
    }

    @Test func `access tokens for two resources are two`() throws {
        let resources: [JSONValue] = ["https://mcp.example/a", "https://mcp.example/b"]
        let tokens = resources.map { JSONValue.accessToken("for", "s1", ["resource": $0]) }
        let fixture = try TestStore(.cache(accessTokens: tokens, accounts: [.account()]))
        #expect(try fixture.rows("AccessToken").map { $0["resource"] } == resources)
    }

    @Test func `empty parts are none`() throws {
        let row = JSONValue.accessToken(
            "plain",
            "s1",
            ["user_assertion_hash": "", "ext": [:], "requestedClaims": .null]
        )
        #expect(try served(TestStore(.cache(accessTokens: [row], accounts: [.account()]))) == "plain")
    }

    @Test func `refresh tokens on behalf of others stay apart, and are not the person's session`() throws {
        let document = JSONValue.cache(
            refreshTokens: [
                .refreshToken("rt1", ["user_assertion_hash": "h1"]),
                .refreshToken("rt2", ["user_assertion_hash": "h2"]),
                .refreshToken("primary", ["credential_type": "PrimaryRefreshToken"]),
            ],
            idTokens: [.idToken()],
            accounts: [.account()]
        )
        let fixture = try TestStore(document)
        #expect(try Set(fixture.rows("RefreshToken").map { $0["secret"].text }) == ["rt1", "rt2", "primary"])
        #expect(try fixture.take(document).changes == 0)
        #expect(try fixture.take(try fixture.export()).changes == 0)
        #expect(try fixture.request("s1") == .signIn(.noRefreshToken))
        #expect(try fixture.store.summary(of: Fixture.account)?.hasRefreshToken == false)
        // A sign-in takes none of their places.
        try fixture.signIn(.signIn())
        #expect(try fixture.rows("RefreshToken").count == 4)
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r")
        #expect(try fixture.store.summary(of: Fixture.account)?.hasRefreshToken == true)
        #expect(try fixture.store.check() == [])
    }

    @Test func `each of many refresh tokens on behalf of others is replaced by a newer one of its own`() throws {
        func document(_ name: String, at time: Int64) -> JSONValue {
            let tokens = (0..<100).map { number in
                JSONValue.refreshToken(
                    "\(name)-\(number)",
                    ["user_assertion_hash": .string("h\(number)"), "last_modification_time": .seconds(time)]
                )
            }
            return .cache(refreshTokens: tokens, accounts: [.account()])
        }
        let fixture = try TestStore(document("old", at: Fixture.now - 900))
        let newer = document("new", at: Fixture.now - 90)
        #expect(try fixture.take(newer).refreshTokens == 100)
        #expect(try fixture.take(newer).changes == 0)
        let secrets = try fixture.rows("RefreshToken").compactMap { $0["secret"].text }
        #expect(secrets.count == 100)
        #expect(Set(secrets) == Set((0..<100).map { "new-\($0)" }))
        #expect(try fixture.take(document("old", at: Fixture.now - 900)).changes == 0)
    }

    @Test(
        arguments: [
            ["user_assertion_hash": "h1"], ["credential_type": "PrimaryRefreshToken"],
        ] as [KeyValuePairs<String, JSONValue>]
    )
    func `a refresh token that is not the person's session takes back no sign-out`(
        fields: KeyValuePairs<String, JSONValue>
    ) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try fixture.store.removeAccount(Fixture.account, client: Fixture.client)
        let document = JSONValue.cache(
            accessTokens: [.accessToken("a", "s1")],
            refreshTokens: [.refreshToken("other", fields)],
            accounts: [.account()]
        )
        #expect(try fixture.take(document).refreshTokens == 1)
        #expect(try fixture.store.signInState(of: Fixture.account, client: Fixture.client) == .signedOut)
        #expect(try fixture.request("s1") == .signIn(.signedOut))
    }

    @Test(arguments: ["FamilyRefreshToken", "refreshtoken", "rt"])
    func `a refresh token of another spelling is the session`(type: String) throws {
        let token = JSONValue.refreshToken("f", ["credential_type": .string(type), "family_id": "1"])
        let fixture = try TestStore(.cache(refreshTokens: [token], idTokens: [.idToken()], accounts: [.account()]))
        #expect(try fixture.request("s1") == .refresh(["f"]))
    }

    @Test func `the times of access tokens tell how old a refresh token is that has none`() throws {
        func document(_ name: String, at time: Int64) -> JSONValue {
            .cache(
                accessTokens: [.accessToken("a-" + name, "s1", ["cached_at": .seconds(time)])],
                refreshTokens: [.refreshToken("r-" + name)],
                accounts: [.account()]
            )
        }
        let (older, newer) = (document("old", at: Fixture.now - 900), document("new", at: Fixture.now - 90))
        for documents in [[older, newer], [newer, older]] {
            let fixture = try TestStore()
            for document in documents { try fixture.take(document) }
            #expect(try fixture.currentRefreshToken().secret.reveal() == "r-new")
            #expect(try fixture.take(older).changes == 0)
            #expect(try fixture.take(newer).changes == 0)
        }
        // One that came from a machine whose clock is ahead says nothing.
        let fixture = try TestStore(older)
        let future = JSONValue.accessToken("a-future", "s2", ["cached_at": .seconds(Fixture.now + 90_000)])
        try fixture.take(.cache(accessTokens: [future]))
        try fixture.take(newer)
        #expect(try fixture.currentRefreshToken().secret.reveal() == "r-new")
    }
}

/// Tenants as other programs' caches tell of them.
@Suite(.onBothEngines)
struct ImportedTenantTests {
    @Test func `a tenant that only an ID token tells of is one of the account`() throws {
        let guest = JSONValue.idToken(
            Fixture.claims(["iss": "https://login.microsoftonline.com/t2/v2.0", "tid": "t2", "oid": "g1"]),
            ["realm": "t2"]
        )
        let document = JSONValue.cache(
            accessTokens: [.accessToken("guest", "s1", ["realm": "t2"])],
            idTokens: [.idToken(), guest],
            accounts: [.account()]
        )
        let fixture = try TestStore(document)
        let account = try #require(try fixture.store.accounts(matching: .tenant("t2")).first)
        #expect(account.tenantProfiles.map(\.tenantID) == ["t1", "t2"])
        #expect(try fixture.store.accounts(matching: .localAccountID("g1")) == [account])
        // The document does not get an entry for it.
        #expect(try fixture.rows("Account").count == 1)
        #expect(try fixture.take(document).changes == 0)
        // The entry takes its place when it comes, as a sign-in's does.
        let entry = JSONValue.account(["realm": "t2", "local_account_id": "g1", "username": "guest@example.net"])
        #expect(try fixture.take(.cache(accounts: [entry])).accounts == 1)
        #expect(try fixture.rows("Account").count == 2)
        #expect(try fixture.store.accounts().map(\.tenantProfiles.count) == [2])
        #expect(try fixture.store.check() == [])
    }

    @Test(arguments: [false, true])
    func `a new account has the names and the issuer of its home tenant`(isGuestFirst: Bool) throws {
        let guest = JSONValue.idToken(
            Fixture.claims([
                "iss": "https://login.microsoftonline.com/t2/v2.0", "tid": "t2", "oid": "g1", "name": "Ada (guest)",
                "preferred_username": "guest@example.net",
            ]),
            ["realm": "t2"]
        )
        let document = JSONValue.cache(idTokens: isGuestFirst ? [guest, .idToken()] : [.idToken(), guest])
        let fixture = try TestStore(document)
        #expect(try fixture.take(document).changes == 0)
        let account = try #require(try fixture.store.accounts().first)
        let described = [account.username, account.name, account.issuer]
        #expect(described == ["ada@example.net", "Ada", "https://login.microsoftonline.com/t1/v2.0"])
    }

    @Test(arguments: [false, true])
    func `a document that names a tenant and a word for it changes nothing twice`(isNamedFirst: Bool) throws {
        let rows: [JSONValue] = [
            .account(["realm": "organizations", "username": "old@example.net", "account_source": "code", "other": "x"]),
            .account(["username": "new@example.net", "account_source": "broker"]),
        ]
        let document = JSONValue.cache(accounts: isNamedFirst ? rows.reversed() : rows)
        let fixture = try TestStore(document)
        #expect(try fixture.store.accounts().map(\.username) == ["new@example.net"])
        #expect(try fixture.take(document).changes == 0)
    }

    @Test func `of two words for a tenant in one document the first counts, and nothing changes twice`() throws {
        let document = JSONValue.cache(accounts: [
            .account(["realm": "organizations", "account_source": "code", "a": "x"]),
            .account(["realm": "common", "account_source": "broker", "b": "y", "username": "other@example.net"]),
        ])
        let fixture = try TestStore(document)
        let export = try fixture.export()
        #expect(try fixture.rows("Account").map { $0["account_source"] } == ["code"])
        #expect(try fixture.rows("Account").map { [$0["a"], $0["b"]] } == [["x", "y"]])
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
        #expect(try fixture.take(document).changes == 0)
        #expect(try fixture.export() == export)
        #expect(try fixture.store.events().count == 1)
    }

    @Test(
        arguments: [
            "a b", "evil.example/login.microsoftonline.com", "evil.example#", "x@example.net", "a,b", "<x>", "[zz",
            "id.example:+443", "id.example:0443", "id.example:0", "id.example:", "h\u{E9}.example",
            "login.\u{212A}.example",
        ]
    )
    func `an entry whose environment is not a host is kept aside`(environment: String) throws {
        let fixture = try TestStore()
        let report = try fixture.take(.cache(accounts: [.account(["environment": .string(environment)])]))
        #expect(report.rejected.map(\.reason) == ["its environment is not a host"])
        #expect(try fixture.store.accounts().isEmpty)
        #expect(try fixture.rows("Account").map { $0["environment"].text } == [environment])
    }
}
