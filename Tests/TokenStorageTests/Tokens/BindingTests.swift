import Database
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Promise 7: a process that can write the file without its key cannot give a secret another purpose.
@Suite(.aboutFiles("rows are altered in the file"))
struct BindingTests {
    private static let other = Account.ID(issuer: "login.windows.net", homeAccountID: "u2.t1")

    /// A store with two accounts that signed in to one client.
    func twoAccounts() throws -> TestStore {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let claims = Fixture.claims(["sub": "s2", "oid": "u2", "preferred_username": "bob@example.net", "name": "Bob"])
        try fixture.signIn(
            .signIn([
                "access_token": "b", "refresh_token": "rb", "client_info": .string(Fixture.clientInfo("u2", "t1")),
                "id_token": .string(Fixture.idToken(claims)),
            ])
        )
        return fixture
    }

    /// Edits the file as any process can that may write it.
    func edit(_ fixture: TestStore, _ statements: String) throws {
        let connection = try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute(statements)
    }

    @Test func `exchanged user names give no account, and a check finds them`() throws {
        let fixture = try twoAccounts()
        try edit(
            fixture,
            """
            UPDATE account SET username = CASE id WHEN 1 THEN 'bob@example.net' ELSE 'ada@example.net' END;
            UPDATE account SET username_fold = username;
            """
        )
        expectError(.damaged) { _ = try fixture.store.account(username: "ada@example.net") }
        #expect(try fixture.store.check().count == 2)
    }

    @Test func `an account with an altered username is listed and hides no other`() throws {
        let fixture = try twoAccounts()
        try edit(fixture, "UPDATE account SET username = 'x', username_fold = 'x' WHERE id = 1")
        expectError(.damaged) { _ = try fixture.store.account(username: "ada@example.net") }
        #expect(try fixture.store.account(username: "bob@example.net")?.id == Self.other)
    }

    @Test func `exchanged account ids give neither tokens nor accounts`() throws {
        let fixture = try twoAccounts()
        try edit(
            fixture,
            """
            UPDATE account SET account_key = 'x' WHERE id = 1;
            UPDATE account SET account_key = 'u1.t1', home_account_id = 'u1.t1', uid = 'u1' WHERE id = 2;
            UPDATE account SET account_key = 'u2.t1', home_account_id = 'u2.t1', uid = 'u2' WHERE id = 1;
            """
        )
        expectError(.damaged) { _ = try fixture.request("s1") }
        expectError(.damaged) { _ = try fixture.request("s1", of: Self.other) }
        expectError(.damaged) { _ = try fixture.store.accounts() }
        expectError(.damaged) { _ = try fixture.store.exportedText() }
        #expect(try fixture.store.check().isEmpty == false)
    }

    @Test(arguments: [
        "expires_on = expires_on + 100000", "cached_at = cached_at - 5", "extended_expires_on = 2000000000",
        "refresh_on = 2000000000", "target = target || ' s9', scope_fold = scope_fold || ' s9'",
        "scope_fold = scope_fold || ' s9'", "asked_fold = 's9'", "token_type = 'pop'", "token_type_fold = 'bearer '",
        "client_id = 'other'", "environment = 'login.example.org'", "realm = 't2'", "credential_type = 'x'",
        "account_id = 3 - account_id", "account_id = NULL", "id = id + 7", "variant = 'v'", "key_id = 'k'",
    ])
    func `an access token with altered columns is not handed out, and a check finds it`(assignment: String) throws {
        let fixture = try twoAccounts()
        try edit(fixture, "UPDATE access_token SET \(assignment)")
        #expect(try fixture.request("s1") == .refresh(["r"]))
        #expect(try fixture.request("s9") == .refresh(["r"]))
        #expect(try fixture.store.check().count == 2)
        // Where nothing can be fetched instead, the answer is not that there is nothing.
        try edit(fixture, "DELETE FROM refresh_token")
        let isStillFound = !["account_id", "variant", "key_id", "token_type_fold"].contains(where: assignment.hasPrefix)
        if isStillFound { expectError(.damaged) { _ = try fixture.request("s1") } }
    }

    @Test(arguments: [
        "refresh_token SET environment = 'login.example.org'", "refresh_token SET target = 's9'",
        "refresh_token SET family_id = '1'", "refresh_token SET generation = generation + 1",
        "refresh_token SET modified_at = modified_at + 1", "refresh_token SET client_id = 'other'",
        "refresh_token SET credential_type = 'x'", "refresh_token SET account_id = 3 - account_id",
        "refresh_token SET client_fold = 'cid2', client_id = 'cid2'", "account SET environment = 'login.example.org'",
        "account SET issuer = 'https://login.example.org'", "account SET utid = 't2'", "account SET policy = 'b2c_1_x'",
        "account SET last_used_at = last_used_at + 1", "account SET username = 'x'",
        "account SET name = (SELECT name FROM account b WHERE b.id <> account.id)", "account SET name = NULL",
    ])
    func `a refresh token with altered columns, or of an altered account, is not used`(change: String) throws {
        let fixture = try twoAccounts()
        try edit(fixture, "UPDATE \(change)")
        for client in ["cid", "cid2"] where client == "cid" || change.contains("cid2") {
            expectError(.damaged) {
                _ = try fixture.store.refreshTokens(of: Fixture.account, client: client, family: "1").count
                guard !change.contains("cid2") || client == "cid2" else {
                    throw TokenStoreError.damaged("none", .repair)
                }
            }
        }
        #expect(try !fixture.store.check().isEmpty)
    }

