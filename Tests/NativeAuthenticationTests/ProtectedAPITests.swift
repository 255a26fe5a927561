import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// The APIs of the documents, called with the tokens of one sign-in.
struct ProtectedAPITests {
    private static let second = "/api2"

    private func caller(
        _ account: NativeAuthUserAccount,
        _ url: String,
        _ scope: Scope = NativeScene.toDo,
        limits: HTTPLimits = .webAPI
    ) -> AuthorizedTransport {
        account.transport(to: WebAPI(url: url, scope: scope))
    }

    @Test func `S31, S39, S44: two APIs are called with a token each`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            for (path, scope) in [("/api1", NativeScene.toDo), (Self.second, NativeScene.demo)] {
                let url = scene.provider.baseURL + path
                let answer = try await caller(account, url, scope).json(HTTPRequest("GET", url))
                #expect(answer.object?["api"]?.text == String(path.dropFirst()))
            }
            #expect(scene.requests["token"] == 3)
        }
    }

    @Test(arguments: [
        ("/notfound", WebAPIError.status(404)), ("/error", .status(500)), ("/broken", .notJSON), ("/text", .notJSON),
    ])
    func `N71, S45, S46: each wrong answer of an API has its own error`(path: String, expected: WebAPIError)
        async throws
    {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let url = scene.provider.baseURL + "/api1" + path
            let transport = caller(account, scene.provider.baseURL + "/api1")
            await #expect(throws: expected) { try await transport.json(HTTPRequest("GET", url)) }
        }
    }

    @Test func `N71: a JSON list is not a JSON object`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let url = scene.provider.baseURL + "/api1"
            let answer = try await caller(account, url).json(HTTPRequest("GET", url + "/array"))
            #expect(answer.array != nil)
            #expect(answer.object == nil)
        }
    }

    @Test func `N71: an API that takes too long is an error of the transport`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let url = scene.provider.baseURL + "/api1"
            let transport = caller(account, url)
            let limits = HTTPLimits(head: .milliseconds(50), total: .milliseconds(50), bodySize: 1 << 10)
            _ = try await account.accessToken(for: NativeScene.toDo)
            await #expect(throws: HTTPTransportError.self) {
                try await transport.send(HTTPRequest("GET", url + "/slow"), limits: limits)
            }
        }
    }

    @Test(arguments: ["", "nonsense", "http://example.org/api"])
    func `N71, S43: a malformed address is refused before any request`(url: String) async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            scene.provider.audit.reset()
            await #expect(throws: WebAPIError.self) {
                try await caller(account, url).json(HTTPRequest("GET", url))
            }
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N71, S24: without an account no request is made`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            try await account.signOut()
            scene.provider.audit.reset()
            let url = scene.provider.baseURL + "/api1"
            let error = await #expect(throws: AcquisitionError.self) {
                try await caller(account, url).json(HTTPRequest("GET", url))
            }
            #expect(error?.description.contains("sign in") == true)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N73, S37: an API without scopes is not configured`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            scene.provider.audit.reset()
            let url = scene.provider.baseURL + "/api1"
            await #expect(throws: WebAPIError.notConfigured) {
                try await caller(account, url, Scope([])).json(HTTPRequest("GET", url))
            }
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }
}
