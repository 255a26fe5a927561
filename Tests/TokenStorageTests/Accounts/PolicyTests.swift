import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onBothEngines)
struct PolicyTests {
    /// Ada and Bob of one tenant, Cy of a user flow, Dot of another provider.
    private static let people = JSONValue.cache(
        accessTokens: [
            .accessToken("a", "s1"), .accessToken("b", "s1", expiresIn: -10, ["home_account_id": "u2.t1"]),
        ],
        refreshTokens: [.refreshToken("r", ["home_account_id": "u2.t1", "client_id": "CID2"])],
        idTokens: [
            .idToken(
                Fixture.claims(["department": "Finance", "roles": ["admin", "Reader"], "address": ["city": "Ulm"]])
            ),
            .idToken(
                Fixture.claims([
                    "sub": "s2", "preferred_username": "bob@example.net", "department": "Sales", "nonce": "n-2",
                ]),
                ["home_account_id": "u2.t1"]
            ),
            .idToken(
                ["iss": "https://idp.example.com/main", "sub": "dot", "email": "dot@example.net", "level": 3],
                ["home_account_id": "dot", "environment": "idp.example.com", "realm": ""]
            ),
        ],
        accounts: [
            .account(),
            .account(["home_account_id": "u2.t1", "local_account_id": "u2", "username": "bob@example.net"]),
            .account([
                "home_account_id": "o1-b2c_1_susi.t9", "environment": "harbor.b2clogin.com", "realm": "t9",
                "local_account_id": "o1", "username": "cy@example.net",
            ]),
            .account([
                "home_account_id": "dot", "environment": "idp.example.com", "realm": "", "local_account_id": "dot",
                "username": "dot@example.net",
            ]),
        ]
    )

