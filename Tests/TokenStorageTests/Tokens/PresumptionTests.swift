import Database
import Foundation
import OAuth
import PostgreSQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Sign-ins that are sent at once, as the account is taken to be new: what becomes of them where it is not so.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct PresumptionTests {
    /// A node that has signed people in and takes the next one to be new, and another node.
    private struct Scene {
        let scene: ServerScene
        let proxy: DelayingProxy
        let node: TokenStore
        let other: TokenStore

        init() throws {
            scene = try ServerScene()
            try scene.create(granting: ServerRoles(application: "trusted"))
            // No answer comes while a batch is still being sent.
            proxy = try DelayingProxy(to: scene.server.port, roundTrip: .milliseconds(20))
            node = try TokenStore.open(at: scene.location(as: "trusted", port: proxy.port), options: scene.options)
            other = try scene.open()
            for number in 0..<3 { try signIn("first\(number)", token: "f\(number)") }
        }

        /// - Returns: how often the server was waited for.
        @discardableResult
        func signIn(_ subject: String, token: String) throws -> Int {
            // What the server was told behind the last commit is answered by then.
            usleep(30_000)
            let before = proxy.roundTrips
            let saved = try node.save(ServerScene.response(subject, token: token), for: ServerScene.request())
            #expect(saved.outcome == .stored)
            #expect(saved.accessToken?.secret == Secret(token))
            return proxy.roundTrips - before
        }

        /// Whether somebody waits for a table of the store.
        func isAnyoneWaiting() throws -> Bool {
            try scene.count(
                "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
                    + " WHERE NOT l.granted AND c.relnamespace = '\(scene.schema)'::regnamespace"
            ) > 0
        }

        func account(_ subject: String) throws -> Account.ID {
            try #require(try other.accounts().first { $0.id.homeAccountID == "\(subject).t1" }).id
        }

        /// Makes sure that the account has these tokens alone, and that each of its sign-ins stands in the record.
        func expectSession(_ subject: String, token: String, signIns: Int64 = 1) throws {
            let account = try account(subject)
            #expect(try other.refreshTokens(of: account, client: "cid").map(\.secret) == [Secret("r-" + token)])
            let query = TokenQuery(account: account, clientID: "cid", scope: "s1")
            guard case .usable(let found, _) = try other.storedToken(for: query) else {
                Issue.record("no token")
                return
            }
            #expect(found.secret == Secret(token))
            let entries = "SELECT count(*) FROM event e JOIN account a ON a.id = e.account_id WHERE e.kind = 'sign_in'"
            #expect(try scene.count("\(entries) AND a.home_account_id = '\(subject).t1'") == signIns)
            #expect(try other.check() == [])
        }
    }

    @Test(.disabled(if: TestCluster.isWanted, "on Citus a sign-in asks first"))
    func `a sign-in of a new account waits for the server once`() throws {
        let scene = try Scene()
        #expect(try scene.signIn("u1", token: "a") == 1)
        #expect(try scene.signIn("u2", token: "b") == 1)
        try scene.expectSession("u1", token: "a")
        try scene.expectSession("u2", token: "b")
    }

    @Test func `of sign-ins at once the last tells the others, and one in five milliseconds`() {
        typealias Turn = SignInExperience.Turn
        let (experience, start) = (SignInExperience(), ContinuousClock.now)
        let alone = Turn(experience)
        #expect(alone.isToTell(at: start))
        var (first, second, third) = (Turn(experience), Turn?(Turn(experience)), Turn(experience))
        #expect(!first.isToTell(at: start + .milliseconds(4)))
        // One that fails tells nothing.
        second = nil
        #expect(third.isToTell(at: start + .milliseconds(4)))
        (first, second, third) = (Turn(experience), Turn(experience), Turn(experience))
        #expect(first.isToTell(at: start + .milliseconds(9)))
        #expect(second?.isToTell(at: start + .milliseconds(10)) == false)
        #expect(third.isToTell(at: start + .milliseconds(11)))
    }

    @Test func `people who sign in at once are all told to another node`() async throws {
        let scene = try Scene()
        let changes = try await scene.other.changes()
        let told = LockedValue<Set<String>>([])
        let reading = Task {
            for await case .signedIn(let account) in changes {
                told.withLock { _ = $0.insert(String(account.homeAccountID.prefix { $0 != "." })) }
            }
        }
        defer { reading.cancel() }
        let people = Set((0..<8).map { "v\($0)" })
        try await withThrowingTaskGroup { group in
            for person in people {
                group.addTask {
                    try await scene.node.save(ServerScene.response(person, token: "a"), for: ServerScene.request())
                }
            }
            try await group.waitForAll()
        }
        try await eventually { told.withLock(\.self) == people }
    }

    @Test func `an account that another node knows keeps one session`() throws {
        let scene = try Scene()
        try scene.other.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try scene.signIn("u1", token: "b") > 1)
        try scene.expectSession("u1", token: "b", signIns: 2)
    }

    @Test(.disabled(if: TestCluster.isWanted, "on Citus a sign-in asks first"))
    func `where people come back, the node asks first`() throws {
        let scene = try Scene()
        func signIn(_ subject: String, tokens: [String]) throws -> [Int] {
            try tokens.map { try scene.signIn(subject, token: $0) }
        }
        // Refused once; from then on it is asked who that is.
        let returning = try signIn("first0", tokens: ["a", "b", "c", "d"])
        #expect(returning[3] < returning[0])
        try scene.expectSession("first0", token: "d", signIns: 5)
        // New ones are asked about as well, until several came.
        let new = try (1...6).map { try scene.signIn("u\($0)", token: "a") }
        #expect(new[0] > 1)
        #expect(new[5] == 1)
    }

    @Test func `a sign-out of an account that was not there is taken back`() throws {
        let scene = try Scene()
        let gone = Account.ID(issuer: "login.windows.net", homeAccountID: "u1.t1")
        try scene.other.removeAccount(gone, client: "cid")
        try scene.other.removeAccount(gone, client: "cid2")
        #expect(try scene.scene.count("SELECT count(*) FROM sign_out") == 2)
        try scene.signIn("u1", token: "a")
        try scene.expectSession("u1", token: "a")
        #expect(try scene.scene.count("SELECT count(*) FROM sign_out") == 0)
        let states = "SELECT count(*) FROM account_state WHERE client_fold = 'cid2' AND state = 'signed_out'"
        #expect(try scene.scene.count(states) == 1)
    }

    @Test func `after a rekey a sign-in is sealed under the new key`() throws {
        let scene = try Scene()
        _ = try scene.other.rekey()
        try scene.signIn("u1", token: "a")
        try scene.expectSession("u1", token: "a")
        let waits = try scene.signIn("u2", token: "b")
        #expect(waits == 1 || TestCluster.isWanted)
        try scene.expectSession("u2", token: "b")
    }

    @Test func `a store that was moved, or that a newer version has changed, takes no sign-in`() throws {
        let scene = try Scene()
        let (response, request) = (try ServerScene.response("u1", token: "a"), try ServerScene.request())
        let floor = try scene.scene.count("SELECT writer_floor FROM store")
        for change in ["moved_to = 'elsewhere'", "moved_to = NULL, writer_floor = 1000"] {
            try scene.scene.sql("UPDATE store SET \(change)")
            expectCode(.notStored) { try scene.node.save(response, for: request) }
        }
        try scene.scene.sql("UPDATE store SET writer_floor = \(floor)")
        #expect(try scene.other.accountCount(matching: .all) == 3)
        #expect(try scene.signIn("u1", token: "a") >= 1)
    }

    @Test func `a sign-in that meets a migration waits for it and holds nothing that it needs`() async throws {
        let scene = try Scene()
        let migration = try scene.scene.server.connect()
        try migration.execute("SET search_path = \(scene.scene.schema); BEGIN; LOCK TABLE store IN EXCLUSIVE MODE")
        async let signIn = scene.node.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try await eventually { try scene.isAnyoneWaiting() }
        try migration.execute("LOCK TABLE data_key, account IN ACCESS EXCLUSIVE MODE; COMMIT")
        #expect(try await signIn.outcome == .stored)
        try scene.expectSession("u1", token: "a")
    }

    @Test func `a sign-in that meets a purge of everything finds nothing from before it`() async throws {
        let scene = try Scene()
        let purge = try scene.scene.server.connect()
        try purge.execute("SET search_path = \(scene.scene.schema); BEGIN; LOCK TABLE account IN EXCLUSIVE MODE")
        let tables = [
            "claim_index", "access_token", "refresh_token", "id_token", "tenant_profile", "account_state",
            "authority_map", "app_metadata", "event", "account", "mark_key",
        ]
        try purge.execute(tables.map { "DELETE FROM \($0)" }.joined(separator: "; "))
        async let signIn = scene.node.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try await eventually { try scene.isAnyoneWaiting() }
        try purge.execute("COMMIT")
        #expect(try await signIn.outcome == .stored)
        try scene.expectSession("u1", token: "a")
        #expect(try await scene.other.accountCount(matching: .all) == 1)
    }

    @Test func `what another node wrote of the client meanwhile is kept`() throws {
        let scene = try Scene()
        let usual = try ServerScene.request()
        let request = TokenRequest(
            clientID: "CID",
            authority: usual.authority,
            scope: usual.scope,
            grant: usual.grant
        )
        var response = try ServerScene.response("u1", token: "a")
        response.familyID = "1"
        try scene.other.save(response, for: request)
        try scene.signIn("u2", token: "b")
        #expect(try scene.scene.count("SELECT count(*) FROM app_metadata WHERE family_id IS NULL") == 1)
        #expect(try scene.scene.count("SELECT count(*) FROM app_metadata") == 1)
        #expect(try scene.other.check() == [])
    }

    @Test func `accounts whose rows would have one number have a row each`() throws {
        var scene = try ServerScene()
        scene.options.accountRowMask = 1
        let store = try scene.createdStore()
        for number in 0..<4 {
            try store.save(ServerScene.response("u\(number)", token: "t\(number)"), for: ServerScene.request())
        }
        #expect(try store.accountCount(matching: .all) == 4)
        #expect(try store.check() == [])
    }

    @Test(arguments: [DelayingProxy.Cut.before, .after], 0..<3)
    func `a sign-in whose connection is cut happens once`(cut: DelayingProxy.Cut, number: Int) throws {
        let scene = try Scene()
        scene.proxy.cut(afterRoundTrips: 0, cut)
        try scene.signIn("u\(number)", token: "a")
        #expect(!scene.proxy.isArmed)
        try scene.expectSession("u\(number)", token: "a")
    }

    @Test func `a session that may still be at a sign-in is waited for, and no other`() async throws {
        let scene = try Scene()
        let old = try scene.scene.server.connect()
        let question =
            "SELECT pg_backend_pid(), (extract(epoch FROM backend_start) * 1000000)::bigint"
            + " FROM pg_stat_get_activity(pg_backend_pid())"
        let (process, start) = try #require(try old.prepare(question).first([]) { ($0.integer(0), $0.integer(1)) })
        func isOver(_ process: Int64, _ start: Int64) throws -> Bool {
            var witness = CommitWitness()
            witness.session = .init(process: process, start: start)
            return try scene.other.withWriter { session in
                do {
                    try session.connection.write { try session.requireEnd(of: witness) }
                    return true
                } catch let error as PostgreSQLError where error.code == .lockNotAvailable {
                    return false
                }
            }
        }
        #expect(try !isOver(process, start))
        #expect(try isOver(process, start + 1))
        old.close()
        try await eventually { try isOver(process, start) }
    }
}
