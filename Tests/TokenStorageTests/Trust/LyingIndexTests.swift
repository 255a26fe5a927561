import Database
import OAuth
import SQL
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// An index is not sealed: who writes the file can make its entries name other rows, and needs no key for that.
@Suite(.aboutFiles("entries of indexes are altered in the file"))
struct LyingIndexTests {
    /// An entry of an index, and the policy by which it finds an account.
    struct Lie: CustomTestStringConvertible {
        let index: String
        let entry: String
        let policy: AccountPolicy

        var testDescription: String { index }
    }

    private static func id(_ person: String) -> Account.ID {
        Account.ID(issuer: "login.windows.net", homeAccountID: person + ".t1")
    }

    private static func response(_ person: String, _ token: String) throws -> TokenResponse {
        let claims = Fixture.claims([
            "sub": .string("s-" + person), "oid": .string(person),
            "preferred_username": .string(person + "@example.net"),
        ])
        return try .signIn([
            "access_token": .string(token), "refresh_token": .string("r-" + token),
            "client_info": .string(Fixture.clientInfo(person, "t1")), "id_token": .string(Fixture.idToken(claims)),
        ])
    }

    private func signIn(
        _ person: String,
        _ token: String,
        client: String = "cid",
        to store: TokenStore
    ) throws -> SavedTokens {
        let request = TokenRequest(
            clientID: client,
            authority: try Fixture.authority(),
            scope: "s1",
            grant: .authorizationCode
        )
        return try store.save(Self.response(person, token), for: request)
    }

    /// A closed store whose accounts u1, u2 and u3 have the rows 1, 2 and 3 in each table, and in whose file an entry
    /// of an index names another row, or says another text of it.
    private func altered(
        _ index: String,
        _ entry: String,
        from row: UInt8,
        to other: UInt8,
        named name: String? = nil
    ) throws -> TestStore {
        let fixture = try TestStore()
        for person in ["u1", "u2", "u3"] { _ = try signIn(person, person, to: fixture.store) }
        try alter(fixture, index, entry, from: row, to: other, named: name)
        return fixture
    }

    /// The same, where the rows 2 and 3 are those of the account u2 at the clients "cid" and "other".
    private func alteredClients(
        _ index: String,
        _ entry: String,
        from row: UInt8 = 2,
        to other: UInt8 = 3
    ) throws -> TestStore {
        let fixture = try TestStore()
        for person in ["u1", "u2"] { _ = try signIn(person, person, to: fixture.store) }
        _ = try signIn("u2", "other", client: "other", to: fixture.store)
        try alter(fixture, index, entry, from: row, to: other)
        return fixture
    }