    @Test(
        arguments: [
            (.all, ["ada", "bob", "cy", "dot"]), (.username("BOB@example.net"), ["bob"]), (.username("nobody"), []),
            (.homeAccountID("U1.T1"), ["ada"]), (.localAccountID("O1"), ["cy"]), (.tenant("T1"), ["ada", "bob"]),
            (.userFlow("b2c_1_SUSI"), ["cy"]), (.userFlow("susi"), []),
            (.issuer("https://idp.example.com/main"), ["dot"]),
            (.issuer("idp.example.com"), ["dot"]), (.issuer("https://idp.example.com"), []),
            (.issuer("sts.windows.net"), ["ada", "bob"]), (.client("cid2"), ["bob"]),
            (.client("CID"), ["ada", "bob", "dot"]),
            (.claim("department"), ["ada", "bob"]), (.claim("department", equals: "finance"), ["ada"]),
            (.claim("department", equals: "fin"), []), (.claim("department", contains: "IN"), ["ada"]),
            (.claim("roles", equals: "reader"), ["ada"]), (.claim("address.city", equals: "ulm"), ["ada"]),
            (.claim("address"), ["ada"]), (.claim("level", equals: 3), ["dot"]),
            (.claim("level", equals: "3"), ["dot"]),
            (.claim("nonce", equals: "N-2"), ["bob"]), (.claim("nonce"), ["bob"]), (.claim("absent"), []),
            (.expired, ["bob"]), (.unused(since: Fixture.date()), []),
            (.unused(since: Fixture.date(1)), ["ada", "bob", "cy", "dot"]),
            (.identifier("u1.t1"), ["ada"]), (.identifier("Ada@Example.net"), ["ada"]), (.identifier("o1-b"), ["cy"]),
            (.identifier("o1"), ["cy"]), (.identifier("o1-"), []), (.identifier("u1.t"), ["ada"]),
            (.identifier(""), []),
        ] as [(AccountPolicy, [String])]
    )
    func `each criterion selects the accounts it names`(policy: AccountPolicy, names: [String]) throws {
        let fixture = try TestStore(Self.people)
        #expect(
            try fixture.store.accounts(matching: policy).map { $0.username.split(separator: "@")[0] }
                == names.map { $0[...] }
        )
        var listed: [Substring] = []
        try fixture.store.forEachAccount(matching: policy) {
            listed.append($0.account.username.split(separator: "@")[0])
        }
        #expect(listed == names.map { $0[...] })
    }

    @Test(
        arguments: [
            .identifier(""), .username(""), .homeAccountID(""), .localAccountID(""), .userFlow(""), .tenant(""),
            .issuer(""), .client(""), .tenant(" "),
        ] as [AccountPolicy]
    )
    func `an empty name takes no account, not even one without a name`(policy: AccountPolicy) throws {
        let nameless: JSONValue = .account([
            "home_account_id": "eve", "environment": "idp.example.com", "realm": "", "local_account_id": "eve",
            "username": "",
        ])
        let fixture = try TestStore(.cache(accounts: [nameless]))
        try #require(try fixture.store.accounts(matching: .all).count == 1)
        #expect(try fixture.store.accounts(matching: policy).isEmpty)
    }

    private static func signIn(_ subject: String, at issuer: String, to fixture: TestStore) throws {
        let claims: JSONValue = ["iss": .string(issuer), "sub": .string(subject), "aud": "cid", "name": "Other"]
        let request = TokenRequest(
            clientID: "cid",
            authority: try Authority(issuer: issuer),
            scope: "s1",
            grant: .authorizationCode
        )
        var response = TokenResponse(accessToken: Secret("at"))
        response.idToken = Secret(Fixture.idToken(claims))
        try fixture.store.save(response, for: request)
    }

    @Test func `issuers whose addresses differ by letter case alone have accounts of their own`() throws {
        let fixture = try TestStore(Self.people)
        let (known, other) = ("https://idp.example.com/main", "https://idp.example.com/Main")
        func issuers(_ issuer: String) throws -> [String] {
            try fixture.store.accounts(matching: .issuer(issuer)).map(\.id.issuer)
        }
        #expect(try issuers(other) == [])
        try Self.signIn("dot", at: other, to: fixture)
        for issuer in [known, other] { #expect(try issuers(issuer) == [issuer]) }
        #expect(try issuers("https://IDP.example.com/main") == [])
        #expect(try Set(issuers("IDP.example.com")) == [known, other])
        #expect(try issuers("STS.windows.net").count == 2)
        #expect(try fixture.store.purge(.issuer(other)).accounts == 1)
        #expect(try issuers("idp.example.com") == [known])
    }

    @Test func `a subject that is another's username is ambiguous, and one in other case is not`() throws {
        let fixture = try TestStore(Self.people)
        let issuer = "https://other.example.org"
        func signIn(_ subject: String) throws { try Self.signIn(subject, at: issuer, to: fixture) }
        try signIn("ada@example.net")
        #expect(try fixture.store.accounts(matching: .identifier("ada@example.net")).count == 2)
        let other = AccountPolicy.identifier("ada@example.net").and(.issuer(issuer))
        #expect(try fixture.store.accounts(matching: other).map(\.id.homeAccountID) == ["ada@example.net"])
        try signIn("Mara")
        try signIn("mara")
        let exact = try fixture.store.accounts(matching: .identifier("mara"))
        #expect(exact.map(\.id.homeAccountID) == ["mara"])
        #expect(try fixture.store.accounts(matching: .identifier("MARA")).count == 2)
    }

    @Test func `criteria narrow each other, and fallbacks count only when nothing fits`() throws {
        let fixture = try TestStore(Self.people)
        func names(_ policy: AccountPolicy) throws -> [String] {
            try fixture.store.accounts(matching: policy).map { String($0.username.prefix(3)) }
        }
        #expect(try names(.tenant("t1").and(.claim("department", equals: "sales"))) == ["bob"])
        #expect(try names(.tenant("t9").and(.claim("department"))) == [])
        #expect(try names(.username("nobody").otherwise(.userFlow("b2c_1_susi"))) == ["cy@"])
        #expect(try names(.tenant("t1").otherwise(.all)) == ["ada", "bob"])
        #expect(try names(.username("x").otherwise(.username("y")).and(.tenant("t1"))) == [])
        #expect(try names(.claim("department").and(.claim("department", contains: "s"))) == ["bob"])
    }

    @Test func `an ambiguity lists the candidates and uses no fallback`() throws {
        let fixture = try TestStore(Self.people)
        guard case .ambiguous(let accounts) = try fixture.store.select(.tenant("t1").otherwise(.username("x"))).outcome
        else {
            Issue.record("two accounts fit")
            return
        }
        #expect(accounts.map(\.username) == ["ada@example.net", "bob@example.net"])
    }

    @Test func `the error about an ambiguous policy names every account that fits`() throws {
        let fixture = try TestStore(Self.people)
        let error = #expect(throws: TokenStoreError.self) { try fixture.store.account(matching: .all) }
        #expect(error?.code == .ambiguousAccount)
        #expect(error?.accounts.map { $0.username.prefix(3) } == ["ada", "bob", "cy@", "dot"])
        #expect(error?.accountCount == 4)
        #expect(error?.remedy?.candidates == error?.accounts.map(\.id.homeAccountID))
    }

    @Test func `a summary of one account says what the list says of it`() throws {
        let fixture = try TestStore(Self.people)
        var listed: AccountSummary?
        try fixture.store.forEachAccount(matching: .username("bob@example.net"), withTokens: true) { listed = $0 }
        let bob = try #require(listed)
        let summary = try fixture.store.summary(of: bob.account.id, withTokens: true)
        #expect(summary?.account.username == "bob@example.net")
        #expect(summary?.clientIDs == bob.clientIDs)
        #expect(summary?.accessTokenCount == 1)
        #expect(summary?.accessTokens.count == 1)
    }

    @Test func `there is no summary of an account that is not stored`() throws {
        let fixture = try TestStore(Self.people)
        let unknown = Account.ID(issuer: "login.microsoftonline.com", homeAccountID: "u7.t7")
        #expect(try fixture.store.summary(of: unknown)?.account.username == nil)
    }

    @Test func `the account used last is the one signed in last`() throws {
        let fixture = try TestStore(Self.people)
        fixture.clock.seconds += 100
        try fixture.signIn(.signIn())
        #expect(try fixture.store.account(matching: .mostRecentlyUsed)?.username == "ada@example.net")
        fixture.clock.seconds += 100
        try fixture.refresh(
            .new(),
            of: Account.ID(issuer: "login.windows.net", homeAccountID: "u2.t1"),
            client: "cid2"
        )
        #expect(
            try fixture.store.account(matching: .tenant("t1").and(.mostRecentlyUsed))?.username == "bob@example.net"
        )
    }

    @Test func `every account that was left out has a reason`() throws {
        let fixture = try TestStore(Self.people)
        let selection = try fixture.store.select(.tenant("t1").and(.claim("department", equals: "finance")))
        #expect(selection.considered.map(\.isTaken) == [true, false, false, false])
        #expect(
            selection.considered.map(\.reason) == [
                "the only one that fits", "claim department is not finance", "not seen in tenant t1",
                "not seen in tenant t1",
            ]
        )
    }

    @Test(arguments: ["ada@example.net", "U1.T1", "u1.t"])
    func `an account that a name fits was left out for what else it lacks`(name: String) throws {
        let fixture = try TestStore(Self.people)
        let considered = try fixture.store.select(.identifier(name).and(.client("other"))).considered
        let reasons = Dictionary(uniqueKeysWithValues: considered.map { ($0.account.username, $0.reason) })
        #expect(reasons["ada@example.net"] == "no token of client other")
        #expect(reasons["bob@example.net"] == "id does not begin with \(name.lowercased())")
    }

    @Test func `an empty store and a damaged one are not the same`() throws {
        let fixture = try TestStore()
        #expect(try fixture.store.accounts().isEmpty)
        guard case .none = try fixture.store.select(.all).outcome else {
            Issue.record("no user has signed in")
            return
        }
        #expect(try fixture.store.account(matching: .all) == nil)
    }

    @Test func `claims are found by what the newest ID token says`() throws {
        let fixture = try TestStore(.standardCache())
        try fixture.signIn(.signIn(["id_token": .string(Fixture.idToken(Fixture.claims(["department": "Finance"])))]))
        #expect(try fixture.store.accounts(matching: .claim("department", equals: "finance")).count == 1)
        let newer = Fixture.idToken(Fixture.claims(["department": "Sales", "iat": 1_789_999_999]))
        try fixture.refresh(.new(["id_token": .string(newer)]))
        #expect(try fixture.store.accounts(matching: .claim("department", equals: "finance")).isEmpty)
        #expect(try fixture.store.accounts(matching: .claim("department", equals: "sales")).count == 1)
    }

    @Test(
        arguments: [
            ("o.d", "e"), ("o.d", "f"), ("p.q.d", "g"), ("s.z", "w"), ("v.a.b", "1"), ("v.a.b", "2"), ("n", "x"),
            ("empty", "[]"), ("none", "{}"), ("exp.inner", "7"), ("o.\u{301}k", "m"),
        ]
    )
    func `a path leads into objects, and into those in lists`(path: String, value: String) throws {
        let fixture = try TestStore()
        let claims = try JSONValue(
            parsing: #"""
                {"o":[{"d":"e"},{"d":"f","\#u{301}k":"m"}],"p":{"q":[{"d":"g"}]},"s":[["x"],[{"z":"w"}]],
                 "v":{"a":{"b":1},"a.b":2},"n":[["x"]],"empty":[],"none":{},"exp.inner":7}
                """#
        )
        let members = [Fixture.claims(), claims].compactMap(\.object).flatMap(\.members)
        let idToken = Fixture.idToken(.object(JSONValue.Object(members)))
        try fixture.signIn(.signIn(["id_token": .string(idToken)]))
        for policy in [
            AccountPolicy.claim(path), .claim(path, equals: .string(value)), .claim(path, contains: value),
        ] {
            #expect(try fixture.store.accounts(matching: policy).count == 1)
        }
        #expect(try fixture.store.accounts(matching: .claim(path, equals: "other")).isEmpty)
        #expect(try fixture.store.check() == [])
    }
}
