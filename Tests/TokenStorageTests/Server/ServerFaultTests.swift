import Foundation
import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What a program is told of a server that does not serve it; "no account" is never the answer, and nothing is made.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerFaultTests {
    /// A mistake, or a server that is not as it should be.
    enum Fault: String, CaseIterable {
        case wrongPassword, unknownDatabase, nothingListens, noConnectionLeft, readOnly, unknownUser

        /// The servers of the tests' cluster ask for no password.
        static let ofTheServer = allCases.filter {
            !TestCluster.isWanted || $0 != .wrongPassword && $0 != .unknownUser
        }
    }

    /// The address that meets the fault, the code and a part of the sentence.
    private func place(
        _ fault: Fault,
        _ scene: ServerScene
    ) throws -> (StoreLocation, TokenStoreError.Code, sentence: String) {
        let server = scene.server
        func address(_ text: String) throws -> StoreLocation {
            StoreLocation(try ServerAddress(text, origin: .environment) { _ in nil })
        }
        let (port, schema) = (server.port, scene.schema)
        let remote = "127.0.0.1:\(port)/tests?schema=\(schema)"
        let refusal = "refused the user or the password"
        return switch fault {
        case .wrongPassword: (try address("postgresql://app:wrong@" + remote), .access, refusal)
        case .unknownUser: (try address("postgresql://nobody:x@" + remote), .access, refusal)
        case .unknownDatabase:
            (StoreLocation(try server.address(database: "nothing", schema: schema)), .access, "has no database nothing")
        case .nothingListens:
            (try address("postgresql://app:x@127.0.0.1:1/tests?schema=\(schema)"), .unreachable, "127.0.0.1:1")
        case .noConnectionLeft:
            (StoreLocation(try server.address(user: "few", schema: schema)), .unreachable, "no connection left")
        case .readOnly: (StoreLocation(try server.address(schema: schema)), .unreachable, "cannot be written to now")
        }
    }

    @Test(arguments: Fault.ofTheServer)
    func `a fault has its code and sentence, and nothing is made`(fault: Fault) throws {
        let own = fault == .readOnly || fault == .noConnectionLeft
        let server = own ? try TestServer(fault == .readOnly ? ["default_transaction_read_only = on"] : []) : nil
        defer { server?.stop() }
        var scene = try ServerScene(on: server)
        scene.options.busyTimeout = .seconds(4)
        let (location, code, sentence) = try place(fault, scene)
        let holder = fault == .noConnectionLeft ? try server?.connect(user: "few") : nil
        defer { holder?.close() }
        let attempts: [() throws -> Void] = [
            { _ = try TokenStore.open(at: location, options: scene.options) },
            { _ = try TokenStore.inspect(at: location, options: scene.options) },
            { try TokenStore.create(at: location, options: scene.options) },
            { try TokenStore.migrate(at: location, options: scene.options) },
            { _ = try TokenStore.purgeAll(at: location, options: scene.options) },
        ]
        for attempt in attempts {
            let error = #expect(throws: TokenStoreError.self) { try attempt() }
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.problem.contains(sentence) == true, "\(error?.problem ?? "")")
            #expect(error?.remedy != nil)
            #expect(error?.problem.contains("wrong@") == false)
        }
        if fault != .readOnly {
            #expect(try scene.count("SELECT count(*) FROM pg_namespace WHERE nspname = '\(scene.schema)'") == 0)
        }
    }

    @Test(
        arguments: [
            (.certificate, .access), (.unsupported, .unsupported), (.diskFull, .storage), (.notReplicated, .storage),
            (.wrongKindOfServer, .unreachable), (.timedOut, .busy), (.notConnected, .busy), (.poolExhausted, .busy),
            (.cannotConnectNow, .unreachable), (.tooManyConnections, .unreachable), (.connectionLost, .unreachable),
            (.serializationFailure, .busy), (.permission, .access), (.address, .invalidArgument),
            (.noEncryption, .access), (.passwordFile, .access), (.setting, .invalidArgument),
            (.undefinedTable, .damaged), (.characterNotInRepertoire, .invalidArgument), (.failedTransaction, .storage),
            (.statementPooler, .invalidArgument), (.init(rawValue: "53200"), .unreachable),
            (.init(rawValue: "58030"), .unreachable), (.untranslatableCharacter, .unsupported), (.brokenText, .damaged),
        ] as [(PostgreSQLError.Code, TokenStoreError.Code)]
    )
    func `every failure of the binding has a code of the store and a remedy`(
        failure: PostgreSQLError.Code,
        code: TokenStoreError.Code
    ) throws {
        let error = TokenStoreError(PostgreSQLError(failure, "it failed"), at: try ServerScene().location)
        #expect(error.code == code)
        #expect(error.remedy != nil)
        #expect(error.path?.hasPrefix("postgresql://") == true)
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `a write without its standby takes one time limit, and says that it may have happened`() throws {
        let primary = try TestServer(["fsync = on"])
        let standby = try TestServer(following: primary)
        defer {
            primary.stop()
            standby.stop()
        }
        var scene = try ServerScene(on: primary)
        try scene.create(granting: ServerRoles(application: "trusted"))
        let first = try scene.open()
        try first.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let account = try #require(try first.accounts().first).id
        let owner = try primary.connect()
        try owner.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try owner.execute("SELECT pg_reload_conf()")
        let program = try scene.location(as: "trusted")
        func status() throws -> ServerStatus? {
            try TokenStore.inspect(at: program, options: scene.options)?.status().server
        }
        while try status()?.survivesLoss != true { usleep(10_000) }
        #expect(try status()?.lacksStandby == false)
        standby.stop()
        while try status()?.lacksStandby != true { usleep(10_000) }
        #expect(try status()?.survivesLoss == false)
        scene.options.busyTimeout = .seconds(6)
        let store = try TokenStore.open(at: program, options: scene.options)
        let start = ContinuousClock.now
        let error = #expect(throws: TokenStoreError.self) { try store.setDefaultAccount(account) }
        let time = start.duration(to: .now)
        #expect(time > .seconds(5) && time < .seconds(30), "\(time)")
        #expect(error?.code == .busy)
        #expect(error?.problem.contains("it is not known whether") == true, "\(error?.problem ?? "")")
        scene.options.busyTimeout = .seconds(2)
        let other = StoreLocation(try primary.address(schema: scene.schema + "b"))
        let unmade = #expect(throws: TokenStoreError.self) { try TokenStore.create(at: other, options: scene.options) }
        #expect(unmade?.code == .busy)
        #expect(unmade?.problem.contains("it is not known whether") == true, "\(unmade?.problem ?? "")")
    }

    @Test(
        .disabled(if: TestCluster.isWanted, "one server of its own tells as much"),
        arguments: ["prefer-standby", "any"]
    )
    func `a program that writes passes over a standby that its address allows`(target: String) throws {
        let primary = try TestServer()
        let standby = try TestServer(isStandby: true)
        defer {
            primary.stop()
            standby.stop()
        }
        var scene = try ServerScene(on: primary)
        scene.options.busyTimeout = .seconds(2)
        try scene.create(granting: ServerRoles(application: "trusted"))
        let hosts = "127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)"
        let location = try StoreLocation(
            "postgresql://trusted@\(hosts)/tests?schema=\(scene.schema)&target_session_attrs=\(target)"
        )
        let store = try TokenStore.open(at: location, options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try store.accounts().count == 1)
    }

    @Test(
        .disabled(if: TestCluster.isWanted, "the tables of a cluster are not changed so"),
        arguments: [
            ("UPDATE store SET moved_to = 'postgresql://other.example/db'", .moved),
            ("REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA FROM trusted", .access),
            ("REVOKE SELECT ON claim_index FROM trusted", .access),
            ("ALTER TABLE account ENABLE ROW LEVEL SECURITY", .access),
            ("ALTER TABLE event ENABLE ROW LEVEL SECURITY", .access),
            (
                "ALTER TABLE sign_out ENABLE ROW LEVEL SECURITY; CREATE POLICY all_of_it ON sign_out USING (true)",
                .access
            ),
            ("ALTER TABLE refresh_token RENAME TO elsewhere", .damaged),
        ] as [(String, TokenStoreError.Code)]
    )
    func `a server that would not store a sign-in says so before`(change: String, code: TokenStoreError.Code) throws {
        var scene = try ServerScene()
        scene.options.busyTimeout = .seconds(2)
        try scene.create(granting: ServerRoles(application: "trusted"))
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        try store.requireSavable()
        #expect(try scene.count("SELECT count(*) FROM event") == 0)
        try scene.sql(change.replacing("SCHEMA SCHEMA", with: "SCHEMA \(scene.schema)"))
        expectCode(code) { try store.requireSavable() }
    }

    @Test func `a primary where a standby was asked for is no server that cannot be written to`() throws {
        let scene = try ServerScene()
        let query = "schema=\(scene.schema)&target_session_attrs=standby"
        let location = try StoreLocation("postgresql://trusted@127.0.0.1:\(scene.server.port)/tests?" + query)
        let error = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.inspect(at: location, options: scene.options)
        }
        #expect(error?.code == .unreachable)
        #expect(error?.problem.contains("is a standby now") == true)
        #expect(error?.remedy?.advice.contains("correct target_session_attrs") == true)
    }

    @Test func `counts that a server makes up have a sum`() {
        #expect([Int64.max, .max, 7].map { Int(count: $0) }.reduce(0, +) > 7)
        #expect([-1, 0, 12].map { Int(count: $0) } == [0, 0, 12])
    }

    @Test(arguments: [
        ("access_token", "UPDATE"), ("refresh_token", "UPDATE"), ("event", "INSERT"), ("claim_index", "DELETE"),
        ("claim_index", "SELECT"), ("sign_out", "SELECT"),
    ])
    func `a right that an answer needs is missed before a refresh begins`(table: String, right: String) throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        let account = try #require(
            try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request()).account
        )
        let token = try #require(try store.refreshTokens(of: account, client: "cid").first)
        try scene.sql("REVOKE \(right) ON \(table) FROM trusted")
        let error = #expect(throws: TokenStoreError.self) { try store.beginRefresh(with: token) }
        #expect(error?.code == .access)
        #expect(error?.problem.contains("the role trusted at ") == true)
        #expect(error?.problem.contains(": \(right) on \(table)") == true)
        #expect(try scene.count("SELECT count(*) FROM refresh_attempt") == 0)
        try scene.sql("GRANT \(right) ON \(table) TO trusted")
        #expect(try store.beginRefresh(with: token) == nil)
    }

    @Test func `a full server is waited for at the first connection, too`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        try server.connect().execute("CREATE ROLE crowd LOGIN CONNECTION LIMIT 2")
        try scene.create(granting: ServerRoles(application: "crowd"))
        let holders = try (0..<2).map { _ in try server.connect(user: "crowd") }
        let location = StoreLocation(try server.address(user: "crowd", schema: scene.schema))
        let store = TokenStore.deferred(at: location, options: scene.options)
        let count = Task { try await store.performRead { try $0.accounts().count } }
        try await eventually {
            do { try store.requireNoHolder() } catch { return true }
            return false
        }
        for holder in holders { holder.close() }
        #expect(try await count.value == 0)
    }

    @Test func `a store that has lost its data keys says so to all who open it`() throws {
        let scene = try ServerScene()
        try scene.createdStore().save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try scene.sql("DELETE FROM data_key")
        let attempts: [() throws -> Void] = [
            { _ = try scene.open() },
            { _ = try TokenStore.inspect(at: scene.location, options: scene.options)?.accounts() },
            { _ = try TokenStore.inspect(at: scene.location, options: scene.options)?.check() },
        ]
        for attempt in attempts {
            let error = #expect(throws: TokenStoreError.self) { try attempt() }
            #expect(error?.code == .damaged)
            #expect(error?.problem.contains("has lost its data keys") == true, "\(error?.problem ?? "")")
        }
    }

    @Test(.enabled(if: Bouncer.program != nil, "pgbouncer is installed"))
    func `a pooler that allows no transactions is not waited for`() throws {
        let scene = try ServerScene()
        try scene.create()
        let bouncer = try Bouncer(scene.server, mode: "statement")
        let location = StoreLocation(try bouncer.address(schema: scene.schema))
        let error = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.open(at: location, options: scene.options)
        }
        #expect(error?.code == .invalidArgument, "\(error?.problem ?? "")")
        #expect(error?.remedy?.advice.contains("pool_mode = transaction") == true)
    }

    @Test func `a server that another has taken the place of is refused`() throws {
        // Promoted, it is on a timeline of its own.
        let (standby, old) = (try TestServer(isStandby: true), try TestServer())
        defer {
            standby.stop()
            old.stop()
        }
        try standby.connect("&target_session_attrs=any").execute("SELECT pg_promote()")
        var scene = try ServerScene(on: standby)
        scene.options.busyTimeout = .seconds(2)
        try scene.create(granting: ServerRoles(application: "trusted"))
        let proxy = try DelayingProxy(to: standby.port)
        defer { proxy.stop() }
        let location = try scene.location(as: "trusted", port: proxy.port)
        let store = try TokenStore.open(at: location, options: scene.options)
        #expect(try store.status().server?.timeline == 2)
        proxy.lead(to: old.port)
        proxy.cut(.before)
        let error = #expect(throws: TokenStoreError.self) { _ = try store.accounts() }
        #expect(error?.code == .unreachable)
        #expect(error?.problem.contains("another server has taken its place") == true, "\(error?.problem ?? "")")
        proxy.lead(to: standby.port)
        #expect(try store.accounts().isEmpty)
    }
}
