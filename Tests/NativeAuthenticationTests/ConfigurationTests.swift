import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct ConfigurationTests {
    @Test func `a subdomain names its tenant`() throws {
        let configuration = try NativeAuthConfiguration(clientID: "app", tenantSubdomain: "fabrikvine")
        #expect(configuration.authority.url == "https://fabrikvine.ciamlogin.com/fabrikvine.onmicrosoft.com")
    }

    @Test(arguments: ["", "a.b", "a/b", "https://a", "a:1"])
    func `a malformed subdomain is refused`(text: String) {
        #expect(throws: SignInError.self) { try NativeAuthConfiguration(clientID: "app", tenantSubdomain: text) }
    }

    @Test(arguments: [
        "https://fabrikvine.b2clogin.com/fabrikvine.onmicrosoft.com/b2c_1_susi",
        "https://login.microsoftonline.com/common",
    ])
    func `an authority that names no tenant is refused`(text: String) throws {
        let authority = try Authority(parsing: text)
        #expect(throws: SignInError.self) { try NativeAuthConfiguration(clientID: "app", authority: authority) }
        #expect(throws: SignInError.self) {
            try NativeAuthConfiguration(clientID: "app", authority: Authority(issuer: "https://id.example.org"))
        }
    }

    @Test(arguments: ["", "a b", "\u{7}"])
    func `a malformed client id is refused`(text: String) throws {
        let authority = try Authority(parsing: "https://fabrikvine.ciamlogin.com")
        #expect(throws: SignInError.self) { try NativeAuthConfiguration(clientID: text, authority: authority) }
    }

    @Test func `the capabilities of the app are announced in a fixed order`() async throws {
        try await NativeScene.open { scene in
            let recorder = RecordingTransport()
            let app = try scene.app(transport: recorder) { $0.challengeTypes = [.password, .oob] }
            _ = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(recorder.exchanges[0].form["challenge_type"] == "oob password redirect")
            #expect(recorder.exchanges[0].form["capabilities"] == "mfa_required registration_required")
            let plain = try scene.app(transport: recorder) {
                $0.challengeTypes = .oob
                $0.capabilities = []
            }
            _ = try await plain.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(recorder.exchanges[2].form["challenge_type"] == "oob redirect")
            #expect(recorder.exchanges[2].form["capabilities"] == nil)
        }
    }

    @Test func `an interceptor adds headers, but replaces none of the library's`() async throws {
        try await NativeScene.open { scene in
            let (recorder, log) = (RecordingTransport(), LogRecord())
            let app = try scene.app(transport: recorder) {
                $0.interceptor = Interceptor()
                $0.logger = log.logger
                $0.datacenter = "ESTS-PUB-1"
            }
            _ = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            let request = try #require(recorder.requests.first)
            #expect(request.headers["x-risk-session"] == "17")
            #expect(request.url.hasSuffix("?dc=ESTS-PUB-1"))
            for name in ["x-client-cpu", "x-ms-pkeyauth", "x-app-name", "x-broker-x", "cookie"] {
                #expect(request.headers[name] == nil)
            }
            #expect(log.lines.count { $0.hasPrefix("warning") } == 10)
        }
    }

    private struct Interceptor: RequestInterceptor {
        func headers(for url: String) async -> [String: String] {
            [
                "x-risk-session": "17", "x-client-cpu": "1", "X-MS-PkeyAuth": "1", "x-app-name": "1", "x-broker-x": "1",
                "cookie": "1",
            ]
        }
    }
}
