import Database
import OAuth
import Sealing
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Answers that meet a store whose keys have changed while they were under way, in a way that their program cannot
/// follow.
@Suite(.onWaitingThreads, .aboutFiles("a server has no files beside it"))
struct RetiredKeyTests {
    private static let passphrase = "correct horse battery staple"

    /// A store with a session, whose waits are short.
    private func scene() throws -> TestStore {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .milliseconds(20)
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        return fixture
    }

    /// The store by a program that has a passphrase.
    private func mover(_ fixture: TestStore, waiting time: Duration = .seconds(30)) throws -> TokenStore {
        var options = fixture.options
        options.environment = ["TOKENSTORE_PASSPHRASE": Self.passphrase]
        options.busyTimeout = time
        return try TokenStore.open(at: fixture.location, options: options)
    }

    private func request(_ grant: Grant) throws -> TokenRequest {
        TokenRequest(clientID: Fixture.client, authority: try Fixture.authority(), scope: "s1", grant: grant)
    }

    /// Has the answer to a refresh come while `rekey` runs, which began later and has to wait for it.
    ///
    /// - Returns: what the rekey says.
    private func rekeying(
        _ fixture: TestStore,
        _ mover: TokenStore,
        rekey: @escaping @Sendable (TokenStore) async throws -> RekeyReport
    ) async throws -> RekeyReport {
        let token = try fixture.currentRefreshToken()
        let space = try fixture.store.reserveAnswerSpace()
        #expect(try await fixture.store.perform { try $0.beginRefresh(with: token) } == nil)
        async let rekeyed = rekey(mover)
        try await eventually { try fixture.store.withWriter { try $0.connection.dataKeyCount() } == 2 }
        let saved = try await fixture.store.save(
            .signIn(["refresh_token": "r2"]),
            for: request(.refreshToken),
            refreshing: token,
            in: space
        )
        if case .pending = saved.outcome {} else { Issue.record("\(saved.outcome)") }
        let report = try await rekeyed
        #expect(try fixture.path.pendingAnswers().isEmpty)
        let tokens = try await mover.performRead { try $0.refreshTokens(of: Fixture.account, client: Fixture.client) }
        #expect(tokens.map { $0.secret.reveal() } == ["r2"])
        return report
    }

    @Test func `a rekey after a leak waits for a refresh whose program cannot have the new key`() async throws {
        let fixture = try scene()
        let mover = try self.mover(fixture)
        let report = try await rekeying(fixture, mover) { try await $0.rekey(to: .passphrase, afterLeak: true) }
        #expect(report.note?.contains("has not ended") == false)
        #expect(try await mover.performRead { try $0.check() } == [])
    }

    @Test func `a rekey behind a move of the key waits for a refresh that began before`() async throws {
        let fixture = try scene()
        let mover = try self.mover(fixture)
        let report = try await rekeying(fixture, mover) { mover in
            _ = try await mover.rekey(to: .passphrase)
            return try await mover.rekey()
        }
        #expect(report.note == nil)
        // A minute later none can be under way that began before.
        fixture.clock.seconds += 61
        #expect(try await mover.rekey().note == nil)
    }

    @Test func `an answer that comes after its key is gone is not called kept`() throws {
        let fixture = try scene()
        let token = try fixture.currentRefreshToken()
        let space = try fixture.store.reserveAnswerSpace()
        #expect(try fixture.store.beginRefresh(with: token) == nil)
        let mover = try self.mover(fixture, waiting: .milliseconds(200))
        let report = try mover.rekey(to: .passphrase, afterLeak: true)
        #expect(report.note?.contains("has not ended") == true, "\(report.note ?? "")")
        let error = #expect(throws: TokenStoreError.self) {
            try fixture.store.save(
                .signIn(["refresh_token": "r2"]),
                for: request(.refreshToken),
                refreshing: token,
                in: space
            )
        }
        #expect(error?.code == .notStored)
        #expect(error?.cause == .key)
        #expect(error?.response?.refreshToken?.reveal() == "r2")
        #expect(try fixture.path.pendingAnswers().isEmpty)
    }

    @Test func `an answer to a store whose keys a purge took is not called kept`() throws {
        let fixture = try scene()
        let space = try fixture.store.reserveAnswerSpace()
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        let held = try Database.Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try held.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: TokenStoreError.self) {
            try fixture.store.save(.signIn(["refresh_token": "r2"]), for: request(.authorizationCode), in: space)
        }
        #expect(error?.code == .notStored)
        #expect(error?.response?.refreshToken?.reveal() == "r2")
        #expect(try fixture.path.pendingAnswers().isEmpty)
        try held.execute("ROLLBACK")
        #expect(try fixture.signIn(.signIn()).outcome == .stored)
        #expect(try fixture.another().check() == [])
    }

    @Test func `nobody waits for a store while a person is asked for its passphrase`() throws {
        let fixture = try scene()
        var options = fixture.options
        let path = fixture.path.database
        let asked = LockedValue(0)
        options.askPassphrase = { _ in
            asked.withLock { $0 += 1 }
            let other = try Database.Connection(path: path, mode: .readWrite, busyTimeout: .zero)
            try other.execute("BEGIN IMMEDIATE; ROLLBACK")
            return Secret(Self.passphrase)
        }
        let store = try TokenStore.open(at: fixture.location, options: options)
        _ = try mover(fixture).rekey(to: .passphrase, afterLeak: true)
        try store.setDefaultAccount(nil)
        #expect(asked.withLock(\.self) == 1)
        #expect(try store.check() == [])
    }
}
