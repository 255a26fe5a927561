import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

struct SessionTests {
    /// An app that Ana signs in to, with its session.
    private func whileSignedIn(
        _ body: (SignInScene, PublicClientApplication, UserSession) async throws -> Void
    ) async throws {
        try await SignInScene.open { scene in
            let ana = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
            let application = try scene.application(ana)
            try await body(scene, application, try await application.signIn(scope: SignInScene.toDo))
        }
    }

    @Test func `a session has the account, its claims and tokens, and is found again`() async throws {
        try await whileSignedIn { (scene, application, session) async throws in
            #expect(session.account.username == SignInScene.ana)
            #expect(try await session.claims()?.issuer == session.account.issuer)
            let first = try await session.accessToken(for: SignInScene.toDo)
            #expect(try await session.accessToken(for: SignInScene.toDo).secret == first.secret)
            scene.provider.clock.advance(by: 3_601)
            #expect(try await session.accessToken(for: SignInScene.toDo).secret != first.secret)
            #expect(try await application.sessions() == [session])
            #expect(application.session(for: session.account) == session)
        }
    }

    @Test func `a session is found by the id that an app has kept, until the account is gone`() async throws {
        try await whileSignedIn { (_, application, session) async throws in
            let kept = try JSONEncoder().encode(session.id)
            let id = try JSONDecoder().decode(Account.ID.self, from: kept)
            #expect(try await application.session(for: id) == session)
            #expect(try await application.session(for: id.named(id.homeAccountID + "x")) == nil)
            try await session.signOut()
            #expect(try await application.session(for: id) == nil)
        }
    }

    @Test func `a session hands out no token of another account`() async throws {
        try await whileSignedIn { (scene, application, session) async throws in
            let cleo = try ScriptedUser { try await $0.signIn(SignInScene.cleo, SignInScene.cleosPassword) }
            let other = try await scene.application(cleo).signIn(scope: SignInScene.toDo)
            let request = SilentRequest(account: other.id, scope: SignInScene.toDo)
            await #expect(throws: TokenStoreError.self) { try await session.acquireTokenSilently(request) }
            #expect(try await other.acquireTokenSilently(request).account == other.id)
        }
    }

    @Test(arguments: [true, false])
    func `tokens that come for a sign-in that was cancelled meanwhile are revoked`(come: Bool) async throws {
        try await SignInScene.open { scene in
            if !come { scene.provider.faults.add(.status(503, at: "token")) }
            try await cancelSignIn(scene)
            #expect(scene.tokenRequestCount == 1)
            #expect(scene.provider.audit.count(of: "revoke") == (come ? 1 : 0))
            #expect(try scene.isUntouched)
        }
    }

