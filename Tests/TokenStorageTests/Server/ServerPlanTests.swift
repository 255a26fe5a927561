import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Promise 10 on a server: what concerns one account is found by an index.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerPlanTests {
    /// Tables that hold a few rows, or what many requests share.
    private static let small: Set = ["store", "data_key", "mark_key", "default_account", "issuer_document"]

    /// A server that logs the plan of every statement, and reads a whole table only where no index would do.
    private func server() throws -> TestServer { try server(["enable_seqscan = off"]) }

    private func server(_ settings: [String]) throws -> TestServer {
        try TestServer(
            [
                "session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0",
                "auto_explain.log_nested_statements = on",
            ] + settings
        )
    }

    /// The tables that were read as a whole since the log was so long.
    private func scans(_ server: TestServer, since start: Int) -> [String] {
        let log = String(decoding: Array(server.log.utf8.dropFirst(start)), as: UTF8.self)
        #expect(log.contains("Index Scan") || log.contains("Index Only Scan"))
        let names = log.matches(of: #/Seq Scan on (?:[a-z_0-9]+\.)?([a-z_]+)/#).map { String($0.output.1) }
        return Set(names).filter { !Self.small.contains($0) && !$0.hasPrefix("pg_") }.sorted()
    }

    private func expectNoScan(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (TokenStore) throws -> Void
    ) throws {
        let server = try server()
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        let store = try scene.createdStore()
        try store.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        let start = server.log.utf8.count
        try body(store)
        #expect(scans(server, since: start) == [], sourceLocation: sourceLocation)
    }

    private func query(_ scope: Scope, at authority: String? = nil) throws -> TokenQuery {
        var query = TokenQuery(account: Fixture.account, clientID: "cid", scope: scope)
        query.authority = try authority.map { try Authority(parsing: $0) }
        return query
    }

    @Test func `what a lease is compared with is the same on every machine of a cluster`() throws {
        let scene = try ServerScene()
        _ = try scene.createdStore()
        // An index takes no other functions either: Citus refuses those whose result depends on the session.
        let condition = RefreshLease.isOver.replacing("CAST(?4 AS double precision)", with: "30")
            .replacing(#/(l|excluded)\./#, with: "")
        try scene.sql("CREATE INDEX lease_over ON refresh_lease ((\(condition)))")
    }

    @Test func `an import into a new store finds what an account has by the account`() throws {
        let server = try server()
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        let store = try scene.createdStore()
        let start = server.log.utf8.count
        try store.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        // Claims of the older ID token leave the index.
        let newer = Fixture.claims(["iat": .number("\(Fixture.now)"), "name": "Ada Byron"])
        #expect(try store.take(JSONValue.cache(idTokens: [.idToken(newer)]).serialized).idTokens == 1)
        let log = String(decoding: Array(server.log.utf8.dropFirst(start)), as: UTF8.self)
        #expect(log.contains("DELETE FROM claim_index"))
        #expect(log.contains("tenant_profile_account_id_realm_fold_environment_key"))
        // These have the rows of all accounts of a tenant, and all tokens with a value, under one key.
        for index in ["tenant_profile_realm", "claim_index_value"] { #expect(!log.contains(index), "\(index)") }
    }

    @Test func `a lookup of tokens scans no table`() throws {
        try expectNoScan { store in
            _ = try store.cachedToken(for: query("s1"))
            _ = try store.cachedToken(for: query("s2", at: "https://login.microsoftonline.com/common"))
            _ = try store.silentState(for: query("s2")) { _ in try ServerScene.request().authority }
            _ = try store.refreshOutlook(for: query("s2"))
            _ = try store.idTokens(of: Fixture.account, client: "cid")
            _ = try store.signInState(of: Fixture.account, client: "cid")
            _ = try store.refreshTokens(of: Fixture.account, client: "cid", family: "1")
            _ = try store.isFillingFromCopy()
            _ = try store.summary(of: Fixture.account, withTokens: true)
            _ = try store.events(of: Fixture.account)
            _ = try store.events()
        }
    }

    /// A server plans a statement once, for tables as they are then: what is planned in a new store is run in a large one.
    @Test func `what a new store does first is good for many accounts`() throws {
        let server = try server(["autovacuum = off"])
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        let store = try scene.createdStore()
        let start = server.log.utf8.count
        for number in 0..<6 {
            try store.save(ServerScene.response("u\(number)", token: "a"), for: ServerScene.request())
        }
        let log = String(decoding: Array(server.log.utf8.dropFirst(start)), as: UTF8.self)
        // The last of them were taken to be new.
        #expect(log.contains("NOT EXISTS (SELECT 1 FROM account"))
        let account = Account.ID(issuer: "login.windows.net", homeAccountID: "u1.t1")
        for scope in [Scope("s1"), "s2"] {
            let query = TokenQuery(account: account, clientID: "cid", scope: scope)
            _ = try store.storedToken(for: query)
            _ = try store.silentState(for: query) { _ in try ServerScene.request().authority }
            _ = try store.refreshOutlook(for: query)
        }
        let used = try #require(try store.refreshTokens(of: account, client: "cid").first)
        _ = try store.beginRefresh(with: used)
        try store.save(.new(["refresh_token": "r2", "scope": "s1"]), for: ServerScene.request(), refreshing: used)
        try store.removeAccount(account, client: "cid")
        #expect(scans(server, since: start) == [])
    }

    @Test func `finding an account scans no table`() throws {
        let policies: [AccountPolicy] = [
            .username("ada@example.net"), .homeAccountID("u1.t1"), .localAccountID("u1"), .identifier("u1.t1"),
            .userFlow("b2c_1_x"), .tenant("t1"), .claim("name", equals: "Ada"), .claim("name"), .tag("team"),
        ]
        try expectNoScan { store in
            for policy in policies { _ = try store.accounts(matching: policy) }
        }
    }

    @Test func `entries of accounts that are gone are not read with those of moves`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        let request = try ServerScene.request()
        try store.save(.signIn(), for: request)
        try store.removeAccount(Fixture.account)
        try store.save(.signIn(), for: request)
        #expect(try scene.count("SELECT count(*) FROM event WHERE account_id = 0 AND account_mark IS NOT NULL") == 0)
        #expect(try scene.count("SELECT count(*) FROM event WHERE account_id = -1") == 2)
        // One that was planted belongs to nobody, and is below all others.
        try scene.sql(
            """
            INSERT INTO event SELECT -2, 5, tx, at, program, process_id, kind, outcome, account_mark, client_id,
                fingerprint, mac FROM event LIMIT 1
            """
        )
        _ = try store.rekey()
        #expect(try scene.count("SELECT count(*) FROM event WHERE account_id = -2") == 0)
        #expect(try store.check().isEmpty)
        #expect(try store.events(of: Fixture.account).map(\.kind) == [.signIn, .signOut, .signIn])
    }

    /// As behind a restored dump, before anything was analyzed.
    @Test func `finding an account by a name scans no table without statistics`() throws {
        let server = try server(["autovacuum = off"])
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        let store = try scene.createdStore()
        try store.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        let name = "'x' || n"
        let changes = [
            ("account", "'account_key', \(name), 'home_account_id', \(name), 'username_fold', \(name)"),
            ("tenant_profile", "'account_id', n, 'local_account_fold', \(name)"),
            ("access_token", "'account_id', n"), ("refresh_token", "'account_id', n"), ("id_token", "'account_id', n"),
        ]
        for (table, changes) in changes {
            try scene.sql(
                """
                INSERT INTO \(table)
                SELECT (jsonb_populate_record(t, jsonb_build_object('id', n, \(changes)))).*
                FROM \(table) t, generate_series(1, 20000) n
                """
            )
        }
        let names: [AccountPolicy] = [.identifier("u1.t1"), .identifier("ada@example.net"), .localAccountID("u1")]
        let start = server.log.utf8.count
        for name in names {
            #expect(try store.accounts(matching: name).count == 1)
            #expect(try store.accounts(matching: name.and(.client("cid")).and(.tenant("t1"))).count == 1)
        }
        #expect(scans(server, since: start) == [])
        let log = String(decoding: Array(server.log.utf8.dropFirst(start)), as: UTF8.self)
        // It sorts as the answer is sorted, and has every account.
        #expect(!log.contains("account_username on account a"))
    }

    @Test func `saving, refreshing, removing and tidying scan no table`() throws {
        try expectNoScan { store in
            let request = try ServerScene.request()
            try store.save(.signIn(["foci": "1"]), for: request)
            let used = try #require(try store.refreshTokens(of: Fixture.account, client: "cid").first)
            _ = try store.beginRefresh(with: used)
            try store.save(.new(["refresh_token": "r2", "scope": "s1"]), for: request, refreshing: used)
            let next = try #require(try store.refreshTokens(of: Fixture.account, client: "cid").first)
            try store.removeRefreshToken(next)
            try store.setTags(["team": "x"], of: Fixture.account)
            try store.removeAccount(Fixture.account, client: "cid")
            try store.removeAccount(Fixture.account)
            try store.tidy()
        }
    }
}