    @Test func `a sign-in replaces an altered account and keeps nothing of it`() throws {
        let fixture = try twoAccounts()
        try edit(
            fixture,
            """
            UPDATE account SET issuer = 'https://evil.example', username = 'x', username_fold = 'x' WHERE id = 1;
            UPDATE refresh_token SET environment = 'evil.example', client_id = 'x' WHERE id = 1;
            UPDATE tenant_profile SET local_account_id = 'x' WHERE id = 1;
            UPDATE id_token SET realm = 'x' WHERE id = 1;
            UPDATE account_state SET state = 'signed_out' WHERE id = 1;
            UPDATE app_metadata SET family_id = '1';
            """
        )
        #expect(try fixture.store.check().count >= 6)
        try fixture.signIn(.signIn(["access_token": "a2", "refresh_token": "r2"]))
        #expect(try fixture.store.check() == [])
        #expect(try fixture.request("s1") == .hit("a2"))
        #expect(try !fixture.store.exportedText().contains("evil"))
        #expect(try fixture.store.account(username: "ada@example.net")?.id == Fixture.account)
    }

    @Test(arguments: ["document = '{\"token_endpoint\":\"https://evil.example\"}'", "ends_at = 9e9", "mac = NULL"])
    func `an altered document of an issuer is fetched again`(assignment: String) throws {
        let fixture = try TestStore()
        let url = "https://login.example.org"
        try fixture.store.saveIssuerDocument(JSONValue.Object([("issuer", .string(url))]), url: url, lifetime: 60)
        #expect(try fixture.store.issuerDocument(url) != nil)
        try edit(fixture, "UPDATE issuer_document SET \(assignment)")
        #expect(try fixture.store.issuerDocument(url) == nil)
        #expect(try fixture.store.check().count == 1)
        try fixture.store.saveIssuerDocument(JSONValue.Object([("issuer", .string(url))]), url: url, lifetime: 60)
        #expect(try fixture.store.check() == [])
    }

    @Test(arguments: ["UPDATE account_state SET state = 'signed_out'", "UPDATE account_state SET mac = NULL"])
    func `an altered sign-in state decides nothing`(statement: String) throws {
        let fixture = try twoAccounts()
        try edit(fixture, statement)
        expectError(.damaged) { _ = try fixture.store.signInState(of: Fixture.account, client: "cid") }
        #expect(try fixture.store.check().count == 2)
    }

    @Test func `a sign-out that was altered to a sign-in hands out no token`() throws {
        let item: JSONValue = ["client_id": "cid", "home_account_id": "u1.t1", "sign_in_state": "signed_out"]
        let record: JSONValue = ["client_id": "cid", "account_metadata_map": ["u1.t1": item]]
        let fixture = try TestStore(
            .standardCache(.accessToken("a", "s1")).with(["AccountMetadataMap": ["cid": record]])
        )
        #expect(try fixture.request("s1") == .signIn(.signedOut))
        try edit(fixture, "UPDATE account_state SET state = 'signed_in'")
        expectError(.damaged) { _ = try fixture.request("s1") }
        #expect(try fixture.store.check().count == 1)
    }

    @Test func `an altered map of authorities decides nothing`() throws {
        let fixture = try TestStore()
        try fixture.signIn(
            .signIn(["id_token": .string(Fixture.idToken(Fixture.claims(["tid": "t7"])))]),
            at: Self.domain
        )
        #expect(try fixture.request("s1", at: Self.domain) == .hit("a"))
        try edit(fixture, "UPDATE authority_map SET resolved = 'https://login.microsoftonline.com/t1'")
        expectError(.damaged) { _ = try fixture.request("s1", at: Self.domain) }
        #expect(try fixture.store.check().count == 1)
    }

    private static let domain = "https://login.microsoftonline.com/example.net"

    @Test func `an altered claim index finds no account, and a repair corrects it`() throws {
        let fixture = try twoAccounts()
        try edit(
            fixture,
            """
            CREATE TEMP TABLE swapped AS SELECT 3 - id_token_id AS id, name_hash, value_hash FROM claim_index;
            DELETE FROM claim_index;
            INSERT INTO claim_index SELECT * FROM swapped;
            """
        )
        expectError(.damaged) { _ = try fixture.store.accounts(matching: .claim("name", equals: "Ada")) }
        expectError(.damaged) { _ = try fixture.store.purge(.claim("name", equals: "Ada")) }
        #expect(
            try fixture.store.check().map(\.location) == ["id_token row 1, claim_index", "id_token row 2, claim_index"]
        )
    }

    @Test func `an altered fingerprint does not keep a replaced refresh token`() throws {
        let fixture = try twoAccounts()
        let token = try fixture.currentRefreshToken()
        try edit(fixture, "UPDATE refresh_token SET fingerprint = x'0011223344556677'")
        #expect(try fixture.store.check().count == 2)
        try fixture.refresh(.new(["refresh_token": "r2"]), with: token)
        #expect(try fixture.currentRefreshToken().secret == Secret("r2"))
        #expect(try fixture.store.check().map(\.location) == ["refresh_token row 2, fingerprint"])
    }
}
