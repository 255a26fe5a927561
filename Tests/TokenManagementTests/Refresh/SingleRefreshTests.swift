import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import Metrics
import MetricsTestKit
import OAuth
import OpenIDConnect
import Synchronization
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// One refresh, however many ask.
@Suite(.onBothEngines)
struct SingleRefreshTests {
    @Test(.aboutFiles("the locks of a file are counted"))
    func `C87: eight managers that need one token send one request`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let transport = Self.transport(scene, awaiting: 8)
            let managers = try (0..<8).map { _ in try scene.manager(transport: transport) }
            let tokens = try await withThrowingTaskGroup(of: Secret.self) { group in
                for manager in managers {
                    group.addTask {
                        try await manager.acquireTokenSilently(scene.request()).accessToken.secret
                    }
                }
                return try await group.reduce(into: [Secret]()) { $0.append($1) }
            }
            #expect(scene.tokenRequestCount == 1)
            #expect(tokens.count == 8)
            #expect(tokens.allSatisfy { $0 == tokens[0] })
            // A manager that finds the token when its turn comes sends the issuer no request at all.
            #expect(scene.provider.audit.count(of: "metadata") == 1)
            scene.expire()
            #expect(try await scene.manager().acquireTokenSilently(scene.request()).source == .refresh)
        }
    }

    @Test func `callers in one process share a refresh, and other scopes have their own`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let manager = try scene.manager()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<64 {
                    let scope = index.isMultiple(of: 2) ? Scene.toDo : Scene.demo
                    group.addTask { _ = try await manager.acquireTokenSilently(scene.request(scope)) }
                }
                try await group.waitForAll()
            }
            #expect(scene.tokenRequestCount == 2)
            await #expect(try scene.store.status().accessTokens == 2)
        }
    }

    @Test func `every caller of a failing refresh gets the failure of one request`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.refuse("invalid_grant", times: nil)
            let managers = try (0..<4).map { _ in try scene.manager() }
            let failures = await withTaskGroup(of: Bool.self) { group in
                for manager in managers {
                    group.addTask {
                        let error = try? await acquisitionError {
                            try await manager.acquireTokenSilently(scene.request())
                        }
                        return error?.needsInteraction == true
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(failures == 4)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `callers that share a refresh each apply their own requiresAllScopes`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let both: Scope = "api://todolist/ToDoList.Read api://todolist/ToDoList.ReadWrite"
            scene.answer(#"{"access_token":"new","expires_in":3600,"scope":"api://todolist/ToDoList.Read"}"#)
            let joined = JoinedCallers()
            let manager = try joined.manager(scene) { try await joined.wait(for: 1) }
            func acquire(all: Bool) async throws -> AcquisitionError? {
                try await acquisitionError {
                    try await manager.acquireTokenSilently(scene.request(both) { $0.requiresAllScopes = all })
                }
            }
            async let strict = acquire(all: true)
            async let content = acquire(all: false)
            guard try await strict?.code == .declinedScopes, try await content == nil else {
                throw ExpectationFailure("a difference")
            }
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `a refresh after its deadline sends nothing`() async throws {
        let sent = Counter()
        let transport = InterceptingTransport(Scene.transport) { _ in _ = sent.next() }
        let bounded = BoundedTransport(transport, end: .now)
        let error = await #expect(throws: HTTPTransportError.self) {
            try await bounded.send(HTTPRequest("POST", "http://127.0.0.1:1/token"), limits: .issuer)
        }
        #expect(error?.mayHaveTakenEffect == false)
        #expect(error?.isTransient == true)
        // It is not the network's doing.
        #expect(error?.problem.hasPrefix("no time was left to send anything to 127.0.0.1:1, as when ") == true)
        #expect(error?.remedy == .retry)
        #expect(sent.value == 0)
    }

    @Test func `a cancelled caller does not cancel the refresh of the others`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let (joined, cancelled) = (JoinedCallers(), Counter())
            let manager = try joined.manager(scene) {
                try await eventually("a cancelled caller") { cancelled.value == 1 }
            }
            let leaver = Task { try await manager.acquireTokenSilently(scene.request()) }
            let stayer = Task { try await manager.acquireTokenSilently(scene.request()) }
            try await joined.wait(for: 1)
            leaver.cancel()
            await #expect(throws: CancellationError.self) { try await leaver.value }
            _ = cancelled.next()
            #expect(try await stayer.value.source == .refresh)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `a caller that times out does not end the refresh`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            // The issuer answers once the second caller has joined, which is after the first one left.
            let joined = JoinedCallers()
            let manager = try joined.manager(scene) { try await joined.wait(for: 1) }
            let error = try await acquisitionError {
                try await manager.acquireTokenSilently(scene.request { $0.timeout = .milliseconds(20) })
            }
            guard error?.code == .timedOut else { throw ExpectationFailure("timedOut") }
            #expect(try await manager.acquireTokenSilently(scene.request()).accessToken.scope.covers(Scene.toDo))
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test(.aboutFiles("the locks of a file are counted"))
    func `a forced refresh is not repeated when another manager has just refreshed`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let transport = Self.transport(scene, awaiting: 4)
            let managers = try (0..<4).map { _ in try scene.manager(transport: transport) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for manager in managers {
                    group.addTask {
                        _ = try await manager.acquireTokenSilently(scene.request { $0.forcesRefresh = true })
                    }
                }
                try await group.waitForAll()
            }
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test(.aboutFiles("the locks of a file are counted"))
    func `forced refreshes that wait share one answer of an issuer without rotation`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        let path = scene.store.path
        let lock = LockedValue<RefreshLock?>(
            try await scene.store.refreshLock(of: scene.account, for: .client(OpenScene.client), patience: .seconds(60))
        )
        try await withThrowingTaskGroup(of: Secret.self) { group in
            for _ in 0..<8 {
                // Each waits for the lock by itself, as another process would.
                group.addTask {
                    var request = SilentRequest(account: scene.account, scope: "read")
                    request.forcesRefresh = true
                    request.timeout = .seconds(600)
                    let manager = scene.manager { $0.patience = .seconds(600) }
                    return try await manager.acquireTokenSilently(request).accessToken.secret
                }
            }
            try await eventually("eight who wait") { try path.openLocks == 9 }
            lock.withLock { $0 = nil }
            for try await token in group { #expect(token == Secret("at-1")) }
        }
        #expect(scene.tokenRequestCount == 1)
        scene.issuer.answer(.init(#"{"access_token":"at-2","expires_in":3600}"#))
        #expect(try await scene.acquire { $0.forcesRefresh = true }.accessToken.secret == Secret("at-2"))
    }

    @Test(.aboutFiles("the locks of a file are counted"))
    func `two clients of a family do not use one refresh token at the same time`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.addFamilyToken("family-1")
            for number in [2, 3] {
                scene.answer(
                    #"{"access_token":"new","expires_in":3600,"refresh_token":"family-\#(number)","foci":"1"}"#
                )
            }
            let sent = SentForms()
            let path = scene.store.path
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                sent.keep(request)
                // The first waits until the other has begun as well, and waits for the family's lock, or sends.
                try await eventually("the other client") { try sent.count == 2 || path.openLocks == 4 }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in ["app-a", "app-b"] {
                    let manager = try scene.manager(
                        client: client,
                        { $0.usesFamilyTokens = true },
                        transport: transport
                    )
                    group.addTask { _ = try await manager.acquireTokenSilently(scene.request()) }
                }
                try await group.waitForAll()
            }
            #expect(sent.all("refresh_token") == ["family-1", "family-2"])
        }
    }

    /// A transport whose token request leaves once `count` managers hold the refresh lock or wait for it.
    private static func transport(_ scene: Scene, awaiting count: Int) -> InterceptingTransport {
        let path = scene.store.path
        return InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/token") else { return }
            try await eventually("\(count) managers") { try path.openLocks == count }
        }
    }

    /// Counts the callers who joined a refresh under way, by the metric of a manager.
    private struct JoinedCallers {
        private let metrics = TestMetrics()

        /// A manager whose token request leaves after `wait`.
        func manager(_ scene: Scene, _ wait: @escaping @Sendable () async throws -> Void) throws -> TokenManager {
            let transport = InterceptingTransport(Scene.transport) { request in
                if request.url.hasSuffix("/token") { try await wait() }
            }
            return try withMetricsFactory(metrics) { () throws in try scene.manager(transport: transport) }
        }

        func wait(for count: Int64) async throws {
            try await eventually("\(count) who joined") {
                metrics.counterTotal(label: "tokenstore.refresh.waited") == count
            }
        }
    }

    @Test func `a possibly consumed refresh token is tried once, and its refusal says so`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.provider.faults.add(.lostResponse(at: "token", times: 1))
            let manager = try scene.manager()
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.code == .possiblyConsumed)
            #expect(error?.refusal?.suberror == "bad_token")
            #expect(error?.program == "tests")
            #expect(error?.events.isEmpty == false)
            #expect(scene.tokenRequestCount == 2)
            #expect(try scene.refreshTokens.isEmpty)
        }
    }

    @Test func `after a crash a refusal names the program that began the refresh`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
            #expect(try scene.store.beginRefresh(with: token) == nil)
            scene.refuse("invalid_grant")
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            #expect(error?.code == .possiblyConsumed)
            #expect(error?.program == "tests")
            #expect(error?.sentAt?.unixSeconds == 1_790_003_601)
            #expect(scene.tokenRequestCount == 1)
            #expect(try scene.refreshTokens.count == 1)
        }
    }

    @Test func `after a crash before the request was sent the session continues`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
            _ = try scene.store.beginRefresh(with: token)
            #expect(try await scene.manager().acquireTokenSilently(scene.request()).source == .refresh)
            guard let successor = try scene.refreshTokens.first else { throw ExpectationFailure("its successor") }
            #expect(try scene.store.beginRefresh(with: successor) == nil)
        }
    }
}
