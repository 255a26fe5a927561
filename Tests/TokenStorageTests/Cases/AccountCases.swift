import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Rules C80 to C86: listing, finding and removing accounts.
@Suite(.onBothEngines)
struct AccountCases {
    private func row(_ name: String) -> JSONValue {
        .account(["home_account_id": .string("\(name).t1"), "username": .string(name)])
    }

    private func refreshToken(_ name: String) -> JSONValue {
        .refreshToken("r-\(name)", ["home_account_id": .string("\(name).t1")])
    }

    @Test func `C80: a refresh token or the state signs an account in, until a sign-out`() throws {
        let names = ["a", "b", "c", "d", "e"]
        let states: JSONValue = [
            "b.t1": ["client_id": "cid", "sign_in_state": "signed_in"],
            "c.t1": ["client_id": "cid", "sign_in_state": "signed_out"],
        ]
        // A broker's is none that the client may use.
        let broker = refreshToken("e").with(["credential_type": "PrimaryRefreshToken"])
        let tokens = [refreshToken("a"), refreshToken("c"), broker]
        let document = JSONValue.cache(refreshTokens: tokens, accounts: names.map(row))
        let fixture = try TestStore(
            document.with(["AccountMetadataMap": ["cid": ["client_id": "cid", "account_metadata_map": states]]])
        )
        #expect(try fixture.store.signedInAccounts(client: "cid").map(\.username) == ["a", "b"])
        #expect(try fixture.store.accounts().map(\.username) == names)
    }

    @Test func `C81: rows of two tenants are one account with two tenant profiles`() throws {
        let fixture = try TestStore(
            .cache(
                idTokens: [
                    .idToken(Fixture.claims(["tid": "t2", "aud": "cid2", "sub": "sibling"]), ["client_id": "cid2"]),
                    .idToken(Fixture.claims(["tid": "t2", "sub": "guest"]), ["realm": "t2"]), .idToken(),
                ],
                accounts: [.account(["realm": "t2", "local_account_id": "g1"]), .account()]
            )
        )
        let account = try #require(try fixture.store.account(matching: .all))
        #expect(account.tenantProfiles.map(\.tenantID) == ["t1", "t2"])
        #expect(account.tenantProfiles.map(\.isHome) == [true, false])
        #expect(account.tenantProfiles.map(\.localAccountID) == ["u1", "g1"])
        let own = try fixture.store.idTokens(of: account.id, client: "cid")
        #expect(
            Dictionary(uniqueKeysWithValues: own.map { ($0.tenantID, $0.idToken.claims.subject) }) == [
                "t1": "s1", "t2": "guest",
            ]
        )
        #expect(try fixture.store.idTokens(of: account.id, client: "cid2").map(\.idToken.claims.subject) == ["sibling"])
    }

    @Test func `C82: an id is found in any case`() throws {
        let fixture = try TestStore(.standardCache())
        #expect(try fixture.store.account(matching: .homeAccountID("U1.T1"))?.id == Fixture.account)
    }

    @Test(arguments: ["", "  "])
    func `C82: a blank username is refused`(username: String) throws {
        let fixture = try TestStore(.standardCache())
        let error = #expect(throws: TokenStoreError.self) { try fixture.store.account(username: username) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `C82: a username that two accounts have is ambiguous`() throws {
        let rows = ["u1.t1", "u2.t1"].map { JSONValue.account(["home_account_id": .string($0)]) }
        let fixture = try TestStore(.cache(accounts: rows))
        let error = #expect(throws: TokenStoreError.self) { try fixture.store.account(username: "ADA@example.net") }
        #expect(error?.code == .ambiguousAccount)
        #expect(Set(error?.accounts.map(\.id.homeAccountID) ?? []) == ["u1.t1", "u2.t1"])
    }

    private func twoClients() throws -> TestStore {
        let hosts = [Fixture.host, Fixture.aliasHost].map { JSONValue.string($0) }
        let places = ["cid", "cid2"].flatMap { client in hosts.map { (JSONValue.string(client), $0) } }
        return try TestStore(
            .cache(
                accessTokens: places.map { .accessToken("a", "s1", ["client_id": $0, "environment": $1]) },
                refreshTokens: places.map { .refreshToken("r", ["client_id": $0, "environment": $1]) },
                idTokens: places.map { .idToken(Fixture.claims(), ["client_id": $0, "environment": $1]) },
                accounts: hosts.map { .account(["environment": $0]) }
            )
        )
    }

    @Test func `C83: removing an account deletes one client's tokens under every host`() throws {
        let fixture = try twoClients()
        try fixture.store.removeAccount(Fixture.account, client: "CID")
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        for bucket in ["AccessToken", "RefreshToken", "IdToken"] {
            #expect(try fixture.rows(bucket).map { $0["client_id"] } == ["cid2", "cid2"])
        }
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
        #expect(try fixture.request("s1") == .signIn(.signedOut))
        #expect(try fixture.request("s1", client: "cid2") == .hit("a"))
        #expect(try fixture.rows("Account").count == 2)
    }

    @Test func `C84: wiping an account deletes the tokens of every client`() throws {
        let fixture = try twoClients()
        try fixture.store.removeAccount(Fixture.account)
        try fixture.store.removeAccount(Fixture.account)
        #expect(try fixture.export() == [:])
        for client in ["cid", "cid2"] {
            #expect(try fixture.request("s1", client: client) == .signIn(.signedOut))
        }
    }

    @Test func `C84: wiping signs out of a client whose tokens are all gone, too`() throws {
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("r2", ["client_id": "cid2"])]))
        try fixture.signIn(.new(["client_info": .string(Fixture.clientInfo("u1", "t1"))]))
        fixture.clock.seconds += 4000
        _ = try fixture.store.purgeExpired()
        try fixture.store.removeAccount(Fixture.account)
        try fixture.take(.cache(accounts: [.account()]))
        #expect(try fixture.store.signedInAccounts(client: "cid").isEmpty)
        #expect(try fixture.request("s1") == .signIn(.signedOut))
    }

    @Test func `C85: the current account is the only one there is`() throws {
        let fixture = try TestStore(.cache(accounts: [row("a")]))
        #expect(try fixture.store.account(matching: .all)?.username == "a")
        try fixture.take(.cache(accounts: [row("b")]))
        let error = #expect(throws: TokenStoreError.self) { try fixture.store.account(matching: .all) }
        #expect(error?.code == .ambiguousAccount)
    }

    @Test func `C86: a family token does not sign in a client that has signed out`() throws {
        let fixture = try TestStore(
            .cache(refreshTokens: [
                .refreshToken("r1"), .refreshToken("family", ["client_id": "cid2", "family_id": "1"]),
            ])
        )
        #expect(try fixture.request("s1") == .refresh(["r1", "family"]))
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        #expect(try fixture.request("s1") == .signIn(.signedOut))
        #expect(try fixture.rows("RefreshToken").count == 1)
    }
}
