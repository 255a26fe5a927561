import Database
import Foundation
import OAuth
import SQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What programs note of an account.
@Suite(.onBothEngines)
struct TagTests {
    private static let other = Account.ID(issuer: Fixture.account.issuer, homeAccountID: "u2.t1")

    /// A store with two accounts, of which the first has tags.
    private static func tagged() throws -> TestStore {
        let cache = JSONValue.cache(
            refreshTokens: [.refreshToken("r1"), .refreshToken("r2", ["home_account_id": "u2.t1"])],
            accounts: [.account(), .account(["home_account_id": "u2.t1", "username": "bob@example.net"])]
        )
        let fixture = try TestStore(cache)
        try fixture.store.setTags(["team": "Planted-Finance", "floor": "2"], of: Fixture.account)
        return fixture
    }

    private static func alter(_ fixture: TestStore, _ sql: String) throws {
        try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5)).execute(sql)
    }

    private static func selected(_ store: TokenStore, _ policy: AccountPolicy) throws -> [Account.ID] {
        try store.accounts(matching: policy).map(\.id)
    }

    @Test func `tags are read by another process, replaced and deleted`() throws {
        let fixture = try Self.tagged()
        #expect(try fixture.another().tags(of: Fixture.account) == ["team": "Planted-Finance", "floor": "2"])
        #expect(try fixture.store.tags(of: Self.other) == [:])
        try fixture.store.setTags(["team": "Sales"], of: Fixture.account)
        #expect(try fixture.store.tags(of: Fixture.account) == ["team": "Sales"])
        #expect(try fixture.store.changeTags(of: Fixture.account) { $0["floor"] = "3" }.count == 2)
        try fixture.store.setTags([:], of: Fixture.account)
        #expect(try fixture.store.tags(of: Fixture.account) == [:])
        #expect(try fixture.store.check() == [])
    }

    @Test func `a call from inside a closure that writes is an error, and no end of the process`() throws {
        let fixture = try Self.tagged()
        let inner = LockedValue<TokenStoreError?>(nil)
        let tags = try fixture.store.changeTags(of: Fixture.account) { tags in
            do {
                try fixture.store.setTags(["x": "1"], of: Self.other)
            } catch {
                inner.withLock { $0 = error as? TokenStoreError }
            }
            tags = ["y": "2"]
        }
        #expect(tags == ["y": "2"])
        #expect(inner.withLock(\.self)?.code == .invalidArgument)
        try fixture.store.setTags(["x": "1"], of: Self.other)
    }

    @Test func `accounts are found by a tag, its value in any case, and with other criteria`() throws {
        let fixture = try Self.tagged()
        try fixture.store.setTags(["team": "sales"], of: Self.other)
        #expect(try Self.selected(fixture.store, .tag("team", equals: "planted-finance")) == [Fixture.account])
        #expect(try Self.selected(fixture.store, .tag("team")).count == 2)
        #expect(try Self.selected(fixture.store, .tag("floor")) == [Fixture.account])
        #expect(try Self.selected(fixture.store, .tag("Floor")) == [])
        #expect(try Self.selected(fixture.store, .tag("floor", equals: "Planted-Finance")) == [])
        #expect(try Self.selected(fixture.store, .tag("team").and(.username("bob@example.net"))) == [Self.other])
        #expect(try Self.selected(fixture.store, .tag("none").otherwise(.tag("floor"))) == [Fixture.account])
        let reasons = try fixture.store.select(.tag("floor")).considered.map(\.reason)
        #expect(reasons.contains("no tag floor"))
    }

    @Test(.aboutFiles("the bytes are looked for in files"))
    func `neither a name nor a value of a tag is in the files`() throws {
        let fixture = try Self.tagged()
        let snapshot = try DirectorySnapshot(fixture.directory.path)
        for text in ["Planted-Finance", "planted-finance", "\"team\""] {
            #expect(snapshot.names(holding: Data(text.utf8)) == [])
        }
    }

    @Test func `a rekey seals tags anew, and they are found`() throws {
        let fixture = try Self.tagged()
        let sql = SQL("SELECT secret, name_hash, value_hash FROM account_tag ORDER BY id")
        let before = try fixture.store.read { try $0.connection.all(sql) { [$0.blob(0), $0.blob(1), $0.blob(2)] } }
        _ = try fixture.store.rekey()
        let after = try fixture.store.read { try $0.connection.all(sql) { [$0.blob(0), $0.blob(1), $0.blob(2)] } }
        #expect(Set(before).isDisjoint(with: after))
        let next = try fixture.another()
        #expect(try next.tags(of: Fixture.account) == ["team": "Planted-Finance", "floor": "2"])
        #expect(try Self.selected(next, .tag("team", equals: "Planted-Finance")) == [Fixture.account])
        #expect(try next.check() == [])
    }

    @Test(
        .aboutFiles("the row is altered in the file"),
        arguments: ["account_id = 2", "secret = zeroblob(60)", "id = id + 10"]
    )
    func `an altered tag is not read, and a check finds it`(change: String) throws {
        let fixture = try Self.tagged()
        try Self.alter(fixture, "UPDATE account_tag SET \(change)")
        let account = change.hasPrefix("account_id") ? Self.other : Fixture.account
        expectError(.damaged) { _ = try fixture.store.tags(of: account) }
        #expect(try fixture.store.check().contains { $0.location.hasPrefix("account_tag row") })
    }

    @Test(.aboutFiles("the row is altered in the file"))
    func `an altered index selects no other account, and a repair corrects it`() throws {
        let fixture = try Self.tagged()
        try fixture.store.setTags(["team": "sales"], of: Self.other)
        let finance = "(SELECT value_hash FROM account_tag WHERE account_id = 1 ORDER BY id DESC LIMIT 1)"
        try Self.alter(fixture, "UPDATE account_tag SET value_hash = \(finance) WHERE account_id = 2")
        expectError(.damaged) { _ = try fixture.store.accounts(matching: .tag("team", equals: "Planted-Finance")) }
        #expect(try fixture.store.check().map(\.problem) == ["is not that of the tag"])
        fixture.store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try Self.selected(repaired, .tag("team", equals: "Planted-Finance")) == [Fixture.account])
        #expect(try Self.selected(repaired, .tag("team", equals: "sales")) == [Self.other])
        #expect(try repaired.check() == [])
    }

    @Test(.aboutFiles("the rows are altered in the file"))
    func `tags that have each other's hash are put right by a repair`() throws {
        let fixture = try Self.tagged()
        try Self.alter(
            fixture,
            """
            CREATE TEMP TABLE was AS SELECT id, name_hash FROM account_tag;
            UPDATE account_tag SET name_hash = randomblob(40);
            UPDATE account_tag SET name_hash = (SELECT name_hash FROM was WHERE was.id <> account_tag.id);
            """
        )
        #expect(try fixture.store.check().map(\.problem) == ["is not that of the tag", "is not that of the tag"])
        fixture.store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try repaired.tags(of: Fixture.account) == ["team": "Planted-Finance", "floor": "2"])
        #expect(try Self.selected(repaired, .tag("floor", equals: "2")) == [Fixture.account])
        #expect(try repaired.check() == [])
    }

    @Test func `a tag in another spelling of the same letters replaces the one that is there, and is found`() throws {
        let fixture = try Self.tagged()
        for value in ["caf\u{E9}", "cafe\u{301}"] {
            try fixture.store.setTags(["team": value], of: Fixture.account)
            #expect(try Self.selected(fixture.store, .tag("team", equals: value)) == [Fixture.account])
        }
    }

    @Test func `tags go with their account`() throws {
        let fixture = try Self.tagged()
        try fixture.store.removeAccount(Fixture.account)
        #expect(try fixture.store.read { try $0.connection.integer("SELECT count(*) FROM account_tag") } == 0)
        #expect(try Self.selected(fixture.store, .tag("team")) == [])
    }

    @Test func `an export has no tags`() throws {
        let fixture = try Self.tagged()
        #expect(try !fixture.store.exportedText().contains("Planted-Finance"))
    }

    @Test(arguments: ["", "a=b", "a\nb", String(repeating: "n", count: 257)])
    func `a name that cannot be typed or is too long is refused`(name: String) throws {
        let fixture = try Self.tagged()
        #expect(throws: TokenStoreError.self) { try fixture.store.setTags([name: "x"], of: Fixture.account) }
        #expect(try fixture.store.tags(of: Fixture.account).count == 2)
    }

    @Test func `an account that is not stored has no tags and gets none`() throws {
        let fixture = try Self.tagged()
        let gone = Account.ID(issuer: "https://gone.example", homeAccountID: "x")
        #expect(try fixture.store.tags(of: gone) == [:])
        #expect(throws: TokenStoreError.self) { try fixture.store.setTags(["a": "b"], of: gone) }
    }

    @Test(.aboutFiles("a row is altered in the file"))
    func `a tag that was moved to the default account does not select it`() throws {
        let fixture = try Self.tagged()
        try fixture.store.setDefaultAccount(Self.other)
        let policy = AccountPolicy.tag("floor").and(.defaultAccount)
        #expect(try Self.selected(fixture.store, policy) == [Fixture.account])
        try Self.alter(
            fixture,
            "UPDATE account_tag SET account_id = (SELECT account_id FROM default_account)"
        )
        expectError(.damaged) { _ = try fixture.store.accounts(matching: policy) }
        expectError(.damaged) { _ = try fixture.store.account(matching: policy) }
    }

    @Test(.aboutFiles("a row is altered in the file"))
    func `an entry of the claim index that was moved to the default account does not select it`() throws {
        let claims: JSONValue = ["iss": "https://login.microsoftonline.com/t1/v2.0", "sub": "x", "aud": "c1"]
        func idToken(_ id: String, _ team: String) -> JSONValue {
            .idToken(claims.with(["department": .string(team)]), ["home_account_id": .string(id)])
        }
        let fixture = try TestStore(
            .cache(
                idTokens: [idToken("u1.t1", "finance"), idToken("u2.t1", "sales")],
                accounts: [.account(), .account(["home_account_id": "u2.t1", "username": "bob@example.net"])]
            )
        )
        try fixture.store.setDefaultAccount(Self.other)
        let policy = AccountPolicy.claim("department", equals: "finance").and(.defaultAccount)
        #expect(try Self.selected(fixture.store, policy) == [Fixture.account])
        try Self.alter(
            fixture,
            """
            DELETE FROM claim_index WHERE id_token_id IN
                (SELECT id FROM id_token WHERE account_id = (SELECT account_id FROM default_account));
            UPDATE claim_index SET id_token_id =
                (SELECT id FROM id_token WHERE account_id = (SELECT account_id FROM default_account))
            """
        )
        expectError(.damaged) { _ = try fixture.store.accounts(matching: policy) }
    }
}
