import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What is left of a session that the issuer has ended, and what does not end one.
@Suite(.onBothEngines)
struct EndedSessionTests {
    private static func summary(_ scene: OpenScene) throws -> AccountSummary {
        var found: AccountSummary?
        try scene.store.forEachAccount { found = $0 }
        guard let found else { throw ExpectationFailure("the account") }
        return found
    }

    @Test func `invalid_grant removes the refresh token and signs the account out`() async throws {
        let scene = try OpenScene()
        #expect(try Self.summary(scene).hasRefreshToken)
        scene.expire()
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        guard try await scene.failure()?.interaction == .refused else {
            throw ExpectationFailure("a refusal")
        }
        let summary = try Self.summary(scene)
        #expect(!summary.hasRefreshToken)
        #expect(summary.signInState == .signedOut)
        await #expect(try scene.store.signedInAccounts(client: OpenScene.client).isEmpty)
    }

    @Test(arguments: [false, true])
    func `an ended refresh token is not sent again, and its event is kept a minute`(isDoubtful: Bool) async throws {
        let scene = try OpenScene()
        scene.expire()
        if isDoubtful {
            guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
            _ = try scene.store.beginRefresh(with: token)
        }
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant","error_description":"Gone."}"#))
        for _ in 1...2 {
            guard let failure = try await scene.failure(), failure.needsInteraction else {
                throw ExpectationFailure("the end")
            }
            guard failure.code == .possiblyConsumed else {
                #expect(!isDoubtful)
                continue
            }
            #expect(isDoubtful)
        }
        scene.clock.seconds += 61
        guard try await scene.failure()?.interaction == .ended else { throw ExpectationFailure("the end") }
        #expect(scene.tokenRequestCount == 1)
    }

