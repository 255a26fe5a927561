import Foundation
import OAuth
import PostgreSQL
import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// How a store on a server is made.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerStoreTests {
    @Test func `a store is made once, and found by all`() throws {
        let scene = try ServerScene()
        expectCode(.noStore) { _ = try scene.open() }
        #expect(try TokenStore.inspect(at: scene.location, options: scene.options) == nil)
        #expect(try scene.create())
        #expect(try !scene.create())
        let store = try scene.open()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try scene.open().accounts().map(\.id.homeAccountID) == ["u1.t1"])
        #expect(try TokenStore.inspect(at: scene.location, options: scene.options)?.accounts().count == 1)
        #expect(try store.check() == [])
        #expect(try store.status().location == scene.location)
        #expect(try store.status().size > 100_000)
    }

    @Test func `machines whose clocks are apart have the time of the server`() throws {
        var scene = try ServerScene()
        scene.options.followsServerClock = true
        scene.options.now = { Date(timeIntervalSinceNow: 600) }
        try scene.create()
        let saved = try scene.open().save(ServerScene.response("u1", token: "a1"), for: ServerScene.request())
        scene.options.now = { Date(timeIntervalSinceNow: -600) }
        let behind = try scene.open()
        let account = try #require(try behind.accounts().first).id
        let query = TokenQuery(account: account, clientID: "cid", scope: "s1")
        guard case .usable(let token, isAging: _) = try behind.cachedToken(for: query) else {
            Issue.record("the other's token is not usable")
            return
        }
        #expect(token.secret == Secret("a1"))
        let left = token.expiresAt.timeIntervalSinceNow
        #expect(left < 3_601 && left > 3_400, "\(left), \(saved.outcome)")
        let status = try #require(try behind.status().server)
        #expect(status.clockDifference > .seconds(590) && status.clockDifference < .seconds(610))
    }

    @Test func `the status says what the server is and what survives it`() throws {
        let server = try TestServer(["fsync = on"])
        defer { server.stop() }
        var scene = try ServerScene(on: server)
        scene.options.now = { Date() }
        try scene.create()
        let status = try #require(try scene.open().status().server)
        #expect(status.version.hasPrefix("1"))
        #expect((status.role, status.isStandby, status.isEncrypted) == ("owner", false, false))
        #expect((status.timeline, status.delay) == (1, nil))
        #expect(status.clockDifference > .seconds(-5) && status.clockDifference < .seconds(5))
        #expect((status.survivesCrash, status.survivesLoss) == (true, false))
        let file = try TestStore()
        #expect(try file.store.status().server == nil)
        let other = try ServerScene()
        let careless = try #require(try other.createdStore().status().server)
        // The tests' server does not wait for its disk.
        #expect((careless.survivesCrash, careless.survivesLoss) == (false, false))
    }

    @Test(arguments: [nil, "file", "secret-service"])
    func `a key that other machines cannot have is refused`(source: String?) throws {
        var scene = try ServerScene()
        scene.options.keySource = try source.map { try KeySource(parsing: $0) }
        expectCode(.invalidArgument) { try scene.create() }
        #expect(try scene.count("SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'") == 0)
    }

    @Test func `a key file that was made for what is refused goes again, and one that was there stays`() throws {
        var scene = try ServerScene()
        func exists() -> Bool { FileManager.default.fileExists(atPath: scene.directory.file("key")) }
        expectCode(.access) { try TokenStore.create(at: scene.location(as: "trusted"), options: scene.options) }
        #expect(!exists())
        try scene.create(granting: ServerRoles(application: "trusted"))
        #expect(exists())
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        let other = scene.directory.file("other")
        expectCode(.access) { _ = try store.rekey(to: .file(other)) }
        #expect(!FileManager.default.fileExists(atPath: other))
        let elsewhere = try StoreLocation(scene.location(as: "trusted").fullDescription + "2")
        expectCode(.access) { try TokenStore.create(at: elsewhere, options: scene.options) }
        #expect(exists())
        // One that is there already has its own key.
        scene.options.keySource = .file(other)
        expectCode(.key) { try scene.create() }
        #expect(!FileManager.default.fileExists(atPath: other))
    }

    @Test(.disabled(if: TestCluster.isWanted, "Citus has its own way to the machines"))
    func `a key file stays where a store may have been made with it`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        try server.connect().execute("GRANT CREATE ON DATABASE tests TO trusted")
        // The delay makes the number of round trips the same each time.
        let proxy = try DelayingProxy(to: server.port, roundTrip: .milliseconds(10))
        defer { proxy.stop() }
        var (roundTrips, made) = (0, 0)
        while true {
            let scene = try ServerScene(on: server)
            proxy.cut(afterRoundTrips: roundTrips, .after)
            let place = try scene.location(as: "trusted", port: proxy.port)
            let isDone = (try? TokenStore.create(at: place, options: scene.options)) != nil
            // What reached the server goes on there without a client.
            let sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'trusted'"
            try await eventually { try scene.count(sessions) == 0 }
            let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'"
            let isThere = try scene.count(tables) > 0
            let key = FileManager.default.fileExists(atPath: scene.directory.file("key"))
            #expect(key || !isThere, "\(roundTrips)")
            made += isThere ? 1 : 0
            if isDone, proxy.isArmed { break }
            roundTrips += 1
        }
        // Its commit was among what was cut.
        #expect(roundTrips > 2)
        #expect(made > 1)
    }

    @Test func `a database of another encoding than UTF8 is refused`() throws {
        let scene = try ServerScene()
        let database = "ascii_" + scene.schema
        let owner = try scene.server.connect()
        try owner.execute("CREATE DATABASE \(database) ENCODING 'SQL_ASCII' TEMPLATE template0")
        defer { #expect(throws: Never.self) { try owner.execute("DROP DATABASE \(database) WITH (FORCE)") } }
        let location = StoreLocation(try scene.server.address(database: database, schema: scene.schema))
        let error = #expect(throws: TokenStoreError.self) {
            try TokenStore.create(at: location, options: scene.options)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.problem.contains("has the encoding SQL_ASCII") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy?.advice.contains("ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0") == true)
    }

    @Test func `tables of another program are left alone`() throws {
        let scene = try ServerScene()
        try scene.server.connect().execute("CREATE SCHEMA \(scene.schema); CREATE TABLE \(scene.schema).store (a int)")
        expectCode(.damaged) { try scene.create() }
        expectCode(.damaged) { _ = try scene.open() }
        #expect(try scene.count("SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'") == 1)
    }

    @Test(arguments: ["SEQUENCE S.account", "TYPE S.event AS ENUM ('a')"])
    func `what another program has under the name of a table is left alone`(object: String) throws {
        let scene = try ServerScene()
        let object = object.replacing("S.", with: scene.schema + ".")
        try scene.server.connect().execute("CREATE SCHEMA \(scene.schema); CREATE \(object)")
        let error = #expect(throws: TokenStoreError.self) { try scene.create() }
        #expect(error?.code == .damaged)
        #expect(error?.problem.contains("tables of another program") == true, "\(error?.problem ?? "")")
        #expect(try scene.count("SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'") == 0)
        #expect(!FileManager.default.fileExists(atPath: scene.directory.file("key")))
    }

    @Test func `a store of a newer version is not written, and neither is one that was moved`() throws {
        let scene = try ServerScene()
        try scene.create()
        let store = try scene.open()
        let request = try ServerScene.request()
        try scene.sql("UPDATE store SET moved_to = 'postgresql://other.example/db'")
        expectCode(.moved) { try store.setDefaultAccount(nil) }
        try scene.sql("UPDATE store SET moved_to = NULL, schema_version = 99, writer_floor = 99, written_by = '9.9'")
        expectCode(.newerStore) { try store.setDefaultAccount(nil) }
        let error = #expect(throws: TokenStoreError.self) {
            try store.save(ServerScene.response("u1", token: "a"), for: request)
        }
        #expect(error?.code == .notStored)
        #expect(error?.response?.accessToken == Secret("a"))
        expectCode(.newerStore) { _ = try scene.open() }
        try scene.sql("UPDATE store SET reader_floor = 99")
        expectCode(.newerStore) { _ = try TokenStore.inspect(at: scene.location, options: scene.options) }
    }

    @Test(.disabled(if: TestCluster.isWanted, "the database has Citus"))
    func `a store for several machines needs Citus, and nothing is made without it`() throws {
        let scene = try ServerScene()
        expectCode(.unsupported) {
            try TokenStore.create(at: scene.location, options: scene.options, isDistributed: true)
        }
        #expect(try scene.count("SELECT count(*) FROM pg_namespace WHERE nspname = '\(scene.schema)'") == 0)
        try scene.create()
        // One that is there is not said to be what it is not.
        expectCode(.invalidArgument) {
            try TokenStore.create(at: scene.location, options: scene.options, isDistributed: true)
        }
        #expect(try scene.open().status().server?.machines == [])
    }

    @Test func `two accounts whose rows would have one id get two`() throws {
        var scene = try ServerScene()
        scene.options.accountRowMask = 0
        try scene.create()
        let store = try scene.open()
        for number in 1...3 {
            try store.save(ServerScene.response("u\(number)", token: "a\(number)"), for: ServerScene.request())
        }
        #expect(try store.accounts().map(\.id.homeAccountID).sorted() == ["u1.t1", "u2.t1", "u3.t1"])
        #expect(try store.check() == [])
        for account in try store.accounts() {
            let query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
            guard case .usable(let token, isAging: _) = try store.cachedToken(for: query) else {
                Issue.record("\(account.id) has no token")
                continue
            }
            let name = "a\(account.id.homeAccountID.dropFirst().prefix(1))"
            #expect(token.secret == Secret(name))
            let state = try store.silentState(for: query) { found in
                #expect(found.id == account.id)
                return try ServerScene.request().authority
            }
            #expect(state?.candidates.map(\.token.secret) == [Secret("r-" + name)])
        }
    }

    @Test func `a damaged token is not missing, also beside one for a scope whose name begins alike`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        let authority = try ServerScene.request().authority
        for name in ["s1", "s10"] {
            let scope = Scope(name)
            let request = TokenRequest(clientID: "cid", authority: authority, scope: scope, grant: .authorizationCode)
            try store.save(.signIn(["access_token": .string(name), "scope": .string(name)]), for: request)
        }
        try scene.sql("DELETE FROM refresh_token; UPDATE access_token SET expires_on = 9 WHERE scope_fold = 's1'")
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
        expectCode(.damaged) { _ = try store.storedToken(for: query) }
        expectCode(.damaged) { _ = try store.silentState(for: query) { _ in authority } }
    }
}
