import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import Synchronization
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Calls of web APIs with access tokens.
@Suite(.onBothEngines)
struct AuthorizedTransportTests {
    private static func api(_ scene: Scene, _ path: String = "api1", scope: Scope = Scene.toDo) throws
        -> AuthorizedTransport
    {
        let api = WebAPI(url: "\(scene.provider.baseURL)/\(path)", scope: scope)
        return AuthorizedTransport(
            api,
            account: scene.account,
            manager: try scene.manager(),
            transport: Scene.transport
        )
    }

    private static func request(_ scene: Scene, _ path: String) -> HTTPRequest {
        HTTPRequest("GET", "\(scene.provider.baseURL)/\(path)")
    }

    @Test func `S15, S38, S44 and S46: a call carries one token and returns JSON`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let answer = try await Self.api(scene).json(Self.request(scene, "api1/tasks"))
            #expect(answer.object?["api"]?.text == "api1")
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `S15: an existing authorization header is replaced`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            var request = Self.request(scene, "api1/tasks")
            request.headers = ["Authorization": "Bearer other", "authorization": "Bearer another"]
            #expect(try await Self.api(scene).send(request).status == 200)
        }
    }

    @Test func `S31, S32, S33 and S39: a second API gets its own token without a sign-in`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            _ = try await Self.api(scene).json(Self.request(scene, "api1/tasks"))
            _ = try await Self.api(scene, "api2", scope: Scene.demo).json(Self.request(scene, "api2/tasks"))
            #expect(scene.tokenRequestCount == 1)
            await #expect(try scene.store.status().accessTokens == 2)
        }
    }

    @Test func `S47: each call asks the store, so that an expired token is refreshed`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let api = try Self.api(scene)
            for net in [0, 1, 1] {
                _ = try await api.json(Self.request(scene, "api1/tasks"))
                #expect(scene.tokenRequestCount == net)
                if net == 0 { scene.expire() }
            }
        }
    }

    @Test func `a token that the API finds invalid is refreshed and sent once more`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.store.withWriter {
                try $0.update("access_token", set: "expires_on = expires_on + 100000, refresh_on = NULL")
            }
            scene.expire()
            #expect(try await Self.api(scene).send(Self.request(scene, "api1/tasks")).status == 200)
            #expect(scene.tokenRequestCount == 1)
            #expect(scene.provider.audit.count(of: "api") == 2)
        }
    }

    @Test func `a late refusal of a token that was replaced meanwhile spends no further one`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.store.withWriter {
                try $0.update("access_token", set: "expires_on = expires_on + 100000, refresh_on = NULL")
            }
            scene.expire()
            // Another request is refused and refreshes while this one, with the same token, is on its way.
            let other = try Self.api(scene)
            let isFirst = LockedValue(true)
            let slow = InterceptingTransport(Scene.transport) { _ in
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isFirst else { return }
                let answer = try await other.send(Self.request(scene, "api1/tasks"))
                #expect(answer.status == 200)
            }
            let late = AuthorizedTransport(
                WebAPI(url: "\(scene.provider.baseURL)/api1", scope: Scene.toDo),
                account: scene.account,
                manager: try scene.manager(),
                transport: slow
            )
            #expect(try await late.send(Self.request(scene, "api1/tasks")).status == 200)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `a late refusal of a token that a sign-in replaced needs no refresh token`() async throws {
        let scene = try OpenScene { $0.refreshToken = nil }
        let end = "Connection: close\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer { request in
            guard request.contains("at-0") else { return "HTTP/1.1 200 OK\r\n" + end }
            return "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer error=invalid_token\r\n" + end
        }
        defer { server.stop() }
        // The person signs in again while the request with the old token is on its way.
        let slow = InterceptingTransport(Scene.transport) { request in
            if request.headers["authorization"] == "Bearer at-0" { try scene.signIn(refreshToken: nil) }
        }
        let late = AuthorizedTransport(
            WebAPI(url: server.url + "api", scope: "read"),
            account: scene.account,
            manager: scene.manager(),
            transport: slow
        )
        #expect(try await late.send(HTTPRequest("GET", server.url + "api")).status == 200)
        #expect(server.requests.count == 2)
        #expect(scene.tokenRequestCount == 0)
    }

    @Test func `S24: without a token nothing is sent`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try await scene.manager().signOut(scene.account, .thisDevice)
            await #expect(throws: AcquisitionError.self) {
                try await Self.api(scene).send(Self.request(scene, "api1/tasks"))
            }
            #expect(scene.provider.audit.count(of: "api") == 0)
        }
    }

    @Test func `S37 and S43: an API that is not configured, or another address, gets nothing`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let unscoped = try Self.api(scene, scope: "openid")
            await #expect(throws: WebAPIError.notConfigured) { try await unscoped.send(Self.request(scene, "api1/x")) }
            for path in ["api2/x", "api11/x", "api1/../api2"] {
                await #expect(throws: WebAPIError.self) {
                    try await Self.api(scene).send(Self.request(scene, path))
                }
            }
            let elsewhere = HTTPRequest("GET", "http://example.com/api1/x")
            await #expect(throws: WebAPIError.self) { try await Self.api(scene).send(elsewhere) }
            #expect(scene.provider.audit.count(of: "api") == 0)
        }
    }

    @Test(arguments: [
        "..", "%2e%2e", "%2E.", ".%2e", "..;", "..;a=b", "%2e%2e%3b", "..%2f", "..%5c", "x%2f..%2f..", "x%5c..",
        "..%00",
        "..%20", "..%09", "...", "%252e%252e", "%25252e%25252e", "%c0%ae%c0%ae", "%u002e%u002e", "%zz", "%2", "%",
        "%252e%252e/%25zz", "%2525252525252e", "a%0d%0ab",
    ])
    func `an ambiguous path that a server could read as another gets no token`(path: String) async throws {
        try await Scene.open { (scene: Scene) async throws in
            for tail in ["", "/api2"] {
                await #expect(throws: WebAPIError.self) {
                    try await Self.api(scene).send(Self.request(scene, "api1/\(path)\(tail)"))
                }
            }
            #expect(scene.provider.audit.count(of: "api") == 0)
        }
    }

    @Test func `a path with dots, slashes and percent signs in its names is the API's`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            for path in ["v1.0/x..y", "a%2Fb", "%2E%2E.txt", "100%25", "%2525", "a;b=..", "a//b", ".well-known/%C3%A9"]
            {
                _ = try await Self.api(scene).send(Self.request(scene, "api1/\(path)?q=../%2e%2e"))
            }
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `S26, S45 and S46: an error status and a malformed body have their own errors`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let api = try Self.api(scene)
            await #expect(throws: WebAPIError.status(404)) { try await api.json(Self.request(scene, "api1/notfound")) }
            await #expect(throws: WebAPIError.status(500)) { try await api.json(Self.request(scene, "api1/error")) }
            await #expect(throws: WebAPIError.notJSON) { try await api.json(Self.request(scene, "api1/broken")) }
            #expect(try await api.json(Self.request(scene, "api1/array")).array?.count == 2)
        }
    }

    @Test func `S40 and S41: a token covers its API's scopes and is masked when shown`()
        async throws
    {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            let result = try await manager.acquireTokenSilently(scene.request(Scene.demo))
            #expect(result.accessToken.scope.covers(Scene.demo))
            var shown = ""
            dump(result, to: &shown)
            #expect(!(shown + String(reflecting: result)).contains(result.accessToken.secret.reveal()))
            #expect(shown.contains("helloapi/demo.read"))
        }
    }

    @Test func `S42: every error is a sentence, and has a remedy`() {
        let refusal = OAuthError(code: .invalidGrant)
        let reasons: [InteractionReason] = [
            .signedOut, .noAccount, .noRefreshToken, .otherAuthority, .noAuthority, .ended, .accountDeleted,
            .foreignEndpoint,
        ]
        let errors: [any CodedError] =
            reasons.map { AcquisitionError.interactionRequired($0) } + [
                AcquisitionError.refused(refusal), AcquisitionError.refusedWithoutReason(status: 400),
                AcquisitionError.possiblyConsumed(refusal, since: 0, program: "app", events: []),
                AcquisitionError.unavailable(IssuerUnavailable(status: 503), isThrottled: true),
                AcquisitionError.network(.timedOut(host: "h")), AcquisitionError.clientMisconfigured(refusal),
                AcquisitionError.unusableAnswer(UnusableAnswer(status: 200, isJSON: false)),
                AcquisitionError.invalidScope(refusal), AcquisitionError.policyRequired(refusal),
                AcquisitionError.accountMismatch, AcquisitionError.invalidIDToken(.nonce),
                AcquisitionError.metadata(.incomplete("issuer")), AcquisitionError.timedOut, WebAPIError.notConfigured,
                WebAPIError.invalidURL("u"), WebAPIError.status(500), WebAPIError.notJSON,
            ]
        for error in errors {
            let text = error.problem
            #expect(error.remedy != nil, "\(text)")
            #expect(!text.contains("; "), "\(text)")
            #expect(!text.hasSuffix("."), "\(text)")
            #expect(!text.contains("\n"), "\(text)")
        }
    }

    @Test func `S25: a slow call ends at its time limit`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            #expect(HTTPLimits.webAPI.total == .seconds(30))
            var limits = HTTPLimits.webAPI
            limits.total = .milliseconds(100)
            let short = limits
            await #expect(throws: HTTPTransportError.self) {
                try await Self.api(scene).send(Self.request(scene, "api1/slow"), limits: short)
            }
        }
    }

    @Test func `S25: a token that does not come in the time of a call ends it`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let ended = Counter()
            let hanging = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                try await eventually("the end of the call") { ended.value == 1 }
            }
            let manager = try scene.manager(transport: hanging)
            let api = manager.authorized(
                WebAPI(url: "\(scene.provider.baseURL)/api1", scope: Scene.toDo),
                account: scene.account
            )
            let limits = HTTPLimits(head: .milliseconds(200), total: .milliseconds(200), bodySize: 1_000)
            let error = await #expect(throws: AcquisitionError.self) {
                try await api.send(Self.request(scene, "api1/tasks"), limits: limits)
            }
            #expect(error?.code == .timedOut)
            _ = ended.next()
            // The refresh goes on, and others get what it brings.
            _ = try await manager.acquireTokenSilently(scene.request())
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `a call with a token that is due for a refresh has time left where the issuer hangs`() async throws {
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { (scene: Scene) async throws in
            scene.clock.advance(by: 1_801)
            let ended = Counter()
            let hanging = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                try await eventually("the end of the call") { ended.value == 1 }
            }
            let manager = try scene.manager(transport: hanging)
            let url = "\(scene.provider.baseURL)/api1"
            let api = manager.authorized(WebAPI(url: url, scope: Scene.toDo), account: scene.account)
            // Less than a refresh may take, after which it would be given up.
            let limits = HTTPLimits(head: .seconds(8), total: .seconds(8), bodySize: 100_000)
            let answer = try? await api.send(Self.request(scene, "api1/tasks"), limits: limits)
            _ = ended.next()
            #expect(answer?.status == 200)
            // The refresh goes on, and others get what it brings.
            _ = try await manager.acquireTokenSilently(scene.request())
            #expect(scene.tokenRequestCount == 1)
        }
    }
}
