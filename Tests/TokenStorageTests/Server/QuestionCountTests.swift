import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// How often a server is waited for: each time costs the way there and back.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct QuestionCountTests {
    @Test func `a sign-in of a new account takes two round trips, and a lookup takes one`() throws {
        var scene = try ServerScene()
        scene.options.poolSize = 1
        let store = try scene.createdStore()
        func save(_ subject: String, _ token: String) throws {
            let claims = Fixture.claims(["sub": .string("s-" + subject), "oid": .string(subject)])
            let response = try TokenResponse.signIn([
                "client_info": .string(Fixture.clientInfo(subject, "t1")), "access_token": .string(token),
                "refresh_token": .string("r-" + token), "id_token": .string(Fixture.idToken(claims)),
            ])
            try store.save(response, for: ServerScene.request())
        }
        // The first one also makes the key of the marks.
        try save("u0", "a")
        var before = try roundTrips(of: store)
        try save("u1", "b")
        #expect(try roundTrips(of: store) - before <= 2)
        let account = try #require(try store.accounts(matching: .homeAccountID("u1.t1")).first)
        let query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
        before = try roundTrips(of: store)
        guard case .usable(let token, isAging: _) = try store.cachedToken(for: query) else {
            Issue.record("no token")
            return
        }
        #expect(token.secret == Secret("b"))
        #expect(try roundTrips(of: store) - before == 1)
        #expect(try store.check() == [])
    }

    @Test func `a session that was kept for the next reader does not keep its store`() async throws {
        var scene = try ServerScene()
        // By this name the server tells its sessions from those of other tests.
        scene.options.program = scene.schema
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(scene.schema)'"
        try scene.create()
        func use() throws {
            let store = try scene.open()
            try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
            for _ in 0..<3 { #expect(try store.accounts().count == 1) }
            #expect(try scene.count(sessions) > 0)
        }
        try use()
        try await eventually { try scene.count(sessions) == 0 }
    }

    @Test func `a sign-in of a known account takes five round trips, and a refresh takes four`() throws {
        var scene = try ServerScene()
        scene.options.poolSize = 1
        let store = try scene.createdStore()
        func response(_ token: String) throws -> TokenResponse {
            try .signIn(["access_token": .string(token), "refresh_token": .string("r-" + token)])
        }
        func trips(_ body: () throws -> SavedTokens) throws -> Int {
            let before = try roundTrips(of: store)
            #expect(try body().outcome == .stored)
            return try roundTrips(of: store) - before
        }
        let request = try ServerScene.request()
        // The first ones prepare the statements, and teach that people come back.
        let signIns = try ["a", "b", "c", "d", "e"].map { token in
            try trips { try store.save(response(token), for: request) }
        }
        #expect(signIns[4] <= 5)
        let refreshes = try ["f", "g"].map { token in
            let used = try #require(try store.refreshTokens(of: Fixture.account, client: "cid").first)
            return try trips { try store.save(response(token), for: request, refreshing: used) }
        }
        #expect(refreshes[1] <= 4)
        #expect(try store.refreshTokens(of: Fixture.account, client: "cid").map(\.secret) == [Secret("r-g")])
        #expect(try scene.count("SELECT count(*) FROM access_token") == 1)
        #expect(try scene.count("SELECT count(*) FROM id_token") == 1)
        #expect(try store.check() == [])
    }

    @Test func `all that decides about a refresh takes four round trips`() throws {
        var scene = try ServerScene()
        scene.options.poolSize = 1
        let store = try scene.createdStore()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let account = try #require(try store.accounts().first)
        let authority = try ServerScene.request().authority
        var query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
        query.buffer = ExpiryBuffer(.zero, minimum: .seconds(36_000))
        func decide() throws -> SilentState? {
            #expect(try store.usableToken(for: query) == nil)
            return try store.silentState(for: query) { _ in authority }
        }
        // The first time prepares the statements.
        #expect(try decide()?.candidates.map(\.token.secret) == [Secret("r-a")])
        let before = try roundTrips(of: store)
        #expect(try store.usableToken(for: query) == nil)
        let looked = try roundTrips(of: store)
        #expect(looked - before <= 2)
        #expect(try store.silentState(for: query) { _ in authority }?.candidates.map(\.token.secret) == [Secret("r-a")])
        let decided = try roundTrips(of: store)
        #expect(decided - looked <= 4)
        // Whether a refresh is to be tried at all is known sooner.
        guard case .refreshable(isUnderWay: false) = try store.refreshOutlook(for: query) else {
            Issue.record("the token cannot be refreshed")
            return
        }
        let prepared = try roundTrips(of: store)
        _ = try store.refreshOutlook(for: query)
        #expect(try roundTrips(of: store) - prepared <= 3)
        let seen = try roundTrips(of: store)
        // What can be refreshed is looked up once, whether tokens are kept in memory or not.
        _ = try store.storedToken(for: query)
        let stored = try roundTrips(of: store)
        _ = try store.cachedToken(for: query)
        #expect(try roundTrips(of: store) - stored == stored - seen)
    }

    @Test func `the accounts of a client are asked for many at a time`() throws {
        var scene = try ServerScene()
        scene.options.poolSize = 1
        let store = try scene.createdStore()
        for number in 0..<20 {
            let response = try ServerScene.response("u\(number)", token: "a\(number)")
            try store.save(response, for: ServerScene.request())
        }
        let lists: [() throws -> [Account]] = [
            { try store.accounts(knownTo: "cid") }, { try store.signedInAccounts(client: "cid") },
        ]
        for list in lists {
            // The first time prepares the statements.
            #expect(try list().count == 20)
            let before = try roundTrips(of: store)
            #expect(try list().count == 20)
            #expect(try roundTrips(of: store) - before < 12)
        }
    }

    @Test func `a new sign-in after a sign-out finds what was remembered`() throws {
        let store = try ServerScene().createdStore()
        for token in ["a", "b", "c"] {
            try store.save(ServerScene.response("u1", token: token), for: ServerScene.request())
            let account = try #require(try store.accounts().first)
            #expect(try store.signInState(of: account.id, client: "cid") == .signedIn)
            #expect(try store.refreshTokens(of: account.id, client: "cid").map(\.secret) == [Secret("r-" + token)])
            try store.removeAccount(account.id)
            #expect(try store.signInState(of: account.id, client: "cid") == .signedOut)
        }
        #expect(try store.check() == [])
    }

    @Test func `a list of two thousand accounts takes twelve round trips at most`() throws {
        var scene = try ServerScene()
        scene.options.poolSize = 1
        try scene.create()
        let store = try scene.open()
        try store.write { session in
            for number in 0..<2_000 {
                _ = try session.save(
                    ServerScene.response("u\(number)", token: "a"),
                    for: ServerScene.request()
                )
            }
        }
        let before = try roundTrips(of: store)
        var count = 0
        try store.forEachAccount { summary in
            count += 1
            if summary.validCount != 1 || summary.clientIDs != ["cid"] { Issue.record("\(summary.account.id)") }
        }
        #expect(count == 2_000)
        #expect(try roundTrips(of: store) - before <= 12)
        let start = try roundTrips(of: store)
        #expect(try store.accounts().count == 2_000)
        #expect(try roundTrips(of: store) - start <= 12)
    }

    private func roundTrips(of store: TokenStore) throws -> Int {
        try store.read { session in
            guard case .server(let connection) = session.connection.engine else { return 0 }
            return connection.roundTrips
        }
    }
}
