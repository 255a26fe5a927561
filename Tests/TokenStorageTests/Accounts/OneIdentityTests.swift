import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Promise 11: two ids of accounts are equal in memory exactly when they are one row in the store.
@Suite(.onBothEngines)
struct OneIdentityTests {
    private static let tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"

    private static let issuers = [
        "https://idp.example.com", "https://idp.example.com/", "https://IDP.example.com",
        "https://idp.example.com:8443",
    ]

    /// Texts that some comparison takes for each other: by case, by Unicode's equivalence, by white space.
    private static let subjects = [
        "Alice", "alice", "ALICE", " alice", "é", "e\u{301}", "É", "ß", "SS", "ss", "K", "\u{212A}", "k", "u1.t1",
        "U1.T1",
        "x.\(tenant)", "X.\(tenant.uppercased())",
    ]

    /// Stores an account of each issuer and subject, and of a Microsoft host.
    private static func accounts(_ fixture: TestStore) throws -> [Account.ID] {
        let claims = issuers.flatMap { issuer in subjects.map { (issuer, $0) } }
        let own = try claims.map { issuer, subject in
            let idToken = Fixture.idToken(["iss": .string(issuer), "sub": .string(subject), "aud": "cid"])
            let request = TokenRequest(
                clientID: "cid",
                authority: try Authority(issuer: issuer),
                scope: "s1",
                grant: .authorizationCode
            )
            return try #require(try fixture.store.save(.new(["id_token": .string(idToken)]), for: request).account)
        }
        let microsoft = try ["u1", "U1"].map { user in
            let response = try TokenResponse.new(["client_info": .string(Fixture.clientInfo(user, "t1"))])
            return try #require(try fixture.signIn(response).account)
        }
        return own + microsoft
    }

    @Test func `a Microsoft tenant has the same accounts by its issuer and by its address`() throws {
        let fixture = try TestStore()
        let address = "https://login.microsoftonline.com/\(Self.tenant)"
        let claims = Fixture.claims(["iss": .string(address + "/v2.0"), "tid": .string(Self.tenant)])
        let response = try TokenResponse.signIn([
            "client_info": .string(Fixture.clientInfo("u1", Self.tenant)),
            "id_token": .string(Fixture.idToken(claims)),
        ])
        for authority in [try Authority(issuer: address + "/v2.0"), try Authority(parsing: address)] {
            let request = TokenRequest(
                clientID: "cid",
                authority: authority,
                scope: "s1",
                grant: .authorizationCode
            )
            _ = try fixture.store.save(response, for: request)
        }
        #expect(try fixture.store.accounts().map(\.id.homeAccountID) == ["u1.\(Self.tenant)"])
    }

    @Test func `two account ids are equal exactly when the store has one row for them`() throws {
        let fixture = try TestStore()
        let ids = try Self.accounts(fixture)
        #expect(Set(ids).count == Self.issuers.count * Self.subjects.count + 1)
        #expect(try fixture.store.accounts().count == Set(ids).count)
        let rows = try ids.map { id in try #require(try Self.row(id, fixture.store)) }
        for (left, leftRow) in zip(ids, rows) {
            for (right, rightRow) in zip(ids, rows) where (left == right) != (leftRow == rightRow) {
                Issue.record("\(left) and \(right)")
            }
            for text in [left.homeAccountID.uppercased(), left.homeAccountID.lowercased(), left.homeAccountID + " "] {
                let other = Account.ID(issuer: left.issuer, homeAccountID: text)
                #expect(try (Self.row(other, fixture.store) == leftRow) == (other == left), "\(left) and \(other)")
            }
        }
    }

    /// The row of an account, by the bytes that it alone has.
    private static func row(_ id: Account.ID, _ store: TokenStore) throws -> [[UInt8]]? {
        try store.account(id).map { [Array($0.id.issuer.utf8), Array($0.id.homeAccountID.utf8)] }
    }

    @Test func `rows without an ID token at another host belong to the subject they name`() throws {
        let host: JSONValue = "idp.example.com"
        let fixture = try TestStore(
            .cache(
                accessTokens: ["Alice", "alice"].map {
                    .accessToken("at-" + $0, "s1", ["home_account_id": .string($0), "environment": host, "realm": ""])
                }
            )
        )
        for name in ["Alice", "alice"] {
            let id = Account.ID(issuer: "idp.example.com", homeAccountID: name)
            #expect(try fixture.request("s1", of: id) == .hit("at-" + name))
        }
    }

    @Test func `a sign-in as a guest keeps the username of the home tenant`() throws {
        let fixture = try TestStore()
        func signIn(_ claims: JSONValue, at tenant: String) throws {
            let response = try TokenResponse.signIn(["id_token": .string(Fixture.idToken(claims))])
            try fixture.signIn(response, at: "https://login.microsoftonline.com/\(tenant)")
        }
        let guest: KeyValuePairs<String, JSONValue> = [
            "tid": "t2", "oid": "g1", "name": "Ada (guest)", "preferred_username": "ada#EXT#@guest.example",
        ]
        try signIn(Fixture.claims(guest), at: "t2")
        #expect(try fixture.store.accounts().map(\.name) == ["Ada (guest)"])
        try signIn(Fixture.claims(), at: "t1")
        try signIn(Fixture.claims(guest), at: "t2")
        #expect(try fixture.store.accounts().map(\.name) == ["Ada"])
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
    }

    @Test func `a cached token answers only the exact query it was found for`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["scope": "s1"]), scope: "s1 s2")
        #expect(try fixture.request("s1 s2") { $0.acceptsDeclined = true } == .hit("a"))
        #expect(try fixture.request("s1 s2") { $0.acceptsDeclined = false } == .refresh(["r"]))
    }
}