    @Test(
        arguments: [
            (#"{"error":"invalid_client"}"#, AcquisitionError.Code.clientMisconfigured),
            (#"{"error":"unauthorized_client"}"#, .clientMisconfigured),
            (#"{"error":"invalid_scope"}"#, .invalidScope), ("<html>", .unusableAnswer),
        ]
    )
    func `an answer that is not about the token leaves a doubt about it`(
        body: String,
        code: AcquisitionError.Code
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        // By a program that was killed before it had the answer.
        _ = try scene.store.beginRefresh(with: token)
        scene.issuer.answer(.init(status: 400, body))
        let first = try await scene.failure()
        #expect(first?.code == code)
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        let second = try await scene.failure()
        #expect(second?.code == .possiblyConsumed)
    }

    @Test func `a token in doubt that is refused as an invalid request may have been spent`() async throws {
        let scene = try OpenScene()
        scene.expire()
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        _ = try scene.store.beginRefresh(with: token)
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_request"}"#))
        let failure = try await scene.failure()
        #expect(failure?.code == .possiblyConsumed)
    }

    @Test(
        arguments: [
            (#"{"error":"invalid_grant","error_description":"revoked by admin."}"#, "invalid_grant: revoked by admin"),
            (
                #"{"error":"invalid_grant","suberror":"bad_token","error_description":"rt-0 is old"}"#,
                "invalid_grant/bad_token: \(Secret("")) is old"
            ),
            (#"{"error":"invalid_grant"}"#, "invalid_grant"),
        ]
    )
    func `a refusal after a connection that was cut has the issuer's own reason`(
        body: String,
        reason: String
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.closing)
        #expect(try await scene.failure() != nil)
        scene.issuer.answer(.init(status: 400, body))
        let failure = try await scene.failure()
        #expect(failure?.code == .possiblyConsumed)
        #expect(
            failure?.problem == "the issuer refuses the refresh token (\(reason)), which tests may have spent before, "
                + "when it got no answer that it could use"
        )
    }

    @Test func `an outage told with status 200 ends no session, and the token may be spent`() async throws {
        let scene = try OpenScene()
        scene.expire()
        // Slack's word, which says that the request may have had its effect.
        scene.issuer.answer(
            .init(#"{"ok":false,"error":"internal_error"}"#),
            .init(status: 400, #"{"error":"invalid_grant"}"#)
        )
        guard let outage = try await scene.failure() else { throw ExpectationFailure("an outage") }
        #expect(outage.code == .unavailable)
        #expect(outage.isOutage)
        scene.clock.seconds += 61
        guard try await scene.failure()?.code == .possiblyConsumed else { throw ExpectationFailure("a doubt") }
    }

    @Test func `who was held up and sent nothing leaves what another has noted of the token since`() async throws {
        let scene = try OpenScene()
        scene.expire()
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/token") else { return }
            // Another program does not wait any longer, sends the token, and is killed before it has the answer.
            scene.clock.seconds += 30
            _ = try await scene.store.perform { try $0.beginRefresh(with: token) }
            throw HTTPTransportError.tooLate(host: "h")
        }
        let manager = scene.manager(transport: transport)
        let error = try await acquisitionError {
            var request = SilentRequest(account: scene.account, scope: "read")
            request.timeout = .seconds(300)
            return try await manager.acquireTokenSilently(request)
        }
        #expect(error?.networkError?.code == .notConnected)
        #expect(try scene.store.beginRefresh(with: token) != nil)
    }

    @Test func `a program that sent nothing is not said to have spent the token`() async throws {
        let scene = try OpenScene()
        scene.expire()
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        // By a program that was killed before it had the answer.
        _ = try scene.store.beginRefresh(with: token)
        let sentAt = scene.clock.seconds
        scene.clock.seconds += 30
        let transport = InterceptingTransport(Scene.transport) { request in
            if request.url.hasSuffix("/token") { throw HTTPTransportError.tooLate(host: "h") }
        }
        let manager = scene.manager(transport: transport)
        let unsent = try await acquisitionError {
            var request = SilentRequest(account: scene.account, scope: "read")
            request.timeout = .seconds(300)
            return try await manager.acquireTokenSilently(request)
        }
        #expect(unsent?.networkError?.code == .notConnected)
        scene.clock.seconds += 30
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        let failure = try await scene.failure()
        #expect(failure?.code == .possiblyConsumed)
        #expect(failure?.sentAt?.unixSeconds == sentAt)
    }

    @Test func `an answer that comes after another was refused its token is stored`() async throws {
        let scene = try OpenScene()
        scene.expire()
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        // By a program that was held up when the answer had come.
        _ = try scene.store.beginRefresh(with: token)
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant","suberror":"bad_token"}"#))
        let error = try await scene.failure()
        #expect(error?.code == .possiblyConsumed)
        #expect(try await scene.storeLateAnswer(to: token).outcome == .stored)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test func `a new sign-in begins a session`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        _ = try await scene.failure()
        try scene.signIn(refreshToken: "rt-9")
        let summary = try Self.summary(scene)
        #expect(summary.hasRefreshToken)
        #expect(summary.signInState == .signedIn)
        scene.issuer.answer(.init(#"{"access_token":"new","expires_in":3600}"#))
        #expect(try await scene.acquire { $0.forcesRefresh = true }.source == .refresh)
    }

    @Test(
        arguments: [
            (#"{"error":"invalid_grant","suberror":"basic_action"}"#, "read"),
            (#"{"error":"interaction_required"}"#, "read"),
            (#"{"error":"invalid_scope"}"#, "read"), (#"{"error":"invalid_grant"}"#, "read admin"), ("", "read"),
        ]
    )
    func `a refusal that may concern only the request ends no session`(body: String, scope: String) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 400, body))
        _ = try await scene.failure(Scope(scope))
        let summary = try Self.summary(scene)
        #expect(summary.hasRefreshToken)
        #expect(summary.signInState == .signedIn)
    }

    @Test func `a refused token that was replaced meanwhile ends no session`() async throws {
        let scene = try OpenScene()
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        try scene.signIn(refreshToken: "rt-9")
        var consequence = RefreshConsequence(token: .ended)
        consequence.event = "invalid_grant"
        let query = TokenQuery(account: scene.account, clientID: OpenScene.client, scope: "read")
        try scene.store.endRefresh(with: token, of: query, authority: scene.authority.url, consequence)
        #expect(try Self.summary(scene).hasRefreshToken)
        await #expect(try scene.store.signInState(of: scene.account, client: OpenScene.client) == .signedIn)
    }

    @Test func `a refresh token that was replaced before it was sent is not sent`() async throws {
        let scene = try OpenScene()
        scene.clock.seconds += 3_700
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/openid-configuration") else { return }
            try await scene.store.perform { _ in try scene.signIn(refreshToken: "rt-9") }
        }
        let manager = TokenManager(store: scene.store, clientID: OpenScene.client, transport: transport)
        let result = try await manager.acquireTokenSilently(SilentRequest(account: scene.account, scope: "read"))
        #expect(result.accessToken.secret == Secret("at-9"))
        #expect(scene.tokenRequestCount == 0)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-9")])
    }

    @Test func `a refresh that a new sign-in overtakes gives the token of the new session, and ends nothing`()
        async throws
    {
        let scene = try OpenScene()
        scene.issuer.publish(
            JSONValue.Object([("revocation_endpoint", .string(scene.issuer.issuer + "/revoke"))])
        )
        scene.issuer.answer(.init(""), at: "/op/revoke")
        scene.issuer.answer(.init(#"{"access_token":"late","refresh_token":"rt-late","expires_in":3600}"#))
        scene.clock.seconds += 3_700
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/token") else { return }
            try await scene.store.perform { _ in try scene.signIn(refreshToken: "rt-9") }
        }
        let manager = TokenManager(store: scene.store, clientID: OpenScene.client, transport: transport)
        var request = SilentRequest(account: scene.account, scope: "read")
        request.timeout = .seconds(300)
        #expect(try await manager.acquireTokenSilently(request).accessToken.secret == Secret("at-9"))
        #expect(scene.issuer.forms("/op/revoke").isEmpty)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-9")])
    }

    @Test(.aboutFiles("the record of use of a file says what came first"), arguments: [0, 86_400] as [Int64])
    func `a sign-in overtakes a refresh also where the clock was set back`(seconds: Int64) async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"late","refresh_token":"rt-late","expires_in":3600}"#))
        scene.clock.seconds -= seconds
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/token") else { return }
            try await scene.store.perform { _ in try scene.signIn(refreshToken: "rt-9") }
        }
        var request = SilentRequest(account: scene.account, scope: "read")
        request.timeout = .seconds(300)
        request.forcesRefresh = true
        let result = try await scene.manager(transport: transport).acquireTokenSilently(request)
        #expect(result.accessToken.secret == Secret("at-9"))
        #expect(try await scene.acquire().accessToken.secret == Secret("at-9"))
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-9")])
    }
}
