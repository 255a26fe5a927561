import HTTPTransport
import LocalIdentityProvider
import OAuth
import SignIn
import Testing
import TokenStorage

struct ConfigurationTests {
    @Test(arguments: [
        "msauth.com.example.app://auth", "msal11111111-2222://auth", "http://127.0.0.1", "http://127.0.0.1/",
        "http://127.0.0.1:8400/callback", "http://localhost", "http://[::1]/", "https://app.example.com/signed-in",
    ])
    func `S01: redirect URIs with an own scheme, loopback and https are accepted`(text: String) throws {
        #expect(try RedirectURI(text).text == text)
    }

    @Test(arguments: ["", "code=x", "code=x&state=y", "\u{301}code=x", "\u{5BF}", "a?b"])
    func `parameters of an address are found in any position`(query: String) throws {
        for text in ["msauth.com.example.app://auth", "https://app.example.com/signed-in"] {
            let uri = try RedirectURI(text)
            #expect(uri.query(of: "\(text)?\(query)")?.utf8.elementsEqual(query.utf8) == true)
            #expect(uri.query(of: "\(text)/?\(query)#\u{301}x")?.utf8.elementsEqual(query.utf8) == true)
            #expect(uri.query(of: "\(text)#?\(query)") == nil)
        }
    }

    @Test(arguments: [
        "", "auth", "http://example.org/", "javascript:alert(1)", "https://127.0.0.1/", "http://127.0.0.1/#x",
        "http://127.0.0.1/?x=1", "myapp://auth", "http://127.0.0.1:0/", "http://127.0.0.1 /",
        "http://127.0.0.1:+80/", "http://127.0.0.1:080/", "http://127.0.0.1:/", "http://127.0.0.1\\x/",
        "http://[::1]]/", "http://[127.0.0.1]:53123/cb", "http://[127.0.0.1]/",
    ])
    func `S04: a malformed redirect URI is refused with an error that shows the form`(text: String) {
        let error = #expect(throws: SignInError.self) { try RedirectURI(text) }
        #expect(error?.code == .invalidRedirectURI)
        #expect(error?.remedy?.advice.hasPrefix("use ") == true)
    }

    @Test(arguments: ["http://127.0.0.1:080/", "http://127.0.0.1:0/", "http://[::1]]/", "https://user@app.example/cb"])
    func `an address that is malformed is not said to be at a wrong place`(text: String) {
        let error = #expect(throws: SignInError.self) { try RedirectURI(text) }
        #expect(error?.problem == "the redirect URI '\(text)' is not a valid address")
    }

    @Test(arguments: [("", "https://t.b2clogin.com/tfp/t/p"), ("app", "nonsense"), ("app", "http://example.org/t")])
    func `S04, N74: a missing client id or a malformed authority is a typed error`(client: String, authority: String) {
        let error = #expect(throws: SignInError.self) {
            try PublicClientConfiguration(clientID: client, redirectURI: "http://127.0.0.1/", authority: authority)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `N74: plain http is for loopback`() throws {
        #expect(throws: Never.self) {
            try PublicClientConfiguration(
                clientID: "app",
                redirectURI: "http://127.0.0.1/",
                authority: "http://127.0.0.1:8470/tfp/t/b2c_1_susi"
            )
        }
    }

    @Test func `S05, N62: a user flow's authority is a URL, and an impossible one throws`() throws {
        let authority = try Authority(host: "t.b2clogin.com", tenant: "t.onmicrosoft.com", userFlow: "B2C_1_SUSI")
        #expect(authority.url == "https://t.b2clogin.com/tfp/t.onmicrosoft.com/b2c_1_susi")
        for policy in ["b2c 1", "", "a/b", "a?b"] {
            #expect(throws: AuthorityError.self) {
                try Authority(host: "t.b2clogin.com", tenant: "t.onmicrosoft.com", userFlow: policy)
            }
        }
    }

    @Test func `S06: unlisted user flows and authorities of another kind are refused`() async throws {
        try await SignInScene.open { scene in
            let application = try scene.application(AbsentUser())
            let other = try Authority(host: "evil.example", tenant: "fabrikvine", userFlow: "b2c_1_susi")
            for (authority, isKind) in [
                (other, true), (try scene.authority("b2c_1_unlisted"), true),
                (try Authority(issuer: "https://issuer.example"), false),
                (try Authority(parsing: "https://login.microsoftonline.com/t"), false),
            ] {
                var request = InteractiveRequest(scope: SignInScene.toDo)
                request.authority = authority
                let error = try await signInError { _ = try await application.acquireToken(request) }
                #expect((error == .unknownAuthority(authority.url)) == isKind, "\(authority.url)")
            }
            #expect(scene.provider.audit.counts.isEmpty)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `S06: known authorities of another kind are refused when the application is built`() async throws {
        try await SignInScene.open { scene in
            var configuration = try PublicClientConfiguration(
                clientID: "b2c-app",
                redirectURI: .anyPort,
                authority: try scene.authority()
            )
            configuration.knownAuthorities = [try Authority(issuer: "https://issuer.example")]
            #expect(throws: SignInError.self) {
                try PublicClientApplication(configuration, store: scene.store, transport: SignInScene.transport)
            }
        }
    }

    @Test func `a scope that no store takes throws before any request`() async throws {
        try await SignInScene.open { scene in
            let application = try scene.application(AbsentUser(), redirectURI: "msauth.com.example.app://auth")
            let device = DeviceCodeFlow(clientID: "b2c-app", transport: SignInScene.transport)
            let authority = try scene.authority()
            let request = InteractiveRequest(scope: "a\u{0}b")
            var consenting = InteractiveRequest(scope: SignInScene.toDo)
            consenting.extraScopesToConsent = "a\u{0}b"
            let errors = [
                try await signInError { _ = try await application.acquireToken(request) },
                try await signInError { [consenting] in _ = try await application.acquireToken(consenting) },
                try await signInError { _ = try await application.beginSignIn(request) },
                try await signInError { _ = try await device.begin(request.scope, at: authority) },
            ]
            let refusal = SignInError.invalidRequest("the scope has a control character", .correct("correct the scope"))
            #expect(errors == Array(repeating: refusal, count: 4))
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test(arguments: ["state", "redirect_uri", "Nonce", "code_challenge", "client_secret", "request_uri"])
    func `S07: extra parameters that would replace ours throw before any request`(name: String) async throws {
        try await SignInScene.open { scene in
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.extraParameters = [name: "x"]
            let error = try await signInError { _ = try await scene.application(AbsentUser()).acquireToken(request) }
            #expect(error?.description.contains(name) == true)
            #expect(scene.provider.audit.counts.isEmpty)
            #expect(try scene.isUntouched)
        }
    }
}
