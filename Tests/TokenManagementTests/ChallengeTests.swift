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

/// What a web API asks for when it refuses a token.
@Suite(.onBothEngines)
struct ChallengeTests {
    /// Claims of a challenge, in base64 with the alphabet of URLs or the other one.
    private static let claims =
        #"{"access_token":{"nbf":{"essential":true,"value":"1790000000"},"x":{"value":"~~>>"}}}"#

    /// Calls an API that refuses the first calls with a challenge, and returns how often it was called with which
    /// tokens, and what the issuer was asked for.
    private static func call(
        _ challenge: String,
        refusing refusals: Int,
        _ check: (_ status: Int, _ headers: [String], _ forms: SentForms, _ scene: Scene) throws -> Void
    ) async throws {
        try await Scene.open { (scene: Scene) async throws in
            let calls = Counter()
            let server = try RawServer { _ in
                calls.next() <= refusals
                    ? "HTTP/1.1 401 X\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
            }
            defer { server.stop() }
            let forms = SentForms()
            let manager = try scene.manager(transport: InterceptingTransport(Scene.transport) { forms.keep($0) })
            let api = AuthorizedTransport(
                WebAPI(url: server.url + "api", scope: Scene.toDo),
                account: scene.account,
                manager: manager,
                transport: Scene.transport
            )
            let response = try await api.send(HTTPRequest("GET", server.url + "api/tasks"))
            let headers = server.requests.flatMap { request in
                request.split(separator: "\r\n").map(String.init)
                    .filter { $0.lowercased().hasPrefix("authorization:") }
            }
            try check(response.status, headers, forms, scene)
        }
    }

