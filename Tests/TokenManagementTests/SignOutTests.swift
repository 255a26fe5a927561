import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import Synchronization
import TestTraits
import Testing
import TokenManagement
import TokenStorage

@Suite(.onBothEngines)
struct SignOutTests {
    @Test func `N46: a sign-out revokes and removes, and a second one is harmless`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let secret = try scene.refreshTokens[0].secret
            let manager = try scene.manager()
            #expect(try await manager.signOut(scene.account) == .revoked)
            #expect(try await manager.signOut(scene.account) == .nothingToRevoke)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            await #expect(try scene.store.accounts().isEmpty)
            #expect(try !scene.files(contain: secret))
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            guard error?.interaction == .signedOut else { throw ExpectationFailure("signedOut") }
        }
    }

    @Test(.aboutFiles("the locks of a file are counted"))
    func `a sign-out waits for a refresh and revokes its new token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let spent = try scene.refreshTokens[0].secret
            let signOut = LockedValue<Task<SignOutReport, any Error>?>(nil)
            let revoked = LockedValue<Secret?>(nil)
            let watched = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/revoke") else { return }
                let stored = try scene.refreshTokens.first?.secret
                revoked.withLock { $0 = stored }
            }
            let leaving = try scene.manager(transport: watched)
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                signOut.withLock { $0 = $0 ?? Task { try await leaving.signOut(scene.account) } }
                try await eventually("a sign-out that waits") { try scene.store.path.openLocks == 2 }
                #expect(scene.provider.audit.count(of: "revoke") == 0)
            }
            let manager = try scene.manager(transport: transport)
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .refresh)
            #expect(try await signOut.withLock(\.self)?.value == .revoked)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            await #expect(try scene.store.accounts().isEmpty)
            let last = revoked.withLock(\.self)
            #expect(last != nil)
            #expect(last != spent)
        }
    }

    @Test func `a sign-out that is cancelled while it revokes goes on to its end`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let signOut = try await cancelledSignOut(scene, atRequestTo: "/revoke")
            #expect(try await signOut.value == .revoked)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `a sign-out that is cancelled before it revokes does nothing`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let signOut = try await cancelledSignOut(scene, atRequestTo: "/openid-configuration")
            await #expect(throws: CancellationError.self) { try await signOut.value }
            #expect(scene.provider.audit.count(of: "revoke") == 0)
            await #expect(try scene.store.accounts().count == 1)
        }
    }

    /// A sign-out that is cancelled just before it sends a request to this place.
    private func cancelledSignOut(
        _ scene: Scene,
        atRequestTo place: String
    ) async throws -> Task<SignOutReport, any Error> {
        let begun = LockedValue<Task<SignOutReport, any Error>?>(nil)
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix(place) else { return }
            try await eventually("the sign-out") { begun.withLock { $0 != nil } }
            begun.withLock(\.self)?.cancel()
        }
        let manager = try scene.manager(transport: transport)
        let signOut = Task { try await manager.signOut(scene.account) }
        begun.withLock { $0 = signOut }
        return signOut
    }

    @Test func `a sign-in during a sign-out goes with the rest, and ends at the issuer`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let other = try scene.openAgain()
            let isFirst = LockedValue(true)
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/revoke"),
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return }
                try await Login(provider: scene.provider, transport: Scene.transport)
                    .signIn(to: other, client: Scene.client, scope: Scene.toDo)
            }
            #expect(try await scene.manager(transport: transport).signOut(scene.account) == .revoked)
            #expect(scene.provider.audit.count(of: "revoke") == 2)
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `all clients of an account are signed out in one commit`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try await scene.signIn(client: "otp-app")
            let before = try await scene.store.events().count
            let outcome = try await scene.manager().signOut(scene.account, ofClients: nil)
            #expect(outcome.reports.map(\.client) == ["otp-app", Scene.client])
            #expect(outcome.reports.allSatisfy { $0.report == .revoked })
            #expect(outcome.erasure == .complete)
            await #expect(try scene.store.accounts().isEmpty)
            await #expect(try scene.store.events().count == before + 1)
        }
    }

    @Test func `a local sign-out sends the issuer nothing`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            #expect(try await scene.manager().signOut(scene.account, .thisDevice) == .localOnly)
            #expect(scene.provider.audit.counts.isEmpty)
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `the account is removed when the issuer refuses to revoke`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let body = #"{"error":"invalid_client"}"#
            scene.provider.faults.add(.answer(status: 401, body: body, at: "revoke"))
            guard case .failed(let reason) = try await scene.manager().signOut(scene.account) else {
                throw ExpectationFailure("a reason")
            }
            #expect(reason.contains("invalid_client"))
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `only a session that the issuer was to end and did not may last`() {
        let reports: [SignOutReport] = [.revoked, .nothingToRevoke, .notOffered, .localOnly, .failed("it is away")]
        #expect(reports.filter(\.mayLast) == [.notOffered, .failed("it is away")])
    }

    @Test func `a damaged refresh token does not keep the account`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.store.sql("UPDATE refresh_token SET family_id = '9'")
            #expect(throws: TokenStoreError.self) { try scene.refreshTokens }
            let report = try await scene.manager().signOut(scene.account)
            #expect(report == .failed("what the store has of it is damaged"))
            #expect(report.mayLast)
            #expect(scene.provider.audit.count(of: "revoke") == 0)
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `a token of an account whose row was altered is sent nowhere, and the account goes`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.store.sql("UPDATE account SET environment = 'login.example'")
            guard case .failed = try await scene.manager().signOut(scene.account) else {
                throw ExpectationFailure("a reason")
            }
            #expect(scene.provider.audit.count(of: "revoke") == 0)
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `an issuer without a revocation endpoint is not an error`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let account = try await scene.store.performRead { try $0.account(scene.account) }
            let tenant = try #require(account?.utid)
            let issuer = "\(scene.provider.baseURL)/\(tenant)"
            let body = #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#
            scene.provider.faults.add(.answer(body: body, at: "metadata", times: nil))
            #expect(try await scene.manager().signOut(scene.account) == .notOffered)
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test(arguments: [
        (404, "answered 404"), (503, "answered 503"), (400, "refused: the issuer answered invalid_client"),
    ])
    func `a revocation that fails names its endpoint`(status: Int, words: String) async throws {
        let scene = try OpenScene()
        let url = scene.issuer.issuer + "/revoke"
        scene.issuer.publish(JSONValue.Object([("revocation_endpoint", .string(url))]))
        scene.issuer.answer(
            .init(status: status, status == 400 ? #"{"error":"invalid_client"}"# : ""),
            at: "/op/revoke"
        )
        let report = try await scene.manager().signOut(scene.account)
        #expect(report == .failed("the revocation endpoint \(url) \(words)"))
    }

    @Test func `a sign-out during a refresh wins, and the new token is revoked`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let other = try scene.openAgain()
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                try other.removeAccount(scene.account, client: Scene.client)
            }
            let manager = try scene.manager(transport: transport)
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            guard error?.interaction == .signedOut else { throw ExpectationFailure("signedOut") }
            #expect(try await scene.store.accountCount(matching: .all) == 0)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a token that is due for a refresh is not handed out after a sign-out`(isAnswered: Bool) async throws {
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { (scene: Scene) async throws in
            scene.clock.advance(by: 1_801)
            let other = try scene.openAgain()
            // The person signs out of this device while the refresh is on its way, which then succeeds or fails.
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                try other.removeAccount(scene.account, client: Scene.client)
                if !isAnswered { throw HTTPTransportError.timedOut(host: "h") }
            }
            let manager = try scene.manager(transport: transport)
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.interaction == .signedOut)
            #expect(try await scene.store.accountCount(matching: .all) == 0)
        }
    }

    @Test func `a token that is due for a refresh is not handed out when the account is gone at the issuer`()
        async throws
    {
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { (scene: Scene) async throws in
            scene.clock.advance(by: 1_801)
            scene.refuse("invalid_grant", suberror: "user_account_deleted")
            let manager = try scene.manager()
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.interaction == .accountDeleted)
        }
    }

    @Test(arguments: [false, true])
    func `an account that another process purges before it is asked for is not there`(isForced: Bool) async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            let other = try scene.openAgain()
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .cache)
            let count = scene.tokenRequestCount
            _ = try await other.purge(.all)
            let error = try await acquisitionError {
                try await manager.acquireTokenSilently(scene.request { $0.forcesRefresh = isForced })
            }
            #expect(error?.interaction == .noAccount)
            #expect(error?.needsInteraction == true)
            #expect(scene.tokenRequestCount == count)
        }
    }

    @Test func `an account that a copy may not have brought yet is no reason to sign in again`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            _ = try await scene.store.purge(.all)
            let source = String(repeating: "a", count: 32)
            try scene.store.write { try $0.record(.move, outcome: "from \(source) through 9") }
            let error = await #expect(throws: TokenStoreError.self) {
                try await manager.acquireTokenSilently(scene.request())
            }
            #expect(error?.code == .busy)
            #expect(error?.remedy?.code == .finishCopy)
        }
    }
}