    private func alter(
        _ fixture: TestStore,
        _ index: String,
        _ entry: String,
        from row: UInt8,
        to other: UInt8,
        named name: String? = nil
    ) throws {
        fixture.store.close()
        let connection = try Connection(path: fixture.path.database, mode: .immutable, busyTimeout: .zero)
        let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = ?1", .text(index))
        let start = (Int(try #require(root)) - 1) * 4_096
        try DamagedFile(fixture.path.database).change { bytes in
            let found = bytes[start..<start + 4_096].firstRange(of: Array(entry.utf8) + [row])
            #expect(found != nil, "the index has no such entry")
            if let found { bytes.replaceSubrange(found, with: Array((name ?? entry).utf8) + [other]) }
        }
    }

    private func expectSession(_ person: String, in store: TokenStore) throws {
        let tokens = try store.refreshTokens(of: Self.id(person), client: "cid")
        #expect(tokens.map(\.secret) == [Secret("r-" + person)])
        #expect(try store.idTokens(of: Self.id(person)).map(\.idToken.claims.subject) == ["s-" + person])
    }

    private func expectWaiting(_ saved: SavedTokens, _ fixture: TestStore) throws {
        if case .pending = saved.outcome {} else { Issue.record("\(saved.outcome)") }
        #expect(try fixture.path.pendingAnswers().count == 1)
    }

    @Test(arguments: [("u2", 2, 3, "u3"), ("u3", 3, 2, "u2")] as [(String, UInt8, UInt8, String)])
    func `a sign-in is not written to the account that the index of identities names`(
        person: String,
        row: UInt8,
        named: UInt8,
        other: String
    ) throws {
        let entry = person + ".t1login.windows.net"
        let fixture = try altered("sqlite_autoindex_account_1", entry, from: row, to: named)
        let store = try fixture.another()
        try expectWaiting(signIn(person, "new", to: store), fixture)
        expectError(.damaged) { _ = try store.idTokens(of: Self.id(person)) }
        expectError(.damaged) { try store.setTags(["a": "b"], of: Self.id(person)) }
        expectError(.damaged) { try store.setDefaultAccount(Self.id(person)) }
        expectError(.damaged) { _ = try store.removeAccount(Self.id(person)) }
        try expectSession(other, in: store)
        #expect(try !store.check().isEmpty)
    }

    @Test(arguments: [
        ("sqlite_autoindex_id_token_1", "\u{2}cidt1login.microsoftonline.com"),
        ("sqlite_autoindex_tenant_profile_1", "\u{2}t1login.microsoftonline.com"),
        ("sqlite_autoindex_account_state_1", "\u{2}cid"),
    ])
    func `a sign-in takes no row of another account that an index names`(index: String, entry: String) throws {
        let fixture = try altered(index, entry, from: 2, to: 3)
        let store = try fixture.another()
        try expectWaiting(signIn("u2", "new", to: store), fixture)
        try expectSession("u3", in: store)
        #expect(try store.signInState(of: Self.id("u3"), client: "cid") == .signedIn)
    }

    @Test func `a refresh token is stored beside one of another account that the index names`() throws {
        let fixture = try altered("refresh_token_account", "\u{2}cid", from: 2, to: 3)
        let store = try fixture.another()
        #expect(try signIn("u2", "new", to: store).outcome == .stored)
        try expectSession("u3", in: store)
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try repaired.refreshTokens(of: Self.id("u2"), client: "cid").first?.secret == Secret("r-new"))
        try expectSession("u3", in: repaired)
    }

    @Test func `a client that an index alone names is not one of the lost sign-ins`() throws {
        let fixture = try altered("refresh_token_account", "\u{2}cid", from: 2, to: 2, named: "\u{2}zid")
        let report = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(report.lostSignIns == [])
        #expect(!report.mayHaveLostOthers)
        try expectSession("u2", in: fixture.another())
    }

    @Test(arguments: [false, true])
    func `a refresh token is stored beside one of another client that the index names`(isImported: Bool) throws {
        let fixture = try alteredClients("refresh_token_account", "\u{2}cid")
        let store = try fixture.another()
        if isImported {
            let token = JSONValue.refreshToken("r-new", ["home_account_id": "u2.t1", "target": "s1 s2 s3"])
            #expect(try store.take(JSONValue.cache(refreshTokens: [token]).serialized).refreshTokens == 1)
        } else {
            #expect(try signIn("u2", "new", to: store).outcome == .stored)
        }
        let other = try store.refreshTokens(of: Self.id("u2"), client: "other")
        #expect(other.map(\.secret) == [Secret("r-other")])
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        let own = try repaired.refreshTokens(of: Self.id("u2"), client: "cid")
        #expect(own.contains { $0.secret == Secret("r-new") })
        #expect(own.allSatisfy { $0.clientID == "cid" })
        #expect(try repaired.refreshTokens(of: Self.id("u2"), client: "other").map(\.secret) == [Secret("r-other")])
    }

    @Test(arguments: [
        ("sqlite_autoindex_id_token_1", "\u{2}cidt1login.microsoftonline.com"),
        ("sqlite_autoindex_account_state_1", "\u{2}cid"),
    ])
    func `a sign-in takes no row of another client that an index names`(index: String, entry: String) throws {
        let fixture = try alteredClients(index, entry)
        let store = try fixture.another()
        try expectWaiting(signIn("u2", "new", to: store), fixture)
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try repaired.idTokens(of: Self.id("u2")).map(\.clientID).sorted() == ["cid", "other"])
        #expect(try repaired.signInState(of: Self.id("u2"), client: "other") == .signedIn)
    }

