import Database
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// One flipped bit makes an index lose a row that its table still has.
@Suite(.aboutFiles("an index of the file loses an entry"))
struct LostEntryTests {
    /// An entry of an index about the account u3, whose rows have the number 3, and what a flipped bit makes of it.
    ///
    /// The entries keep their order, so that the others are found.
    struct Loss: CustomTestStringConvertible {
        let index: String
        let entry: String
        let altered: String

        var testDescription: String { index }

        static let identity = Loss(
            index: "sqlite_autoindex_account_1",
            entry: "u3.t1login.windows.net\u{3}",
            altered: "w3.t1login.windows.net\u{3}"
        )
        static let username = Loss(
            index: "account_username",
            entry: "u3@example.net\u{3}",
            altered: "w3@example.net\u{3}"
        )
        static let refreshToken = Loss(
            index: "refresh_token_account",
            entry: "\u{3}cid\u{3}",
            altered: "\u{7}cid\u{3}"
        )
    }

    private static let account = Account.ID(issuer: "login.windows.net", homeAccountID: "u3.t1")

    private func signIn(_ person: String, _ token: String, to store: TokenStore) throws {
        let claims = Fixture.claims([
            "sub": .string("s-" + person), "oid": .string(person),
            "preferred_username": .string(person + "@example.net"),
        ])
        let response = try TokenResponse.signIn([
            "access_token": .string("a-" + token), "refresh_token": .string("r-" + token),
            "client_info": .string(Fixture.clientInfo(person, "t1")), "id_token": .string(Fixture.idToken(claims)),
        ])
        let request = TokenRequest(
            clientID: "cid",
            authority: try Fixture.authority(),
            scope: "s1",
            grant: .authorizationCode
        )
        #expect(try store.save(response, for: request).outcome == .stored)
    }

    /// A closed store whose accounts u1, u2 and u3 have the rows 1, 2 and 3 in each table.
    private func store(losing loss: Loss) throws -> TestStore {
        let fixture = try TestStore()
        for person in ["u1", "u2", "u3"] { try signIn(person, person, to: fixture.store) }
        fixture.store.close()
        let connection = try Connection(path: fixture.path.database, mode: .immutable, busyTimeout: .zero)
        let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = ?1", .text(loss.index))
        let start = (Int(try #require(root)) - 1) * 4_096
        try DamagedFile(fixture.path.database).change { bytes in
            let found = bytes[start..<start + 4_096].firstRange(of: Array(loss.entry.utf8))
            #expect(found != nil, "the index has no such entry")
            if let found { bytes.replaceSubrange(found, with: Array(loss.altered.utf8)) }
        }
        return fixture
    }

    /// How many accounts and refresh tokens the tables have, whatever an index says.
    private func rows(_ store: TokenStore) throws -> [Int64?] {
        try store.read { session in
            [
                try session.connection.integer("SELECT count(id) FROM account NOT INDEXED"),
                try session.connection.integer("SELECT count(id) FROM refresh_token NOT INDEXED"),
            ]
        }
    }

    private func query(_ scope: Scope = "s9") -> TokenQuery {
        TokenQuery(account: Self.account, clientID: "cid", scope: scope)
    }

    @Test(arguments: [Loss.identity, .refreshToken])
    func `a sign-out that does not find what it deletes is told as damage`(loss: Loss) throws {
        let fixture = try store(losing: loss)
        let store = try fixture.another()
        expectError(.damaged) { try store.removeAccount(Self.account) }
        expectError(.damaged) { try store.removeAccount(Self.account, client: "cid") }
        expectError(.damaged) { _ = try store.purge(.homeAccountID("u3.t1")) }
        #expect(try rows(store) == [3, 3])
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        let deleted = try repaired.signOut(Self.account, clients: nil).deleted
        #expect(deleted.map(\.secret) == [Secret("r-u3")])
        #expect(try rows(repaired) == [2, 2])
    }

    @Test(arguments: [Loss.identity, .refreshToken])
    func `tokens that an index lost are damage, and no reason to sign in`(loss: Loss) throws {
        let fixture = try store(losing: loss)
        let store = try fixture.another()
        expectError(.damaged) { _ = try store.cachedToken(for: query()) }
        expectError(.damaged) { _ = try store.silentState(for: query()) { _ in try Fixture.authority() } }
    }

    @Test func `an account that an index lost is damage, and not none that fits`() throws {
        let policy = AccountPolicy.username("u3@example.net")
        let fixture = try store(losing: .username)
        let store = try fixture.another()
        expectError(.damaged) { _ = try store.account(matching: policy) }
        expectError(.damaged) { _ = try store.accounts(matching: policy) }
        expectError(.damaged) { _ = try store.select(policy) }
        expectError(.damaged) { _ = try store.previewPurge(policy) }
        let damaged = try self.store(losing: .identity)
        let other = try damaged.another()
        expectError(.damaged) { _ = try other.summary(of: Self.account) }
        expectError(.damaged) { try other.setDefaultAccount(Self.account) }
        expectError(.damaged) { try other.setTags(["a": "b"], of: Self.account) }
    }

    @Test func `a repair keeps the later of two sign-ins of one account`() throws {
        let fixture = try store(losing: .identity)
        let store = try fixture.another()
        try signIn("u3", "new", to: store)
        #expect(try rows(store) == [4, 4])
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try repaired.refreshTokens(of: Self.account, client: "cid").map(\.secret) == [Secret("r-new")])
        #expect(try rows(repaired) == [3, 3])
        #expect(try repaired.check() == [])
    }

    @Test func `a later row that does not open takes no account's place in a repair`() throws {
        let fixture = try store(losing: .identity)
        let store = try fixture.another()
        try signIn("u3", "new", to: store)
        try store.write { session in
            _ = try session.connection.run("UPDATE account SET username = 'else' WHERE id = 4")
        }
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let tokens = try fixture.another().refreshTokens(of: Self.account, client: "cid")
        #expect(tokens.map(\.secret) == [Secret("r-u3")])
    }

    @Test(arguments: [Loss.identity, .refreshToken])
    func `what an index lost of one account keeps no other from being signed out`(loss: Loss) throws {
        let fixture = try store(losing: loss)
        let store = try fixture.another()
        let other = Account.ID(issuer: "login.windows.net", homeAccountID: "u1.t1")
        #expect(try store.signOut(other, clients: nil).deleted.map(\.secret) == [Secret("r-u1")])
        #expect(try rows(store) == [2, 2])
        #expect(throws: TokenStoreError.self) { _ = try store.revocableTokens(of: Self.account, clients: ["cid"]) }
    }
}
