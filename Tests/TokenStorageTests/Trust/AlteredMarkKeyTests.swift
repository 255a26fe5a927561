import Database
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// The key of account marks names what outlives accounts; one that was altered costs that, and nothing else.
@Suite(.onBothEngines)
struct AlteredMarkKeyTests {
    private static let other = Account.ID(issuer: "login.windows.net", homeAccountID: "u2.t1")

    /// A store with an account, and a sign-out of one that is gone.
    private func filled() throws -> TestStore {
        let fixture = try TestStore()
        let information = Fixture.clientInfo("u2", "t1")
        try fixture.signIn(.signIn(["client_info": .string(information)], without: "id_token"))
        try fixture.store.removeAccount(Self.other)
        try fixture.signIn(.signIn())
        #expect(try fixture.store.signInState(of: Self.other, client: "cid") == .signedOut)
        return fixture
    }

    private func alter(_ fixture: TestStore) throws {
        try fixture.store.withWriter { session in
            let bytes = Value.blob([UInt8](repeating: 7, count: 61))
            try session.connection.prepare("UPDATE mark_key SET secret = ?1").run([bytes])
        }
    }

    private func count(_ statement: StaticString, in fixture: TestStore) throws -> Int64? {
        try fixture.store.withWriter { try $0.connection.integer(statement) }
    }

    @Test func `an altered key of account marks counts for none, and is all that a check finds`() throws {
        let fixture = try filled()
        let count = try fixture.store.events().count
        try alter(fixture)
        let store = try fixture.another()
        #expect(try store.events().count == count)
        #expect(try store.events(of: Fixture.account) == [])
        #expect(try store.signInState(of: Self.other, client: "cid") == .unknown)
        #expect(try store.check().map(\.location) == ["mark_key row 1, column secret"])
    }

    @Test(arguments: ["sign in", "refresh", "sign out", "import"])
    func `the next write makes another key of account marks and says so`(write: String) throws {
        let fixture = try filled()
        let other = try fixture.another()
        #expect(try other.events(of: Fixture.account).count == 1)
        try alter(fixture)
        switch write {
        case "sign in": try fixture.signIn(.signIn(["access_token": "a2"]))
        case "refresh": try fixture.refresh(.new(["access_token": "a2", "refresh_token": "r2"]))
        case "sign out": try fixture.store.removeAccount(Fixture.account)
        default:
            try fixture.take(JSONValue.newcomer)
            try fixture.signIn(.signIn(["access_token": "a2"]))
        }
        #expect(try fixture.store.events().count { $0.kind == .repair } == 1)
        #expect(try fixture.store.check() == [])
        #expect(try count("SELECT count(*) FROM mark_key", in: fixture) == 1)
        #expect(try count("SELECT count(*) FROM sign_out", in: fixture) == (write == "sign out" ? 1 : 0))
        // One that knew the key before goes on with the new one.
        #expect(try other.events(of: Fixture.account) == fixture.store.events(of: Fixture.account))
        try other.removeAccount(Fixture.account)
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
        #expect(try other.events().count { $0.kind == .repair } == 1)
        #expect(try other.check() == [])
    }

    @Test func `a rekey takes an altered key of account marks away`() throws {
        let fixture = try filled()
        try alter(fixture)
        #expect(try fixture.store.rekey().altered == 1)
        #expect(try count("SELECT count(*) FROM data_key", in: fixture) == 1)
        #expect(try count("SELECT count(*) FROM mark_key", in: fixture) == 0)
        #expect(try count("SELECT count(*) FROM sign_out", in: fixture) == 0)
        #expect(try fixture.store.events().contains { $0.kind == .repair })
        try fixture.signIn(.signIn(["access_token": "a2"]))
        #expect(try fixture.store.events(of: Fixture.account).map(\.kind) == [.signIn])
        #expect(try fixture.store.check() == [])
    }
}