    @Test func `a sign-in takes no family of another client that an index names`() throws {
        let index = "sqlite_autoindex_app_metadata_1"
        let fixture = try alteredClients(index, "otherlogin.microsoftonline.com", from: 2, to: 1)
        let store = try fixture.another()
        try expectWaiting(signIn("u2", "new", client: "other", to: store), fixture)
    }

    @Test func `a planted index gives no client the refresh token of another`() throws {
        let tokens = [JSONValue.refreshToken("r-cid"), .refreshToken("r-other", ["client_id": "other"])]
        let document = JSONValue.cache(refreshTokens: tokens, idTokens: [.idToken()], accounts: [.account()])
        let fixture = try TestStore.closed(document)
        // It files the row of the other client under this one, and the statistics make it the way to the rows.
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            """
            DROP INDEX refresh_token_account;
            CREATE INDEX refresh_token_account
                ON refresh_token (account_id, CASE id WHEN 2 THEN 'cid' ELSE client_fold END);
            CREATE INDEX planted ON refresh_token (family_id);
            ANALYZE;
            DELETE FROM sqlite_stat1;
            INSERT INTO sqlite_stat1 VALUES ('refresh_token', 'refresh_token_account', '1000000 900000 1'),
                ('refresh_token', 'planted', '1000000 1'), ('account', 'sqlite_autoindex_account_1', '100000 1 1');
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema
            SET sql = 'CREATE INDEX refresh_token_account ON refresh_token (account_id, client_fold)'
            WHERE name = 'refresh_token_account'
            """
        )
        let found = try fixture.another().refreshTokens(of: Fixture.account, client: "cid", family: "1")
        #expect(found.map(\.secret) == [Secret("r-cid")])
    }

    @Test(arguments: [
        Lie(index: "account_username", entry: "u3@example.net", policy: .username("u3@example.net")),
        Lie(index: "account_username", entry: "u3@example.net", policy: .identifier("u3@example.net")),
        Lie(index: "sqlite_autoindex_account_1", entry: "u3.t1login.windows.net", policy: .homeAccountID("u3.t1")),
        Lie(index: "sqlite_autoindex_account_1", entry: "u3.t1login.windows.net", policy: .identifier("u3.t")),
        Lie(index: "tenant_profile_local", entry: "u3", policy: .localAccountID("u3")),
    ])
    func `an index gives no account for another`(lie: Lie) throws {
        let fixture = try altered(lie.index, lie.entry, from: 3, to: 2)
        let store = try fixture.another()
        expectError(.damaged) { _ = try store.account(matching: lie.policy) }
        expectError(.damaged) { _ = try store.accounts(matching: lie.policy) }
        expectError(.damaged) { _ = try store.purge(lie.policy) }
        try expectSession("u2", in: store)
    }

    @Test func `accounts of a column that was made to ignore case have no tokens of each other`() throws {
        let fixture = try TestStore()
        let issuer = "https://login.example.org"
        let accounts = ["Zm9vYg", "zM9vYg"].map { Account.ID(issuer: issuer, homeAccountID: $0) }
        let request = TokenRequest(
            clientID: "cid",
            authority: try Authority(issuer: issuer),
            scope: "s1",
            grant: .authorizationCode
        )
        for account in accounts {
            let subject = account.homeAccountID
            let claims: JSONValue = ["iss": .string(issuer), "sub": .string(subject), "iat": 1_789_999_990]
            let response = try TokenResponse([
                "access_token": "a", "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": .string("r-" + subject), "id_token": .string(Fixture.idToken(claims)),
            ])
            try fixture.store.save(response, for: request)
        }
        fixture.store.close()
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'account_key TEXT', 'account_key TEXT COLLATE NOCASE')
            WHERE name = 'account'
            """
        )
        let store = try fixture.another()
        for account in accounts {
            let own = Secret("r-" + account.homeAccountID)
            do {
                #expect(try store.refreshTokens(of: account, client: "cid").map(\.secret) == [own])
            } catch let error as TokenStoreError {
                #expect(error.code == .damaged)
            }
        }
    }
}