    @Test func `a cancelled sign-in of a person who has a session already revokes nothing`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let before = try scene.store.exported()
            try await cancelSignIn(scene)
            #expect(scene.tokenRequestCount == 2)
            #expect(scene.provider.audit.count(of: "revoke") == 0)
            #expect(try scene.store.exported() == before)
            #expect(try await scene.store.refreshTokens(of: account.id, client: "b2c-app").count == 1)
        }
    }

    @Test func `a cancelled sign-in of a person whose session the issuer has ended revokes its token`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let tokens = try await scene.store.refreshTokens(of: account.id, client: "b2c-app")
            let query = TokenQuery(account: account.id, clientID: "b2c-app", scope: SignInScene.toDo)
            let authority = try scene.authority().url
            try await scene.store.perform { store in
                let end = RefreshConsequence(token: .ended)
                for token in tokens { try store.endRefresh(with: token, of: query, authority: authority, end) }
            }
            let before = try scene.store.exported()
            try await cancelSignIn(scene)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try scene.store.exported() == before)
        }
    }

    /// Calls Ana's sign-in off while its code is redeemed.
    private func cancelSignIn(_ scene: SignInScene) async throws {
        let ana = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
        let (redeeming, cancelled) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let transport = WatchedTransport(SignInScene.transport) { request in
            guard request.url.hasSuffix("/token") else { return }
            redeeming.continuation.yield()
            for await _ in cancelled.stream { break }
        }
        let application = try scene.application(ana, transport: transport)
        let signIn = Task { _ = try await application.signIn(scope: SignInScene.toDo) }
        for await _ in redeeming.stream { break }
        signIn.cancel()
        cancelled.continuation.yield()
        await #expect(throws: SignInError.cancelled) { try await signIn.value }
    }

    @Test func `a session calls an API at its own address`() async throws {
        try await whileSignedIn { (scene, _, session) async throws in
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            #expect(try await session.api(api).json().object?["api"]?.text == "api1")
        }
    }

    @Test func `signing out ends the session everywhere, once and for all`() async throws {
        try await whileSignedIn { (scene, application, session) async throws in
            #expect(try await session.signOut() == .revoked)
            #expect(try await session.signOut() == .nothingToRevoke)
            #expect(try await application.sessions().isEmpty)
            #expect(try await session.claims() == nil)
            let error = try await acquisitionError { _ = try await session.accessToken(for: SignInScene.toDo) }
            #expect(error?.needsInteraction == true)
        }
    }

    @Test func `signing out of this device does not contact the issuer`() async throws {
        try await whileSignedIn { (scene, application, session) async throws in
            scene.provider.audit.reset()
            #expect(try await session.signOut(.thisDevice) == .localOnly)
            #expect(scene.provider.audit.counts.isEmpty)
            #expect(try await application.sessions().isEmpty)
        }
    }

    @Test func `a session reports changes of its own account alone`() async throws {
        try await whileSignedIn { (scene, application, session) async throws in
            let changes: AsyncStream<StoreChange> = try await session.changes()
            let cleo = try ScriptedUser { try await $0.signIn(SignInScene.cleo, SignInScene.cleosPassword) }
            _ = try await scene.application(cleo).signIn(scope: SignInScene.toDo)
            try await session.signOut(.thisDevice)
            #expect(await changes.first { _ in true } == .signedOut(session.id))
        }
    }

    @Test func `what an app asks of its store is not read on the thread of its task`() async throws {
        try await whileSignedIn { (scene, application, session) async throws in
            let questions: [@Sendable () async throws -> Void] = [
                { () async throws in #expect(try await application.accounts() == [session.account]) },
                { () async throws in #expect(try await application.account(for: .all) == session.account) },
                { () async throws in #expect(try await application.sessions() == [session]) },
                { () async throws in #expect(try await session.claims() != nil) },
                { _ = try await session.changes() },
            ]
            #expect(try await OccupiedQueue.keepsWaiting(readersOf: scene.store, questions))
        }
    }

    @Test func `a person who signs in again has to be the same one`() async throws {
        try await SignInScene.open { scene in
            let cleo = try ScriptedUser { try await $0.signIn(SignInScene.cleo, SignInScene.cleosPassword) }
            let session = try scene.application(cleo).session(for: try await scene.signIn().account)
            await #expect(throws: SignInError.accountMismatch) {
                try await session.acquireToken(for: SignInScene.toDo, prompt: .login)
            }
            await #expect(try scene.store.accounts().map(\.username) == [SignInScene.ana])
        }
    }

    @Test func `after a refusal the page is asked for the claims that the issuer wants`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let pages = AsyncStream<String>.makeStream()
            let person = ReactingUser { page in
                pages.continuation.yield(page)
                throw CancellationError()
            }
            let session = try scene.application(person).session(for: account)
            var refusal = OAuthError(code: .interactionRequired)
            refusal.claims = #"{"access_token":{"acrs":{"value":"c1"}}}"#
            let error = AcquisitionError.refused(refusal)
            await #expect(throws: SignInError.cancelled) {
                try await session.acquireToken(for: SignInScene.toDo, after: error)
            }
            for await page in pages.stream {
                #expect(parameters(of: page)["claims"] == refusal.claims)
                break
            }
            var request = SilentRequest(account: account.id, scope: SignInScene.toDo)
            request.claims = ["access_token": ["nbf": nil]]
            let next = InteractiveRequest(after: request, error: error, account: account)
            #expect(next.claims?.serialized == refusal.claims)
            refusal.claims = "no JSON"
            for error in [nil, AcquisitionError.refused(refusal)] {
                #expect(InteractiveRequest(after: request, error: error, account: account).claims == request.claims)
            }
        }
    }

    @Test func `an app is made of a client id and an issuer`() async throws {
        try await LocalIdentityProvider.running(.forTests) { provider in
            let directory = try TemporaryDirectory()
            let dara = try ScriptedUser { try await $0.signIn("dara@example.org", "Basalto-9-Sol") }
            let application = try PublicClientApplication(
                clientID: "oidc-app",
                issuer: provider.baseURL + "/9d3a41c2-7b5e-4a5c-8a8f-5c6e0d1b2e20/v2.0",
                storeAt: StorePath(directory.file("tokenstore.db")),
                userAgent: dara
            )
            let session = try await application.signIn()
            #expect(try await application.sessions().map(\.id) == [session.id])
            #expect(try await session.claims()?.issuer == session.account.issuer)
        }
    }
}
