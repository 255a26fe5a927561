import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// The account that a person chose for when several fit.
@Suite(.onBothEngines)
struct DefaultAccountTests {
    private static let other = Account.ID(issuer: Fixture.account.issuer, homeAccountID: "u2.t1")

    /// A store with two accounts, of which the second is the default one.
    private static func chosen() throws -> TestStore {
        let cache = JSONValue.cache(
            refreshTokens: [.refreshToken("r1"), .refreshToken("r2", ["home_account_id": "u2.t1"])],
            accounts: [.account(), .account(["home_account_id": "u2.t1", "username": "bob@example.net"])]
        )
        let fixture = try TestStore(cache)
        try fixture.store.setDefaultAccount(other)
        return fixture
    }

    private static func alter(_ fixture: TestStore, _ sql: String) throws {
        try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5)).execute(sql)
    }

    @Test func `every program of the store has the same default account, and one at most`() throws {
        let fixture = try Self.chosen()
        #expect(try fixture.another().defaultAccount()?.id == Self.other)
        try fixture.store.setDefaultAccount(Fixture.account)
        #expect(try fixture.another().defaultAccount()?.id == Fixture.account)
        try fixture.store.setDefaultAccount(nil)
        #expect(try fixture.another().defaultAccount() == nil)
        #expect(try fixture.store.check() == [])
    }

    @Test func `the default account is taken where it fits, and else all that fit`() throws {
        let fixture = try Self.chosen()
        func selected(_ policy: AccountPolicy) throws -> Set<Account.ID> {
            Set(try fixture.store.accounts(matching: policy).map(\.id))
        }
        #expect(try selected(.defaultAccount) == [Self.other])
        #expect(try selected(.tenant("t1").and(.defaultAccount)) == [Self.other])
        #expect(try selected(.homeAccountID("u1.t1").and(.defaultAccount)) == [Fixture.account])
        #expect(try selected(.tenant("t9").and(.defaultAccount)) == [])
        #expect(try fixture.store.account(matching: .defaultAccount)?.id == Self.other)
        try fixture.store.setDefaultAccount(nil)
        #expect(try selected(.defaultAccount) == [Self.other, Fixture.account])
    }

    @Test func `a list of fewer accounts than none is empty`() throws {
        let fixture = try Self.chosen()
        for limit in [0, -1, .min] { try fixture.store.forEachAccount(limit: limit) { _ in Issue.record() } }
    }

    @Test func `a selection and a list say which account is the default one`() throws {
        let fixture = try Self.chosen()
        let considered = try fixture.store.select(.defaultAccount).considered
        #expect(considered.map(\.reason) == ["the default account", "another is the default"])
        #expect(considered.map(\.isTaken) == [true, false])
        var marked: [Account.ID] = []
        try fixture.store.forEachAccount { if $0.isDefault { marked.append($0.account.id) } }
        #expect(marked == [Self.other])
    }

    @Test(
        .aboutFiles("the row is altered in the file"),
        arguments: ["account_id = 1", "mac = zeroblob(60)", "chosen_at = chosen_at + 1"]
    )
    func `an altered choice selects no other account, and a repair drops it`(change: String) throws {
        let fixture = try Self.chosen()
        try Self.alter(fixture, "UPDATE default_account SET \(change)")
        #expect(try fixture.store.defaultAccount() == nil)
        #expect(try fixture.store.accounts(matching: .defaultAccount).count == 2)
        try fixture.store.forEachAccount { #expect(!$0.isDefault) }
        let problem = try #require(try fixture.store.check().first { $0.location.hasPrefix("default_account row") })
        #expect(problem.remedy?.code == .chooseDefault)
        fixture.store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try repaired.defaultAccount() == nil)
        #expect(try repaired.accounts().count == 2)
        #expect(try repaired.check() == [])
    }

    @Test(.aboutFiles("the row is altered in the file"))
    func `a new choice takes the place of an altered one`() throws {
        let fixture = try Self.chosen()
        try Self.alter(fixture, "UPDATE default_account SET account_id = 1")
        try fixture.store.setDefaultAccount(Fixture.account)
        #expect(try fixture.store.defaultAccount()?.id == Fixture.account)
    }

    @Test func `the choice goes with its account and does not come back with it`() throws {
        let fixture = try Self.chosen()
        try fixture.store.removeAccount(Self.other)
        #expect(try fixture.store.defaultAccount() == nil)
        #expect(try fixture.store.read { try $0.connection.integer("SELECT count(*) FROM default_account") } == 0)
    }

    @Test func `a rekey keeps the choice`() throws {
        let fixture = try Self.chosen()
        _ = try fixture.store.rekey()
        #expect(try fixture.another().defaultAccount()?.id == Self.other)
        #expect(try fixture.store.check() == [])
    }

    @Test func `a purge of everything takes the choice along`() throws {
        let fixture = try Self.chosen()
        fixture.store.close()
        _ = try TokenStore.purgeAll(at: fixture.location, options: fixture.options)
        #expect(try fixture.another().defaultAccount() == nil)
    }

    @Test func `an account that is not stored is refused`() throws {
        let fixture = try Self.chosen()
        let gone = Account.ID(issuer: "https://gone.example", homeAccountID: "x")
        #expect(throws: TokenStoreError.self) { try fixture.store.setDefaultAccount(gone) }
        #expect(try fixture.store.defaultAccount()?.id == Self.other)
    }

    @Test func `asynchronous code has the same`() async throws {
        let fixture = try Self.chosen()
        try await fixture.store.setDefaultAccount(Fixture.account)
        #expect(try await fixture.store.defaultAccount()?.id == Fixture.account)
    }
}
