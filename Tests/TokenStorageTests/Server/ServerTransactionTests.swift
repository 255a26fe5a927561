import Foundation
import OAuth
import PostgreSQL
import SQL
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What many nodes do at once, and what becomes of a transaction whose end nobody saw.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerTransactionTests {
    @Test func `first sign-ins of one account from several nodes make one account`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let nodes = try (0..<4).map { _ in try scene.open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                let node = nodes[number % nodes.count]
                group.addTask {
                    let response = try ServerScene.response("u1", token: "t\(number)")
                    let saved = try await node.save(response, for: ServerScene.request())
                    #expect(saved.outcome == .stored)
                }
            }
            try await group.waitForAll()
        }
        let account = try #require(try await nodes[0].accounts().first)
        #expect(try await nodes[0].accountCount(matching: .all) == 1)
        #expect(try await nodes[1].refreshTokens(of: account.id, client: "cid").count == 1)
        #expect(try scene.count("SELECT count(*) FROM access_token") == 1)
        #expect(try scene.count("SELECT count(*) FROM event WHERE kind = 'sign_in'") == 16)
        #expect(try await nodes[2].check() == [])
    }

    @Test func `an account that another node makes while it is looked for is made once`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let (node, other) = (try scene.open(), try scene.open())
        let saved = try await other.save(ServerScene.response("u1", token: "t1"), for: ServerScene.request())
        let id = try #require(saved.account)
        _ = try await other.removeAccount(id)
        let row = try node.write { session in
            #expect(try session.accountRow(id) == nil)
            try other.save(ServerScene.response("u1", token: "t2"), for: ServerScene.request())
            // Not the next one, under which the account would be there twice.
            return try session.newAccountRow(id)
        }
        #expect(row == AccountRowID.first(id))
        #expect(try await node.accountCount(matching: .all) == 1)
    }

    @Test func `first sign-ins of many accounts from several nodes are all stored`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let nodes = try (0..<4).map { _ in try scene.open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                let node = nodes[number % nodes.count]
                group.addTask {
                    let response = try ServerScene.response("u\(number)", token: "t\(number)")
                    _ = try await node.save(response, for: ServerScene.request())
                }
            }
            try await group.waitForAll()
        }
        #expect(try await nodes[0].accountCount(matching: .all) == 32)
        #expect(try scene.count("SELECT count(*) FROM refresh_token") == 32)
        #expect(try scene.count("SELECT count(*) FROM app_metadata") == 1)
        #expect(try await nodes[3].check() == [])
    }

    @Test(arguments: [DelayingProxy.Cut.before, .after])
    func `a commit whose answer is lost happens once`(cut: DelayingProxy.Cut) throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let proxy = try DelayingProxy(to: scene.server.port)
        defer { proxy.stop() }
        let store = try TokenStore.open(at: scene.location(as: "trusted", port: proxy.port), options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let account = try #require(try store.accounts().first).id
        var runs = 0
        try store.write { session in
            runs += 1
            _ = try session.accountRow(account)
            try session.record(.refresh, outcome: "cut", account: account)
            if runs == 1 { proxy.cut(cut) }
        }
        #expect(runs == (cut == .before ? 2 : 1))
        #expect(try scene.count("SELECT count(*) FROM event WHERE outcome = 'cut'") == 1)
        #expect(try store.accounts().count == 1)
    }

    @Test(arguments: [false, true])
    func `of all that claim a document on several nodes one succeeds`(isOutdated: Bool) async throws {
        let scene = try ServerScene()
        let nodes = try [scene.createdStore()] + (0..<3).map { _ in try scene.open() }
        for round in 0..<20 {
            let url = "https://issuer.test/keys#\(round)"
            if isOutdated { try await nodes[0].perform { try $0.saveIssuerDocument(claim(0), url: url, lifetime: 0) } }
            let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...8 {
                    let node = nodes[number % nodes.count]
                    group.addTask {
                        try await node.perform { try $0.claimIssuerDocument(claim(number), url: url, lifetime: 60) }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
        }
    }

    @Test func `a claim whose answer is lost is still one's own`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let proxy = try DelayingProxy(to: scene.server.port)
        defer { proxy.stop() }
        let store = try TokenStore.open(at: scene.location(as: "trusted", port: proxy.port), options: scene.options)
        for messages in 0..<8 {
            let url = "https://issuer.test/keys#\(messages)"
            proxy.cut(after: messages, .after)
            #expect(try store.claimIssuerDocument(claim(messages), url: url, lifetime: 60))
            #expect(try !store.claimIssuerDocument(claim(-1), url: url, lifetime: 60))
        }
    }

    private func claim(_ number: Int) -> JSONValue.Object { JSONValue.Object([("claim", .string("\(number)"))]) }

    @Test func `a role with which references are not kept is refused`() throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        try server.connect().execute(
            "CREATE ROLE replicating LOGIN; ALTER ROLE replicating SET session_replication_role = replica"
        )
        try scene.create(granting: ServerRoles(application: "replicating"))
        let location = StoreLocation(try server.address(user: "replicating", schema: scene.schema))
        let error = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.open(at: location, options: scene.options)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("session_replication_role") == true, "\(error?.problem ?? "")")
    }

    @Test(.disabled(if: TestCluster.isWanted, "the tables of a cluster are not changed so"))
    func `a removal leaves no token where the triggers of references are off`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        let account = try #require(try store.save(.signIn(), for: ServerScene.request()).account)
        let tokens = "SELECT (SELECT count(*) FROM refresh_token) + (SELECT count(*) FROM id_token)"
        #expect(try scene.count(tokens) == 2)
        try scene.sql("ALTER TABLE account DISABLE TRIGGER ALL")
        try store.removeAccount(account)
        #expect(try scene.count(tokens) == 0)
    }

    @Test func `a server that restarts is waited for by readers and writers`() throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        try scene.create()
        let store = try scene.open()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try server.connect().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        #expect(try store.accounts().count == 1)
        try server.connect().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        try store.save(ServerScene.response("u2", token: "b"), for: ServerScene.request())
        #expect(try store.accounts().count == 2)
    }

    @Test func `a server that is gone is no signed-out account, and an answer is given back`() throws {
        let server = try TestServer()
        var scene = try ServerScene(on: server)
        scene.options.busyTimeout = .seconds(3)
        try scene.create()
        let store = try scene.open()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        server.stop()
        expectCode(.unreachable) { _ = try store.accounts() }
        let request = try ServerScene.request()
        let error = #expect(throws: TokenStoreError.self) {
            try store.save(ServerScene.response("u2", token: "b"), for: request)
        }
        #expect(error?.code == .notStored)
        #expect(error?.response?.refreshToken == Secret("r-b"))
        expectCode(.unreachable) { _ = try scene.open() }
    }

    @Test func `the answer to a refresh is tried again after all but what no time mends`() throws {
        let scene = try ServerScene()
        let location = try scene.location
        let store = TokenStore.deferred(at: location, options: scene.options)
        let used = StoredRefreshToken(
            secret: Secret("r"),
            clientID: "cid",
            familyID: nil,
            account: Fixture.account,
            modifiedAt: nil,
            scope: nil,
            rowID: 1,
            generation: 0
        )
        let answer = PendingAnswer(
            try ServerScene.response("u1", token: "a"),
            for: try ServerScene.request(),
            refreshing: used,
            at: 0
        )
        func isTriedAgain(_ cause: TokenStoreError) -> Bool {
            store.isTriedAgain(answer, after: UncommittedAnswer(cause: cause), since: .now)
        }
        let passing: [PostgreSQLError.Code] = [
            .undefinedTable, .undefinedColumn, .unknownDatabase, .permission, .diskFull, .lockNotAvailable,
            .init(rawValue: "42P10"),
        ]
        for code in passing {
            #expect(isTriedAgain(TokenStoreError(PostgreSQLError(code, "a test"), at: location)), "\(code)")
        }
        #expect(isTriedAgain(.noStore(at: location)))
        #expect(isTriedAgain(.foreignTables(in: scene.schema, at: location)))
        #expect(isTriedAgain(.lostKeys(at: location)))
        // It is there, perhaps without its standby.
        #expect(!isTriedAgain(TokenStoreError(PostgreSQLError(.notReplicated, "a test"), at: location)))
        #expect(!isTriedAgain(.unprovedMove(from: location)))
        #expect(!isTriedAgain(.newerStore(version: 99, writtenBy: "9.9", isReadable: true)))
        #expect(!isTriedAgain(.key(SealingError(.otherKey, "a test"))))
    }

    @Test func `entries of two accounts with one id are sealed anew, each for itself`() throws {
        let store = try ServerScene().createdStore()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try store.save(ServerScene.response("u2", token: "b"), for: ServerScene.request())
        let accounts = try store.accounts().map(\.id)
        try store.write { session in
            for account in accounts {
                let (row, mark) = (try #require(try session.accountRow(account)), try session.newMark(of: account))
                try session.write(
                    .event,
                    id: nil,
                    new: 900,
                    clear: [
                        .integer(Fixture.now), .text("x"), .integer(1), .text("refresh"),
                        .text(account.homeAccountID), .blob(mark), .null, .null,
                    ],
                    sealed: [Secret("")],
                    derived: [.integer(row)]
                )
            }
        }
        _ = try store.rekey()
        #expect(try store.events().count { $0.id == 900 } == 2)
        #expect(try store.check() == [])
    }
}
