import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Rules C13 to C28: which account and which authority a token belongs to.
@Suite(.onBothEngines)
struct IdentityCases {
    private static let b2cAuthority = "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_SignIn"

    private func b2cResponse(_ policy: String, _ claims: KeyValuePairs<String, JSONValue> = [:]) throws -> TokenResponse
    {
        let own: JSONValue = ["iss": "https://harbor.b2clogin.com/t9/v2.0/", "sub": "o1", "tfp": .string(policy)]
        return try .signIn([
            "client_info": .string(Fixture.clientInfo("o1-\(policy.lowercased())", "t9")),
            "id_token": .string(Fixture.idToken(own.with(claims))),
        ])
    }

    @Test func `C13: an id is found in any case and exported as it came`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["client_info": .string(Fixture.clientInfo("U1", "T1"))]))
        #expect(try fixture.store.account(matching: .homeAccountID("u1.t1"))?.id.homeAccountID == "U1.T1")
        #expect(try fixture.rows("Account")[0]["home_account_id"] == "U1.T1")
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test(arguments: [("https://idp.example.com/adfs", "ADFS"), ("https://login.microsoftonline.com/t1", "MSSTS")])
    func `C14: without client_info the subject is the id`(authority: String, type: String) throws {
        let fixture = try TestStore()
        let claims: JSONValue = ["iss": "https://idp.example.com/adfs", "sub": "subj"]
        let response = try TokenResponse.signIn(["id_token": .string(Fixture.idToken(claims))], without: "client_info")
        try fixture.signIn(response, at: authority)
        let account = try #require(try fixture.store.account(matching: .all))
        #expect(account.id.homeAccountID == "subj")
        #expect(try fixture.rows("Account").map { $0["authority_type"] } == [.string(type)])
    }

    @Test func `users whom Azure AD B2C names alike in sub are told apart by oid`() throws {
        let fixture = try TestStore()
        let issuer = "https://harbor.b2clogin.com/tfp/t9/b2c_1_susi/v2.0"
        for user in ["mara", "tome"] {
            let claims: JSONValue = [
                "iss": .string(issuer), "sub": "Not supported currently. Use oid claim.", "oid": .string("oid-" + user),
                "aud": "cid",
            ]
            let token = JSONValue.string(Fixture.idToken(claims))
            try fixture.signIn(.signIn(["id_token": token], without: "client_info"), at: issuer)
        }
        #expect(Set(try fixture.store.accounts().map(\.id.homeAccountID)) == ["oid-mara", "oid-tome"])
    }

    @Test func `users whom client_info of a custom policy leaves out are told apart by the ID token`() throws {
        let fixture = try TestStore()
        let authority = "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1A_SignIn"
        for user in ["mara", "tome"] {
            let claims: JSONValue = [
                "iss": "https://harbor.b2clogin.com/t9/v2.0/", "sub": .string(user), "tfp": "B2C_1A_SignIn",
            ]
            let response = try TokenResponse.signIn([
                "client_info": .string(Fixture.clientInfo("-b2c_1a_signin", "t9")),
                "id_token": .string(Fixture.idToken(claims)),
            ])
            try fixture.signIn(response, at: authority)
        }
        let accounts = try fixture.store.accounts()
        #expect(Set(accounts.map(\.id.homeAccountID)) == ["mara-b2c_1a_signin.t9", "tome-b2c_1a_signin.t9"])
        #expect(accounts.allSatisfy { $0.userFlow == "b2c_1a_signin" && $0.utid == "t9" })
        #expect(try fixture.rows("RefreshToken").count == 2)
    }

    @Test func `client_info that names another user flow than the ID token is refused`() throws {
        let fixture = try TestStore()
        try fixture.signIn(b2cResponse("B2C_1_SignIn"), at: Self.b2cAuthority)
        let info = JSONValue.string(Fixture.clientInfo("o1-b2c_1_edit", "t9"))
        let signed = try b2cResponse("B2C_1_SignIn")
        let response = try TokenResponse.signIn([
            "client_info": info, "id_token": .string(signed.idToken?.reveal() ?? ""),
        ])
        let error = #expect(throws: TokenStoreError.self) { try fixture.signIn(response, at: Self.b2cAuthority) }
        #expect(error?.code == .otherAccount)
        #expect(try fixture.store.accounts().count == 1)
    }

    @Test func `a sign-in that is answered for another user flow leaves that one's session alone`() throws {
        let fixture = try TestStore()
        let edit = try b2cResponse("B2C_1_Edit")
        try fixture.signIn(edit, at: "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_Edit")
        let error = #expect(throws: TokenStoreError.self) { try fixture.signIn(edit, at: Self.b2cAuthority) }
        #expect(error?.code == .otherAccount)
        #expect(try fixture.store.accounts().map(\.userFlow) == ["b2c_1_edit"])
    }

    @Test func `C15: a token without an account never answers a request for an account`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.new(["scope": "s1"]))
        #expect(try fixture.rows("AccessToken").map { $0.object?["home_account_id"] } == [.null])
        #expect(try fixture.request("s1") == .signIn(.noRefreshToken))
        #expect(try fixture.store.accounts().isEmpty)
    }

    @Test(arguments: ["%%%", "bm90IGpzb24", "e30", "eyJ1aWQiOiJ1MSJ9"])
    func `C16: malformed client_info counts as absent`(clientInfo: String) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["client_info": .string(clientInfo)]))
        #expect(try fixture.store.accounts().map(\.id.homeAccountID) == ["s1"])
    }

    @Test func `C17: an imported id with several dots is split at the last one`() throws {
        let fixture = try TestStore(
            .cache(
                refreshTokens: [.refreshToken("r1", ["home_account_id": "a.b.c"])],
                accounts: [.account(["home_account_id": "a.b.c", "realm": "c"])]
            )
        )
        let account = try #require(try fixture.store.account(matching: .homeAccountID("A.B.C")))
        #expect(account.uid == "a.b")
        #expect(account.utid == "c")
        #expect(try fixture.request("s1", of: account.id) == .refresh(["r1"]))
    }

    @Test func `C18: each user flow is a separate account`() throws {
        let fixture = try TestStore()
        for policy in ["B2C_1_SignIn", "B2C_1_Edit"] {
            try fixture.signIn(
                b2cResponse(policy),
                at: "https://harbor.b2clogin.com/harbor.onmicrosoft.com/\(policy)"
            )
        }
        let ids = try fixture.store.accounts().map(\.id.homeAccountID)
        #expect(Set(ids) == ["o1-b2c_1_signin.t9", "o1-b2c_1_edit.t9"])
        #expect(try fixture.rows("AccessToken").count == 2)
        #expect(try fixture.rows("RefreshToken").count == 2)
    }

    @Test func `C19: a B2C token without tid, upn and username has tenant and e-mail address`() throws {
        let fixture = try TestStore()
        try fixture.signIn(b2cResponse("B2C_1_SignIn", ["emails": ["m@x"]]), at: Self.b2cAuthority)
        let account = try #require(try fixture.store.account(matching: .all))
        #expect(account.username == "m@x")
        #expect(account.tenantProfiles.map(\.tenantID) == ["t9"])
        #expect(try fixture.rows("AccessToken")[0]["realm"] == "t9")
    }

    @Test func `C20: the placeholder for a username reads as none, and goes back out`() throws {
        let sentence: JSONValue = "Missing from the token response"
        let fixture = try TestStore(.cache(accounts: [.account(["username": sentence])]))
        #expect(try fixture.store.accounts().map(\.username) == [""])
        #expect(try fixture.rows("Account")[0]["username"] == sentence)
    }

    @Test func `C21: a user flow is compared whole`() throws {
        let guid = "3f9a7b52-8c1d-4e60-a2b4-5d6e7f809112"
        let ids = ["\(guid)-b2c_1_susi.t9", "\(guid)-xb2c_1_susi.t9"]
        let rows = ids.map {
            JSONValue.account(["home_account_id": .string($0), "environment": .string(Fixture.b2cHost), "realm": "t9"])
        }
        let fixture = try TestStore(.cache(accounts: rows))
        #expect(try fixture.store.accounts(matching: .userFlow("B2C_1_SUSI")).map(\.id.homeAccountID) == [ids[0]])
    }

    @Test func `C22: two users of one user flow are ambiguous, and both named`() throws {
        let rows = ["o1", "o2"].map {
            JSONValue.account([
                "home_account_id": .string("\($0)-b2c_1_susi.t9"), "environment": .string(Fixture.b2cHost),
                "realm": "t9",
            ])
        }
        let fixture = try TestStore(.cache(accounts: rows))
        let error = #expect(throws: TokenStoreError.self) {
            try fixture.store.account(matching: .userFlow("B2C_1_SUSI"))
        }
        #expect(error?.code == .ambiguousAccount)
        #expect(error?.accounts.count == 2)
    }

    @Test func `C23: another user flow than the account's is refused before any request`() throws {
        let fixture = try TestStore()
        try fixture.signIn(b2cResponse("B2C_1_SignIn"), at: Self.b2cAuthority)
        let error = #expect(throws: TokenStoreError.self) {
            try fixture.request(
                "s9",
                of: Fixture.b2cAccount,
                at: "https://harbor.b2clogin.com/harbor.onmicrosoft.com/b2c_1_edit"
            )
        }
        #expect(error?.code == .userFlowMismatch)
        #expect(error?.userFlow == "b2c_1_signin")
        #expect(error?.remedy == .signIn("sign in with user flow b2c_1_edit"))
    }

    @Test func `C24: both forms of a B2C authority are one`() throws {
        let fixture = try TestStore()
        try fixture.signIn(b2cResponse("B2C_1_SignIn"), at: Self.b2cAuthority)
        let other = "https://harbor.b2clogin.com/harbor.onmicrosoft.com/b2c_1_signin"
        #expect(try fixture.request("s1", of: Fixture.b2cAccount, at: other) == .hit("a"))
    }

    @Test func `C25: an External ID host without a path names its tenant`() throws {
        let authority = try Authority(parsing: "https://harbor.ciamlogin.com/")
        #expect(authority.tenant == "harbor.onmicrosoft.com")
        #expect(authority.userFlow == nil)
        let fixture = try TestStore()
        let saved = try fixture.signIn(.signIn(), at: "https://harbor.ciamlogin.com/")
        let account = try #require(saved.account)
        #expect(try fixture.rows("AccessToken")[0]["realm"] == "t1")
        #expect(try fixture.request("s1", of: account, at: "https://harbor.ciamlogin.com/") == .hit("a"))
    }

    @Test(arguments: [(3600, LookupResult.hit("a")), (-10, .refresh(["r1"]))] as [(Int64, LookupResult)])
    func `C26: tokens under an alias of the host are found`(expiresIn: Int64, answer: LookupResult) throws {
        let alias: JSONValue = .string(Fixture.aliasHost)
        let fixture = try TestStore(
            .cache(
                accessTokens: [.accessToken("a", "s1", expiresIn: expiresIn, ["environment": alias])],
                refreshTokens: [.refreshToken("r1", ["environment": alias])],
                idTokens: [.idToken()],
                accounts: [.account()]
            )
        )
        #expect(try fixture.request("s1") == answer)
        #expect(try fixture.request("s1", at: "https://login.microsoftonline.com/t1") == answer)
        #expect(try fixture.store.accounts().count == 1)
    }

    @Test func `C27: two hosts of one B2C tenant share nothing`() throws {
        let fixture = try TestStore()
        try fixture.signIn(b2cResponse("B2C_1_SignIn"), at: Self.b2cAuthority)
        let other = "https://login.harbor.example/tfp/harbor.onmicrosoft.com/B2C_1_SignIn"
        #expect(try fixture.request("s1", of: Fixture.b2cAccount, at: other) == .signIn(.otherAuthority))
        #expect(try fixture.request("s1", of: Fixture.b2cAccount, at: Self.b2cAuthority) == .hit("a"))
    }

    @Test func `C28: common means the home tenant, and is never stored`() throws {
        let common = "https://login.microsoftonline.com/common"
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1", at: common) == .hit("a"))
        try fixture.refresh(.new(["scope": "s2"]), at: common)
        try fixture.signIn(.signIn(["scope": "s3", "access_token": "b"]), at: common)
        #expect(Set(try fixture.rows("AccessToken").map { $0["realm"] }) == ["t1"])
        #expect(try fixture.request("s2", at: common) == .hit("new"))
    }

    @Test(
        arguments: [
            ("organizations", .signIn(.otherAuthority)), ("common", .hit("a")), ("consumers", .hit("a")),
        ] as [(String, LookupResult)]
    )
    func `C28: a personal account is none of organizations`(tenant: String, answer: LookupResult) throws {
        let id = "u1.9188040d-6c67-4c5b-b112-36a304b66dad"
        let place: KeyValuePairs<String, JSONValue> = ["home_account_id": .string(id), "realm": "consumers"]
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1", place)], accounts: [.account(place)]))
        let account = Account.ID(issuer: Fixture.account.issuer, homeAccountID: id)
        let authority = "https://login.microsoftonline.com/" + tenant
        #expect(try fixture.request("s1", of: account, at: authority) == answer)
    }

    @Test(arguments: ["https://idp.example.com:8443/a", "http://127.0.0.1:9000"])
    func `an account of another provider is used with its own issuer only`(issuer: String) throws {
        let fixture = try TestStore()
        let claims: JSONValue = ["iss": .string(issuer), "sub": "s1"]
        let request = TokenRequest(
            clientID: "cid",
            authority: try Authority(issuer: issuer),
            scope: "s1",
            grant: .authorizationCode
        )
        let body: JSONValue = ["access_token": "a", "expires_in": 3600, "id_token": .string(Fixture.idToken(claims))]
        let account = try #require(try fixture.store.save(TokenResponse(body), for: request).account)
        func answer(_ issuer: String) throws -> LookupResult {
            try fixture.request("s1", of: account) { $0.authority = try? Authority(issuer: issuer) }
        }
        #expect(try answer(issuer) == .hit("a"))
        #expect(try answer(issuer + "/b") == .signIn(.otherAuthority))
        #expect(try answer("https://other.example.com") == .signIn(.otherAuthority))
    }

    @Test func `an ID token that names another user flow does not move the session there`() throws {
        let fixture = try TestStore()
        let response = try b2cResponse("B2C_1_SignIn", ["tfp": "B2C_1_Other"])
        try fixture.signIn(response, at: Self.b2cAuthority)
        #expect(try fixture.store.accounts().map(\.userFlow) == ["b2c_1_signin"])
        let token = try #require(
            try fixture.store.refreshTokens(of: fixture.store.accounts()[0].id, client: Fixture.client).first
        )
        let request = try TokenRequest(
            clientID: Fixture.client,
            authority: Authority(parsing: Self.b2cAuthority),
            scope: "s1",
            grant: .refreshToken
        )
        try fixture.store.save(response, for: request, refreshing: token)
        #expect(try fixture.store.accounts().map(\.userFlow) == ["b2c_1_signin"])
    }

    @Test(arguments: ["https://login.microsoftonline.com/t1", "https://contoso.ciamlogin.com/t1"])
    func `a tenant that was asked for by no user flow has none`(authority: String) throws {
        for name in ["tfp", "acr"] {
            let fixture = try TestStore()
            let claims: JSONValue = ["iss": .string(authority + "/v2.0"), "sub": "s", "tid": "t1"]
            let token = Fixture.idToken(claims.with([name: "B2C_1_Evil"]))
            try fixture.signIn(.signIn(["id_token": .string(token)]), at: authority)
            #expect(try fixture.store.accounts().map(\.userFlow) == [nil])
        }
    }

    @Test(arguments: ["my flow", "b2c_1/../evil", "B2C_1?x", ""])
    func `a user flow that cannot stand in an address is none`(name: String) throws {
        let fixture = try TestStore()
        let claims: JSONValue = ["iss": "https://idp.example.com", "sub": "s", "tfp": .string(name)]
        let response = try TokenResponse.signIn(["id_token": .string(Fixture.idToken(claims))], without: "client_info")
        try fixture.signIn(response, at: "https://idp.example.com/adfs")
        #expect(try fixture.store.accounts().map(\.userFlow) == [nil])
    }
}
