import Database
import Foundation
import OAuth
import PostgreSQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What a caller is told where the connection ends behind any of its messages, the one with the commit among them: the
/// same as if nothing had happened.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerLostCommitTests {
    /// A store whose connections can be cut, and the same store by others.
    private final class Scene: Sendable {
        let scene: ServerScene
        let proxy: DelayingProxy
        let store: TokenStore
        let other: TokenStore

        init() throws {
            scene = try ServerScene()
            try scene.create(granting: ServerRoles(application: "trusted"))
            proxy = try DelayingProxy(to: scene.server.port)
            // It changes keys as well.
            try scene.sql("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(scene.schema) TO trusted")
            store = try TokenStore.open(at: scene.location(as: "trusted", port: proxy.port), options: scene.options)
            other = try scene.open()
        }

        deinit { proxy.stop() }

        /// Calls `body` once for each message that it sends, with how many pass before the cut.
        func forEachCut(_ body: (_ number: Int, _ arm: () -> Void) throws -> Void) throws {
            var number = 0
            repeat {
                try body(number) { proxy.cut(after: number, .after) }
                number += 1
            } while !proxy.isArmed
            #expect(number > 3)
        }

        @discardableResult
        func signIn(_ subject: String = "u1") throws -> Account.ID {
            let saved = try other.save(ServerScene.response(subject, token: "a"), for: ServerScene.request())
            return try #require(saved.account)
        }

        func events(_ kind: String) throws -> Int64 {
            try scene.count("SELECT count(*) FROM event WHERE kind = '\(kind)'")
        }
    }

    @Test func `a lease is renewed by another connection where the one at hand is dead`() async throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let proxy = try DelayingProxy(to: scene.server.port)
        defer { proxy.stop() }
        let store = try await TokenStore.open(
            at: scene.location(as: "trusted", port: proxy.port),
            options: scene.options
        )
        try await store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let account = try #require(try await store.accounts().first).id
        let lock = try await store.refreshLock(of: account, for: .client("cid"), patience: .seconds(60))
        proxy.silence()
        // Three seconds after its end another takes it.
        let late = "SELECT count(*) FROM refresh_lease WHERE ends_at < clock_timestamp() - interval '3 seconds'"
        let limit = ContinuousClock.now + .seconds(12)
        while ContinuousClock.now < limit {
            try #require(try scene.count(late) == 0)
            try await Task.sleep(for: .milliseconds(200))
        }
        try await lock.requireHeld()
        await lock.release()
    }

    @Test func `a lease is one's own`() async throws {
        let scene = try Scene()
        let account = try scene.signIn()
        var number = 0
        repeat {
            scene.proxy.cut(after: number, .after)
            let lock = try await scene.store.refreshLock(of: account, for: .client("cid"), patience: .seconds(10))
            #expect(!lock.wasWaitedFor)
            await lock.release()
            number += 1
        } while !scene.proxy.isArmed
        #expect(number > 3)
    }

    @Test func `a refresh that begins is no earlier use of its token`() throws {
        let scene = try Scene()
        try scene.forEachCut { _, arm in
            let account = try scene.signIn()
            let token = try #require(try scene.other.refreshTokens(of: account, client: "cid").first)
            arm()
            #expect(try scene.store.beginRefresh(with: token) == nil)
            // The next one is told of it.
            #expect(try scene.other.beginRefresh(with: token) != nil)
        }
    }

    @Test func `tags are changed once`() throws {
        let scene = try Scene()
        let account = try scene.signIn()
        try scene.forEachCut { number, arm in
            arm()
            let tags = try scene.store.changeTags(of: account) { tags in
                tags["n"] = "\(tags["n"].flatMap { Int($0) }.map { $0 + 1 } ?? 0)"
            }
            #expect(tags == ["n": "\(number)"])
            #expect(try scene.other.tags(of: account) == tags)
        }
    }

    @Test func `tags are taken away once`() throws {
        let scene = try Scene()
        let account = try scene.signIn()
        try scene.forEachCut { _, arm in
            try scene.other.setTags(["a": "b"], of: account)
            arm()
            #expect(try scene.store.changeTags(of: account) { $0 = $0.isEmpty ? ["a": "b"] : [:] } == [:])
            #expect(try scene.other.tags(of: account) == [:])
        }
    }

    @Test func `a refresh token is removed, and recorded, once`() throws {
        let scene = try Scene()
        try scene.forEachCut { number, arm in
            let account = try scene.signIn()
            let token = try #require(try scene.other.refreshTokens(of: account, client: "cid").first)
            arm()
            #expect(try scene.store.removeRefreshToken(token))
            #expect(try scene.events("refused") == Int64(number + 1))
        }
    }

    @Test func `a sign-out is recorded once, with the tokens that it deleted`() throws {
        let scene = try Scene()
        try scene.forEachCut { number, arm in
            let account = try scene.signIn()
            arm()
            #expect(try scene.store.signOut(account, clients: nil).deleted.map(\.secret) == [Secret("r-a")])
            #expect(try scene.events("sign_out") == Int64(number + 1))
        }
    }

    @Test(arguments: [false, true])
    func `a purge counts what it deleted`(isOfExpired: Bool) throws {
        let scene = try Scene()
        try scene.forEachCut { number, arm in
            try scene.signIn()
            if isOfExpired { try scene.other.withWriter { try $0.update("access_token", set: "expires_on = 1") } }
            arm()
            let counts = try isOfExpired ? scene.store.purgeExpired() : scene.store.purge(.all)
            #expect(counts.accessTokens == 1)
            #expect(counts.accounts == (isOfExpired ? 0 : 1))
            #expect(try scene.events("purge") == Int64(number + 1))
        }
    }

    @Test func `an import tells what it took in`() throws {
        let scene = try Scene()
        let document: JSONValue = [
            "AppMetadata": ["a": ["client_id": "other", "environment": "login.microsoftonline.com", "family_id": "1"]],
            "Strange": ["y": ["z": 2]],
        ]
        try scene.forEachCut { number, arm in
            try scene.scene.sql("DELETE FROM app_metadata; DELETE FROM foreign_entry")
            arm()
            let report = try scene.store.take(document.serialized)
            #expect(report.appMetadata == 1)
            #expect(report.other == 1)
            #expect(report.unchanged == 0)
            #expect(try scene.events("import") == Int64(number + 1))
        }
    }

    @Test func `what is sealed anew is counted once`() throws {
        struct Interruption: Error {}
        let scene = try Scene()
        for subject in ["u1", "u2"] { try scene.signIn(subject) }
        func resealed(_ arm: () -> Void = {}) throws -> Int {
            #expect(throws: Interruption.self) { _ = try scene.other.rekey { _ in throw Interruption() } }
            arm()
            let count = try scene.store.withWriter { try $0.resealEverything(nil).values }
            #expect(try scene.other.rekey().resealed == 0)
            return count
        }
        let wanted = try resealed()
        #expect(wanted > 0)
        // Each rekey leaves two entries more.
        try scene.forEachCut { number, arm in
            let count = try resealed(arm)
            #expect(count == wanted + 2 * (number + 1))
        }
        #expect(try scene.other.check() == [])
    }

    @Test func `an account that another node deletes meanwhile does not come back`() async throws {
        let scene = try Scene()
        let runs = LockedValue(0)
        async let saved = scene.store.perform { store in
            try store.write { session in
                runs.withLock { $0 += 1 }
                let saved = try session.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
                // Nobody is there at first to say whether it happened.
                scene.proxy.cut(.after, leadingTo: 1)
                return saved
            }
        }
        while try scene.scene.count("SELECT count(*) FROM account") == 0 {
            try await Task.sleep(for: .milliseconds(1))
        }
        let account = try #require(try await scene.other.accounts().first).id
        try await scene.other.removeAccount(account)
        scene.proxy.lead(to: scene.scene.server.port)
        #expect(try await saved.outcome == .stored)
        #expect(runs.withLock(\.self) == 1)
        #expect(try await scene.other.accounts() == [])
    }

    @Test(
        .disabled(if: TestCluster.isWanted, "one server of its own tells as much"),
        arguments: [false, true]
    )
    func `a commit that was cut off while it waited for a standby waits again`(isCancelled: Bool) async throws {
        let server = try TestServer(["fsync = on"])
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        let store = try scene.createdStore()
        let owner = try server.connect()
        try owner.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try owner.execute("SELECT pg_reload_conf()")
        func waiter() throws -> Int64 {
            try scene.count("SELECT pid::bigint FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        }
        let isCut = LockedValue(false)
        let isOver = LockedValue(false)
        async let end: Void = store.perform { store in
            defer { isOver.withLock { $0 = true } }
            // The first ones may be done before the server knows that there is to be a standby.
            repeat { try store.write { try $0.record(.import, outcome: "slow") } } while !isCut.withLock(\.self)
        }
        try await eventually { try waiter() > 0 }
        let first = try waiter()
        isCut.withLock { $0 = true }
        try owner.execute("SELECT pg_terminate_backend(\(first))")
        try await eventually { try isOver.withLock(\.self) || ![-1, first].contains(waiter()) }
        let wasOver = isOver.withLock { $0 }
        try #require(!wasOver)
        if isCancelled {
            try owner.execute("SELECT pg_cancel_backend(\(waiter()))")
        } else {
            try owner.run("ALTER SYSTEM RESET synchronous_standby_names")
            try owner.execute("SELECT pg_reload_conf()")
        }
        do {
            try await end
            #expect(!isCancelled)
        } catch let error as TokenStoreError {
            #expect(isCancelled)
            #expect(error.code == .storage)
            #expect(error.problem.hasPrefix("a standby may not have"), "\(error.problem)")
        }
    }

    @Test(.disabled(if: TestCluster.isWanted, "of a transaction on several machines nobody tells whether it is over"))
    func `a commit that the server has not come to yet is waited for`() async throws {
        let scene = try Scene()
        let runs = LockedValue(0)
        let isOver = LockedValue(false)
        let stopped = LockedValue<Int32>(0)
        async let end: Void = scene.store.perform { store in
            defer { isOver.withLock { $0 = true } }
            try store.write { session in
                try session.record(.import, outcome: "slow")
                runs.withLock { $0 += 1 }
                guard case .server(let server) = session.connection.engine, runs.withLock(\.self) == 1 else { return }
                let process = server.serverProcess
                kill(process, SIGSTOP)
                scene.proxy.cut(.meanwhile)
                stopped.withLock { $0 = process }
            }
        }
        while stopped.withLock({ $0 == 0 }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        // By then it has connected anew, and looked.
        let messages = scene.proxy.messages + 12
        while scene.proxy.messages < messages, !isOver.withLock(\.self) {
            try await Task.sleep(for: .milliseconds(1))
        }
        kill(stopped.withLock(\.self), SIGCONT)
        try await end
        #expect(runs.withLock(\.self) == 1)
        #expect(try scene.scene.count("SELECT count(*) FROM event WHERE outcome = 'slow'") == 1)
    }
}