/// `client_info` is not signed: it names the user only where Microsoft's endpoints were asked for it.
@Suite(.onBothEngines)
struct ClientInfoTests {
    private static let tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"

    private static func response(_ subject: String, issuer: String) throws -> TokenResponse {
        let claims: JSONValue = ["iss": .string(issuer), "sub": .string(subject), "aud": "cid"]
        return try TokenResponse([
            "access_token": .string("at-" + subject), "refresh_token": .string("rt-" + subject), "expires_in": 3600,
            "id_token": .string(Fixture.idToken(claims)), "client_info": .string(Fixture.clientInfo("victim", tenant)),
        ])
    }

    @Test func `client_info from a plain OpenID provider names no user`() throws {
        let fixture = try TestStore()
        let ids = try ["a", "b"].map { name in
            let issuer = "https://idp.example.com/\(name)"
            let request = TokenRequest(
                clientID: "cid",
                authority: try Authority(issuer: issuer),
                scope: "s1",
                grant: .authorizationCode
            )
            let id = try #require(try fixture.store.save(Self.response(name, issuer: issuer), for: request).account)
            #expect(id == Account.ID(issuer: issuer, homeAccountID: name))
            return id
        }
        for (id, name) in zip(ids, ["a", "b"]) { #expect(try fixture.request("s1", of: id) == .hit("at-" + name)) }
    }

    @Test func `client_info from another host names only the tenant of its issuer`() throws {
        let fixture = try TestStore()
        let names = ["a": "https://idp.example.com/a", "b": "https://idp.example.com/\(Self.tenant)/v2.0"]
        let ids = try names.map { name, issuer in
            let authority = "https://idp.example.com/\(name)"
            return try #require(try fixture.signIn(Self.response(name, issuer: issuer), at: authority).account)
        }
        #expect(
            Set(ids) == [
                Account.ID(issuer: "https://idp.example.com/a", homeAccountID: "a"),
                Account.ID(issuer: "idp.example.com", homeAccountID: "victim." + Self.tenant),
            ]
        )
    }

    @Test func `client_info that names another user than the ID token is refused`() throws {
        let fixture = try TestStore()
        let claims = Fixture.claims(["oid": "mallory"])
        #expect(throws: TokenStoreError.self) {
            try fixture.signIn(.signIn(["id_token": .string(Fixture.idToken(claims))]))
        }
        #expect(try fixture.store.accounts().isEmpty)
        // A guest is another user of another tenant.
        let guest = Fixture.claims(["oid": "guest", "tid": "t2"])
        #expect(try fixture.signIn(.signIn(["id_token": .string(Fixture.idToken(guest))])).account == Fixture.account)
    }

    @Test func `client_info of an imported row counts when the issuer names the tenant`() throws {
        let id = "Victim." + Self.tenant
        let issuers = ["https://idp.example.com/a", "https://idp.example.com/b"]
        let places: KeyValuePairs<String, JSONValue> = [
            "home_account_id": .string(id), "environment": "idp.example.com",
        ]
        let fixture = try TestStore(
            .cache(
                accessTokens: issuers.enumerated().map { index, issuer in
                    .accessToken("at-" + issuer, "s1", ["realm": .string("r\(index)")]).with(places)
                },
                idTokens: issuers.enumerated().map { index, issuer in
                    let claims: JSONValue = ["iss": .string(issuer), "sub": "s", "aud": "cid"]
                    return .idToken(claims, ["realm": .string("r\(index)")]).with(places)
                }
            )
        )
        for issuer in issuers {
            let account = Account.ID(issuer: issuer, homeAccountID: id)
            #expect(try fixture.request("s1", of: account) == .hit("at-" + issuer))
        }
        #expect(try fixture.take(fixture.export()).changes == 0)
    }
}