    @Test func `a transport's own error on the way to the API is one of the network`() async throws {
        struct OwnError: Error {}
        try await Scene.open { (scene: Scene) async throws in
            let broken = InterceptingTransport(Scene.transport) { request in
                if request.url.contains("/api1") { throw OwnError() }
            }
            let api = WebAPI(url: "\(scene.provider.baseURL)/api1", scope: Scene.toDo)
            let manager = try scene.manager()
            let calls = AuthorizedTransport(api, account: scene.account, manager: manager, transport: broken)
            let error = try await #require(throws: HTTPTransportError.self) {
                try await calls.send(HTTPRequest("GET", api.url))
            }
            #expect(error.code == .interrupted)
        }
    }

    @Test(arguments: [
        "Bearer error=\"insufficient_claims\", claims=\"%\"",
        "Bearer realm=\"\", claims=\"%\", error=insufficient_claims",
        "Negotiate, Bearer error=\"insufficient_claims\", claims=\"%\"",
    ])
    func `a claims challenge causes one refresh with the claims and one repeated call`(
        challenge: String
    ) async throws {
        let claims = Base64URL.encode(Array(Self.claims.utf8))
        for text in [claims, claims.replacing("-", with: "+").replacing("_", with: "/")] {
            try await Self.call(challenge.replacing("%", with: text), refusing: 1) { status, headers, forms, scene in
                #expect(status == 200)
                #expect(scene.tokenRequestCount == 1)
                #expect(headers.count == 2)
                #expect(Set(headers).count == 2)
                let (sent, wanted) = (try JSONValue(parsing: forms.last("claims")), try JSONValue(parsing: Self.claims))
                #expect(sent == wanted)
            }
        }
    }

    @Test(arguments: [
        #"Bearer claims="%", error="insufficient_claims""#, #"Bearer error="insufficient_claims", claims="%""#,
    ])
    func `claims that travel as JSON in a quoted string are read`(challenge: String) async throws {
        let text = Self.claims.replacing("\"", with: "\\\"")
        try await Self.call(challenge.replacing("%", with: text), refusing: 1) { status, _, forms, scene in
            #expect(status == 200)
            #expect(scene.tokenRequestCount == 1)
            let (sent, wanted) = (try JSONValue(parsing: forms.last("claims")), try JSONValue(parsing: Self.claims))
            #expect(sent == wanted)
        }
    }

    @Test(arguments: [
        #"Bearer error="invalid_token""#, #"bearer error = "invalid_token""#, #"Bearer  error=invalid_token"#,
        #"Bearer realm="a \"b\"", error="invalid_token""#, #"Bearer realm="x", Bearer error="invalid_token""#,
        #"Bearer error="invalid_token", DPoP algs="ES256", error="use_dpop_nonce""#,
        #"Negotiate YII==, Bearer error="invalid_token", error="other""#,
    ])
    func `an invalid_token challenge causes one refresh and one repeated call`(challenge: String) async throws {
        try await Self.call(challenge, refusing: 1) { status, headers, forms, scene in
            #expect(status == 200)
            #expect(scene.tokenRequestCount == 1)
            #expect(Set(headers).count == 2)
            #expect(forms.last("claims").isEmpty)
        }
    }

    @Test func `parameters of a challenge are told apart by the bytes of their names`() throws {
        // 64 KB each, which `==` takes for one text, in quadratic time.
        let (one, other) = ("\u{301}\u{323}".repeated(16_384), "\u{323}\u{301}".repeated(16_384))
        let field = "\(one)=x, Bearer \(one)=1, \(other)=2, Error=3"
        let response = HTTPResponse(status: 401, headers: ["www-authenticate": field], body: Secret(""))
        let challenge = try #require(AuthenticationChallenge.all("bearer", in: response).first)
        #expect(challenge[one] == "1")
        #expect(challenge[other] == "2")
        #expect(challenge["error"] == "3")
    }

    @Test func `claims of a challenge that are many combining marks are ignored`() throws {
        let claims = "\u{301}\u{323}".repeated(16_384)
        let field = #"Bearer error="insufficient_claims", claims="\#(claims)""#
        let response = HTTPResponse(status: 401, headers: ["www-authenticate": field], body: Secret(""))
        let challenge = try #require(BearerChallenge(response))
        #expect(challenge.claims == nil)
    }

    @Test(arguments: ["Bearer error=\"invalid_token\"", "Bearer error=\"insufficient_claims\", claims=\"e30\""])
    func `an API that refuses the new token too is not asked a third time`(challenge: String) async throws {
        try await Self.call(challenge, refusing: .max) { status, headers, _, scene in
            #expect(status == 401)
            #expect(scene.tokenRequestCount == 1)
            #expect(headers.count == 2)
        }
    }

    @Test(arguments: [
        "Bearer", "Bearer error=\"insufficient_scope\"", "Basic realm=\"bearer error=invalid_token\"",
        #"Bearer realm="x", Basic error="invalid_token""#, #"Bearer error="a\", error=\"invalid_token""#,
    ])
    func `a refusal that a new token would not change is returned as the answer`(challenge: String) async throws {
        try await Self.call(challenge, refusing: .max) { status, headers, _, scene in
            #expect(status == 401)
            #expect(scene.tokenRequestCount == 0)
            #expect(headers.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `claims that no refresh brings are for the sign-in that follows`(isRefused: Bool) async throws {
        try await Scene.open { (scene: Scene) async throws in
            let text = Base64URL.encode(Array(Self.claims.utf8))
            let challenge = "Bearer error=insufficient_claims, claims=\"\(text)\""
            let server = try RawServer { _ in
                "HTTP/1.1 401 X\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
            }
            defer { server.stop() }
            if isRefused {
                scene.refuse("invalid_grant")
            } else {
                for token in try scene.refreshTokens { try await scene.store.removeRefreshToken(token) }
            }
            let api = AuthorizedTransport(
                WebAPI(url: server.url + "api", scope: Scene.toDo),
                account: scene.account,
                manager: try scene.manager(),
                transport: Scene.transport
            )
            let error = await #expect(throws: AcquisitionError.self) {
                try await api.send(HTTPRequest("GET", server.url + "api"))
            }
            #expect(error?.needsInteraction == true)
            let wanted = try JSONValue(parsing: Self.claims)
            #expect(error?.neededClaims == wanted)
        }
    }

    @Test func `S25: the time of a call counts for a token that is renewed, and for the repetition`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let calls = Counter()
            let server = try RawServer { _ in
                calls.next() == 1
                    ? "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer error=invalid_token\r\nContent-Length: 0\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            }
            defer { server.stop() }
            let slow = InterceptingTransport(Scene.transport) { request in
                if request.url.hasSuffix("/token") { try await Task.sleep(for: .milliseconds(300)) }
            }
            let recorder = LimitRecorder()
            let api = AuthorizedTransport(
                WebAPI(url: server.url + "api", scope: Scene.toDo),
                account: scene.account,
                manager: try scene.manager(transport: slow),
                transport: recorder
            )
            let limits = HTTPLimits(head: .seconds(300), total: .seconds(300), bodySize: 1_000)
            #expect(try await api.send(HTTPRequest("GET", server.url + "api"), limits: limits).status == 200)
            let totals = recorder.totals.withLock(\.self)
            #expect(totals.count == 2)
            #expect(totals.allSatisfy { $0 <= .seconds(300) })
            #expect(totals.last.map { $0 <= .milliseconds(299_700) } == true)
        }
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}

/// Keeps how long each request may take.
private final class LimitRecorder: HTTPTransport {
    let totals = LockedValue<[Duration]>([])

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        totals.withLock { $0.append(limits.total) }
        return try await Scene.transport.send(request, limits: limits)
    }
}
