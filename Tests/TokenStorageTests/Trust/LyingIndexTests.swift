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

    private func signIn(_ person: String, _ token: String, to store: TokenStore) throws -> SavedTokens {
        let request = TokenRequest(
            clientID: "cid",
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
        fixture.store.close()
        let connection = try Connection(path: fixture.path.database, mode: .immutable, busyTimeout: .zero)
        let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = ?1", .text(index))
        let start = (Int(try #require(root)) - 1) * 4_096
        try DamagedFile(fixture.path.database).change { bytes in
            let found = bytes[start..<start + 4_096].firstRange(of: Array(entry.utf8) + [row])
            #expect(found != nil, "the index has no such entry")
            if let found { bytes.replaceSubrange(found, with: Array((name ?? entry).utf8) + [other]) }
        }
        return fixture
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
