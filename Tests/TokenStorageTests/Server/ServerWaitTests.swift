import Database
import Foundation
import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What a server is waited for, and what no wait mends.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerWaitTests {
    @Test func `a list and an export wait for a table that is locked longer than a statement may wait`() async throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        try await store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let holder = try scene.server.connect()
        try holder.execute("SET idle_in_transaction_session_timeout = 0")
        try holder.execute("BEGIN; LOCK TABLE \(scene.schema).account IN ACCESS EXCLUSIVE MODE")
        async let listed = store.performRead { store in
            var names: [String] = []
            try store.forEachAccount { names.append($0.account.id.homeAccountID) }
            return names
        }
        async let exported = store.performRead { try $0.exportMSALCache().count }
        // A statement waits for five seconds at most.
        try await Task.sleep(for: .seconds(7))
        try holder.execute("COMMIT")
        #expect(try await listed == ["u1.t1"])
        #expect(try await exported > 2)
    }

    @Test func `who may wait for a moment only does not wait longer for a connection`() throws {
        var scene = try ServerScene()
        scene.options.poolSize = 1
        let store = try scene.createdStore()
        let taken = DispatchSemaphore(value: 0)
        let (release, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? store.withWriter { _ in
                taken.signal()
                release.wait()
            }
            done.signal()
        }
        taken.wait()
        let start = ContinuousClock.now
        let error = #expect(throws: TokenStoreError.self) { try store.withWriter(within: .milliseconds(50)) { _ in } }
        #expect(error?.code == .busy)
        #expect(ContinuousClock.now - start < .seconds(10))
        release.signal()
        done.wait()
    }

    @Test func `what cannot be written through an address for standbys says so`() throws {
        let said = "cannot execute UPDATE in a read-only transaction"
        let error = PostgreSQLError(.readOnlyTransaction, said, state: .usable)
        for (target, isOfAddress) in [("standby", true), ("read-only", true), ("any", false)] {
            let location = try StoreLocation("postgresql://trusted@127.0.0.1/tests?target_session_attrs=\(target)")
            let told = TokenStoreError(error, at: location)
            // A token that is there is handed out all the same.
            #expect(told.code == .unreachable)
            #expect(told.remedy?.advice.contains("target_session_attrs=read-write") == isOfAddress)
        }
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `a server that is only read by its address is not waited for`() throws {
        let primary = try TestServer()
        let standby = try TestServer(following: primary)
        defer {
            primary.stop()
            standby.stop()
        }
        var scene = try ServerScene(on: primary)
        try scene.create(granting: ServerRoles(application: "trusted"))
        scene.options.busyTimeout = .seconds(20)
        for target in ["standby", "read-only"] {
            let location = try StoreLocation(
                "postgresql://trusted@127.0.0.1:\(standby.port)/tests?schema=\(scene.schema)&target_session_attrs=\(target)"
            )
            // The standby has the store in a moment.
            let store = try #require(
                (0..<500).lazy.compactMap { _ in
                    usleep(10_000)
                    return try? TokenStore.open(at: location, options: scene.options)
                }.first
            )
            let start = ContinuousClock.now
            let error = #expect(throws: TokenStoreError.self) {
                try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
            }
            #expect(start.duration(to: .now) < .seconds(10))
            #expect(error?.remedy?.advice.contains("target_session_attrs=read-write") == true)
        }
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"), arguments: ["standby", "any"])
    func `what a standby gives up is read again, at the primary if that may be`(target: String) throws {
        let scene = try StandbyScene(target: target)
        var tries = 0
        let isStandby: Bool? = try scene.inspection.connections.read { session in
            tries += 1
            return try scene.isStandby(session, givingUp: tries == 1)
        }
        #expect(tries == 2)
        #expect(isStandby == (target == "standby"))
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `what a standby gives up late is read again all the same`() throws {
        let limit = Duration.seconds(2)
        let scene = try StandbyScene(target: "any", busyTimeout: limit)
        let start = ContinuousClock.now
        var tries = 0
        let isStandby: Bool? = try scene.inspection.connections.read { session in
            tries += 1
            // By default a standby puts off what is in the way for as long as a caller waits.
            while tries == 1, ContinuousClock.now - start < limit { usleep(10_000) }
            return try scene.isStandby(session, givingUp: tries == 1)
        }
        #expect(tries == 2)
        #expect(isStandby == false)
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"), arguments: ["standby", "any"])
    func `who was told a part of what a standby gave up may begin again`(target: String) throws {
        let scene = try StandbyScene(target: target)
        let connections = scene.inspection.connections
        let error = #expect(throws: TokenStoreError.self) {
            _ = try connections.read(isTold: true) { try scene.isStandby($0, givingUp: true) }
        }
        #expect(error?.code == .busy)
        #expect(error?.remedy?.code == .retry)
        #expect(error?.problem.contains("a standby of ") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy?.advice.contains("name the primary") == true)
        // At the primary, which gives nothing up.
        let isStandby = try connections.read { try scene.isStandby($0, givingUp: false) }
        #expect(isStandby == (target == "standby"))
    }

    @Test func `a write that others are in the way of is not told of a standby`() throws {
        let error = PostgreSQLError(.serializationFailure, "could not serialize access due to concurrent update")
        for target in ["prefer-standby", "any"] {
            let location = try StoreLocation("postgresql://trusted@127.0.0.1/tests?target_session_attrs=\(target)")
            let told = TokenStoreError(error, at: location)
            #expect(told.code == .busy)
            #expect(told.problem.contains("others change the same rows"), "\(told.problem)")
        }
    }

    @Test func `a server that ends its sessions is there, as one that starts is`() {
        for code in [PostgreSQLError.Code.adminShutdown, .crashShutdown, .cannotConnectNow, .tooManyConnections] {
            let error = PostgreSQLError(code, "terminating connection due to administrator command", state: .lost)
            #expect(error.isPassing)
            #expect(error.isOfBusyServer)
        }
        #expect(!PostgreSQLError(.unreachable, "connection refused", state: .lost).isOfBusyServer)
    }

    @Test func `a limit that an operator has set does not pass`() throws {
        let said = "temporary file size exceeds temp_file_limit (0kB)"
        let error = PostgreSQLError(.limitExceeded, said, state: .usable)
        #expect(!error.isPassing)
        let told = TokenStoreError(error, at: try StoreLocation("postgresql://trusted@127.0.0.1/tests"))
        #expect(told.code == .storage)
        #expect(told.remedy?.code == .askOperator)
    }
}

