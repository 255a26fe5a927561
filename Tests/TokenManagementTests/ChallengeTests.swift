import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestTraits
import Testing
import TokenManagement

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
}
