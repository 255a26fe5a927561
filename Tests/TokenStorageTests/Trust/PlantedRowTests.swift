import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Rows that a program with the rights of an application puts into a server, which has no key.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct PlantedRowTests {
    /// A store with one account, and an id that a copy of its row can have and that comes before its own.
    private struct Scene {
        let server: ServerScene
        let store: TokenStore
        let account: Account.ID
        let row: Int64
        let planted: Int64
        private let person: String

        init() throws {
            server = try ServerScene()
            store = try server.createdStore()
            let people = (1...99).map { "u\($0)" }
            let found = people.lazy.compactMap { person -> (String, Account.ID, [Int64])? in
                let id = Account.ID(issuer: "login.windows.net", homeAccountID: person + ".t1")
                let rows = AccountRowID.candidates(id).sorted()
                return rows[0] < AccountRowID.first(id) ? (person, id, rows) : nil
            }.first
            let (name, id, rows) = try #require(found)
            (person, account, row, planted) = (name, id, AccountRowID.first(id), rows[0])
        }

        func signIn(_ token: String) throws {
            try store.save(ServerScene.response(person, token: token), for: ServerScene.request())
        }

        /// Copies the account's row, and has the copy come before it in each index and in the table.
        func plant() throws {
            let columns = """
                authority, home_account_id, account_key, uid, utid, environment, issuer, username, username_fold, policy,
                name, created_at, last_used_at
                """
            try server.sql("INSERT INTO account (id, \(columns)) SELECT \(planted), \(columns) FROM account")
            try server.sql("UPDATE account SET username_fold = username_fold || 'x' WHERE id = \(row)")
            try server.sql("UPDATE account SET username_fold = rtrim(username_fold, 'x') WHERE id = \(row)")
        }

        func refreshTokens() throws -> [Secret] { try store.refreshTokens(of: account, client: "cid").map(\.secret) }

        func problems() throws -> [StoreProblem] {
            try store.check().filter { $0.problem.contains("is of the same account") }
        }
    }

    @Test func `a sign-in goes to the account's own row, and not to a copy of it`() throws {
        let scene = try Scene()
        try scene.signIn("a")
        #expect(try scene.store.check() == [])
        try scene.plant()
        try scene.signIn("b")
        #expect(try scene.refreshTokens() == [Secret("r-b")])
        #expect(try scene.server.count("SELECT count(*) FROM refresh_token WHERE account_id = \(scene.planted)") == 0)
        #expect(try scene.problems().map(\.location) == ["account row \(scene.planted)"])
        // The copy does not open either.
        #expect(try scene.store.check().count == 2)
        try scene.store.removeAccount(scene.account)
        #expect(try scene.server.count("SELECT count(*) FROM refresh_token") == 0)
        #expect(try scene.server.count("SELECT count(*) FROM account WHERE id = \(scene.row)") == 0)
    }

    @Test func `two valid rows of one account are refused until both are purged`() throws {
        let scene = try Scene()
        try scene.signIn("a")
        try scene.plant()
        // With the own row out of the way the sign-in replaces the copy; then both are as a program wrote them.
        try scene.server.sql("UPDATE account SET created_at = created_at + 1 WHERE id = \(scene.row)")
        try scene.signIn("b")
        try scene.server.sql("UPDATE account SET created_at = created_at - 1 WHERE id = \(scene.row)")
        #expect(try scene.server.count("SELECT count(DISTINCT account_id) FROM refresh_token") == 2)
        expectCode(.damaged) { _ = try scene.refreshTokens() }
        expectCode(.damaged) { _ = try scene.store.removeAccount(scene.account) }
        expectCode(.damaged) { _ = try scene.store.account(matching: .homeAccountID(scene.account.homeAccountID)) }
        let error = #expect(throws: TokenStoreError.self) {
            try scene.store.account(matching: .homeAccountID(scene.account.homeAccountID))
        }
        // So that the command for a purge goes on.
        #expect(error?.isMendedByPurge == true)
        let problems = try scene.store.check()
        #expect(problems.map(\.location) == ["account row \(scene.planted)"])
        #expect(problems.first?.remedy?.advice.contains("purge the account") == true)
        #expect(try scene.store.purge(.homeAccountID(scene.account.homeAccountID)).accounts == 2)
        #expect(try scene.store.check() == [])
        try scene.signIn("c")
        #expect(try scene.refreshTokens() == [Secret("r-c")])
    }
}