/// A primary, and a standby that gives up at once what is in the way of what it takes over.
private final class StandbyScene: Sendable {
    private let primary: TestServer
    private let standby: TestServer
    let inspection: StoreInspection

    /// The address names the standby first, and `target` says which of the two may be read.
    init(target: String, busyTimeout: Duration = .seconds(20)) throws {
        primary = try TestServer()
        standby = try TestServer(following: primary, ["max_standby_streaming_delay = 0"])
        var scene = try ServerScene(on: primary)
        try scene.create(granting: ServerRoles(application: "trusted"))
        try primary.connect().execute(
            "CREATE TABLE churn (a bigint); INSERT INTO churn SELECT generate_series(1, 100)"
        )
        let place = "127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)/tests?schema=\(scene.schema)"
        let location = try StoreLocation("postgresql://trusted@\(place)&target_session_attrs=\(target)")
        scene.options.busyTimeout = busyTimeout
        let options = scene.options
        // The standby has the store in a moment.
        inspection = try #require(
            (0..<500).lazy.compactMap { _ in
                usleep(10_000)
                return try? TokenStore.inspect(at: location, options: options)
            }.first
        )
    }

    deinit {
        primary.stop()
        standby.stop()
    }

    /// Whether a standby is read, which is made to give up the transaction first if `isGivenUp`.
    func isStandby(_ session: StoreConnection, givingUp isGivenUp: Bool) throws -> Bool? {
        guard case .server(let server) = session.connection.engine else { return nil }
        return try server.read {
            let isStandby = try server.integer("SELECT pg_is_in_recovery()") == 1
            guard isGivenUp else { return isStandby }
            let rest = try server.ask("SELECT pg_sleep(600)")
            try server.flush()
            let watcher = try standby.connect("&target_session_attrs=any")
            let sleepers = watcher.prepare("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
            while try sleepers.first([], { _ in true }) == nil { usleep(10_000) }
            // The standby has to do the same, which the statement that runs there could still see.
            try primary.connect().execute("DELETE FROM churn; VACUUM churn")
            _ = try rest.rows()
            return isStandby
        }
    }
}
