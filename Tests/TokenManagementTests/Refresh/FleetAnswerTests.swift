import Database
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// The answer to a refresh, where the server cannot take it.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct FleetAnswerTests {
    private func scene() throws -> OpenScene { try StoreEngine.$current.withValue(.server) { try OpenScene() } }

    /// What keeps a server from taking a refresh token.
    enum Trouble: CaseIterable {
        case locked, full, starting, outOfMemory, brokenDisk, refusing, tableless

        /// Rows that are spread over machines have no triggers.
        static let here = TestCluster.isWanted ? [Trouble.locked] : allCases

        /// What the server's error is called.
        private var condition: String {
            switch self {
            case .locked: "lock_not_available"
            case .full: "disk_full"
            case .starting: "cannot_connect_now"
            case .outOfMemory: "out_of_memory"
            case .brokenDisk: "io_error"
            case .refusing: "invalid_authorization_specification"
            case .tableless: "undefined_table"
            }
        }

        /// Makes the trouble, calls `body`, and ends it.
        func last(on connection: Connection, _ body: () -> Void) throws {
            guard self != .locked else {
                return try connection.write {
                    try connection.execute("LOCK TABLE refresh_token IN ACCESS EXCLUSIVE MODE")
                    _ = try connection.integer("SELECT count(*) FROM refresh_token")
                    body()
                }
            }
            try connection.write {
                try connection.execute(
                    """
                    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE EXCEPTION 'a test' USING ERRCODE = '\(condition)'; END $$;
                    CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON refresh_token EXECUTE FUNCTION fail()
                    """
                )
            }
            body()
            try connection.write {
                try connection.execute("DROP TRIGGER fail ON refresh_token; DROP FUNCTION fail()")
            }
        }
    }

    /// A refresh whose answer meets a server in trouble.
    private final class TroubledRefresh: Sendable {
        private static let busyTimeout = Duration.seconds(4)

        private let scene: OpenScene
        private let isOver = LockedValue(false)
        let store: TokenStore

        init(_ scene: OpenScene, waiting patience: Duration? = nil) async throws {
            self.scene = scene
            scene.issuer.answer(.init(#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#))
            scene.clock.seconds += 3_700
            var options = scene.store.options
            options.busyTimeout = Self.busyTimeout
            options.serverAnswerWait = patience ?? options.serverAnswerWait
            store = try await TokenStore.open(at: scene.store.location, options: options)
        }

        /// The trouble begins with the request, and lasts until it is ended.
        func run(in trouble: Trouble) async throws -> Secret {
            let transport = InterceptingTransport(Scene.transport) { [self] request in
                guard request.url.hasSuffix("/token") else { return }
                let hasBegun = LockedValue(false)
                Task {
                    try await scene.store.perform { store in
                        try store.withWriter { session in
                            try trouble.last(on: session.connection) {
                                hasBegun.withLock { $0 = true }
                                while !self.isOver.withLock(\.self) { Thread.sleep(forTimeInterval: 0.01) }
                            }
                        }
                    }
                }
                while !hasBegun.withLock(\.self) { try await Task.sleep(for: .milliseconds(5)) }
            }
            let manager = TokenManager(store: store, clientID: OpenScene.client, transport: transport)
            var request = SilentRequest(account: scene.account, scope: "read")
            request.timeout = .seconds(120)
            return try await manager.acquireTokenSilently(request).accessToken.secret
        }

        /// Ends the trouble, after `time` once the issuer has answered.
        func end(after time: Duration = .zero) async throws {
            while time > .zero, scene.tokenRequestCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: time)
            isOver.withLock { $0 = true }
        }
    }

    @Test(arguments: Trouble.here)
    func `the answer to a refresh waits for a server that cannot take it yet`(trouble: Trouble) async throws {
        let scene = try scene()
        let refresh = try await TroubledRefresh(scene)
        async let token = refresh.run(in: trouble)
        // Longer than anything else waits for the server.
        try await refresh.end(after: .seconds(6))
        #expect(try await token == Secret("at-1"))
        #expect(scene.tokenRequestCount == 1)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test(.disabled(if: TestCluster.isWanted, "a dump of a cluster has no rows of accounts"))
    func `no token is sent whose answer the database may lack letters for`() async throws {
        let scene = try scene()
        scene.expire()
        let address = try #require(scene.store.location.address)
        let restored = try TestServer.shared.get().restoreDump(of: address, encoding: "LATIN1")
        let store = TokenStore.deferred(at: StoreLocation(restored), options: scene.store.options)
        let manager = TokenManager(store: store, clientID: OpenScene.client, transport: Scene.transport)
        let error = await #expect(throws: TokenStoreError.self) {
            _ = try await manager.acquireTokenSilently(SilentRequest(account: scene.account, scope: "read"))
        }
        #expect(error?.code == .unsupported)
        #expect(scene.tokenRequestCount == 0)
    }

    @Test(arguments: Trouble.here)
    func `an answer that waits no longer is given back`(trouble: Trouble) async throws {
        let refresh = try await TroubledRefresh(scene(), waiting: .zero)
        let error = await #expect(throws: TokenStoreError.self) { _ = try await refresh.run(in: trouble) }
        try await refresh.end()
        #expect(error?.code == .notStored)
        #expect(error?.response?.refreshToken == Secret("rt-1"))
    }

    @Test(
        .enabled(if: !TestCluster.isWanted, "rows that are spread over machines have no triggers"),
        arguments: [(Trouble.starting, TokenStoreError.Code.unreachable), (.refusing, .access)]
    )
    func `while an answer waits, the store says what for`(
        trouble: Trouble,
        code: TokenStoreError.Code
    ) async throws {
        let refresh = try await TroubledRefresh(scene())
        try await refresh.store.requireNoHolder()
        async let token = refresh.run(in: trouble)
        var reason: TokenStoreError?
        while reason == nil {
            try await Task.sleep(for: .milliseconds(5))
            do { try await refresh.store.requireNoHolder() } catch let error as TokenStoreError { reason = error }
        }
        #expect(reason?.code == code)
        #expect(reason?.problem.contains("a test") == true)
        try await refresh.end()
        #expect(try await token == Secret("at-1"))
        try await refresh.store.requireNoHolder()
    }
}
