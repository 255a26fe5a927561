import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct WebAPITests {
    @Test func `S15, S26, S44, S46: a call has one authorization header and returns JSON`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let transport = RecordingTransport()
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            let authorized = try scene.application(AbsentUser(), transport: transport).transport(to: api, as: account)
            let answer = try await authorized.json(HTTPRequest("GET", api.url))
            #expect(answer.object?["api"]?.text == "api1")
            #expect(transport.requests.count == 1)
            #expect(transport.requests[0].headers.values(of: "authorization").count == 1)
            #expect(transport.requests[0].headers["authorization"]?.hasPrefix("Bearer ") == true)
        }
    }

    @Test(arguments: [("notfound", 404), ("error", 500)])
    func `S45, N71: a status other than 2xx is an error`(variant: String, status: Int) async throws {
        try await SignInScene.open { scene in
            let error = try await Self.call(scene, "/api1/\(variant)")
            #expect(error == .status(status))
        }
    }

    @Test func `S26, S46, N71: a malformed body is an error`() async throws {
        try await SignInScene.open { scene in
            for variant in ["broken", "text"] {
                let error = try await Self.call(scene, "/api1/\(variant)")
                #expect(error == .notJSON)
            }
        }
    }

    @Test func `S26, N71: a JSON list in the place of an object is an error`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            let authorized = try scene.application(AbsentUser()).transport(to: api, as: account)
            let answer = try await authorized.json(HTTPRequest("GET", api.url + "/array"))
            #expect(answer.object == nil)
            #expect(answer.array != nil)
        }
    }

    @Test(arguments: ["", "nonsense", "http://example.org/api", "ftp://127.0.0.1/"])
    func `S43, S37, N71: a malformed address is refused before any request`(url: String) async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            scene.provider.audit.reset()
            let api = WebAPI(url: url, scope: SignInScene.toDo)
            let authorized = try scene.application(AbsentUser()).transport(to: api, as: account)
            await #expect(throws: WebAPIError.self) { try await authorized.json(HTTPRequest("GET", url)) }
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `S33, S37, S40, N73: an API without scopes is not configured`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            scene.provider.audit.reset()
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: Scope([]))
            let authorized = try scene.application(AbsentUser()).transport(to: api, as: account)
            await #expect(throws: WebAPIError.notConfigured) { try await authorized.json(HTTPRequest("GET", api.url)) }
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `S24: without a token no request reaches the API`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let application = try scene.application(AbsentUser())
            try await application.remove(account)
            scene.provider.audit.reset()
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            let error = try await acquisitionError {
                _ = try await application.transport(to: api, as: account).json(HTTPRequest("GET", api.url))
            }
            #expect(error?.needsInteraction == true)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `S25: a call may take thirty seconds, or what the caller says`() async throws {
        #expect(HTTPLimits.webAPI.total == .seconds(30))
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            let authorized = try scene.application(AbsentUser()).transport(to: api, as: account)
            var limits = HTTPLimits.webAPI
            limits.total = .milliseconds(300)
            let request = HTTPRequest("GET", api.url + "/slow")
            await #expect(throws: HTTPTransportError.self) { try await authorized.json(request, limits: limits) }
        }
    }

    @Test func `S12, S38, S39, S47: each call asks the store, and refreshes an expired token`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            let authorized = try scene.application(AbsentUser()).transport(to: api, as: account)
            scene.provider.audit.reset()
            _ = try await authorized.json(HTTPRequest("GET", api.url))
            #expect(scene.tokenRequestCount == 0)
            scene.provider.clock.advance(by: 3_601)
            _ = try await authorized.json(HTTPRequest("GET", api.url))
            #expect(scene.tokenRequestCount == 1)
        }
    }

    private static func call(_ scene: SignInScene, _ path: String) async throws -> WebAPIError? {
        let account = try await scene.signIn().account
        let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
        let authorized = try scene.application(AbsentUser()).transport(to: api, as: account)
        do {
            _ = try await authorized.json(HTTPRequest("GET", scene.provider.baseURL + path))
            return nil
        } catch let error as WebAPIError {
            return error
        }
    }
}
