import HTTPTransport
import LocalIdentityProvider
import NIOCore
import NIOEmbedded
import OAuth
import SignIn
import Synchronization
import Testing
import TokenStorage

/// What the page is asked for, and what it says to the person.
struct PageTests {
    /// Signs Ana in and returns what the address asked for.
    private func asked(_ request: InteractiveRequest, _ scene: SignInScene) async throws -> [String: String] {
        let seen = Mutex<[String: String]>([:])
        let visitor = try ScriptedBrowser()
        let application = try scene.application(
            ReactingUser { address in
                seen.withLock { $0 = parameters(of: address) }
                try await visitor.open(address)
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            }
        )
        _ = try await application.acquireToken(request)
        return seen.withLock(\.self)
    }

    @Test func `S02: no broker is called`() async throws {
        try await SignInScene.open { scene in
            let sent = try await asked(InteractiveRequest(scope: SignInScene.toDo), scene)
            #expect(
                sent.keys.sorted() == [
                    "client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_type",
                    "scope", "state",
                ]
            )
            let own = try scene.application(AbsentUser(), redirectURI: "msauth.com.example.tokenstore://auth")
            for scheme in ["msauthv2", "msauthv3"] { #expect(!own.handle(redirect: "\(scheme)://auth?code=x&state=y")) }
        }
    }

    @Test func `S34: an empty field is an error on the page, without a token request`() async throws {
        try await SignInScene.open { scene in
            let messages = Mutex<[String]>([])
            let user = try ScriptedUser { visitor in
                for fields in [
                    ["username": SignInScene.ana, "password": ""], ["username": "", "password": "x"], [:],
                ] {
                    try await visitor.press("sign_in", fields)
                    let message = await visitor.message
                    messages.withLock { $0.append(message) }
                }
                try await visitor.press("cancel")
            }
            let error = try await signInError {
                _ = try await scene.application(user).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error == .cancelled)
            let shown = messages.withLock(\.self)
            #expect(shown.count == 3)
            #expect(!shown.contains(""))
            #expect(scene.tokenRequestCount == 0)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `S36: without scopes openid, profile and offline_access are requested`()
        async throws
    {
        try await SignInScene.open { scene in
            let sent = try await asked(InteractiveRequest(scope: Scope([])), scene)
            #expect(sent["scope"] == "openid profile offline_access")
            let status = try await scene.store.status()
            #expect(status.accessTokens == 1)
            #expect(status.refreshTokens == 1)
            #expect(status.idTokens == 1)
        }
    }

    /// What a browser that comes back with `query` is answered, in a sign-in whose state is `s`.
    private func answer(to query: String, at path: String = "/", endsSession: Bool = false) throws -> String {
        let pendingRedirect = PendingRedirect(state: Secret("s"))
        var routes = RedirectRoutes(path: "/", mode: .query, pendingRedirect: pendingRedirect, start: StartAddress())
        routes.endsSession = endsSession
        let channel = try EmbeddedChannel(routes)
        let request = "GET \(path)?\(query) HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
        try channel.writeInbound(ByteBuffer(string: request))
        return try channel.written
    }

    @Test(arguments: [
        ("error=unsupported_response_mode&state=s", 200, "unsupported_response_mode"), ("code=c&state=s", 200, "flaw"),
        ("error=x&code=c&state=s", 200, "flaw"), ("state=s", 200, "flaw"), ("error=x&state=other", 405, nil),
        ("code=c", 405, nil),
    ])
    func `what comes in the address where a form was asked for`(query: String, status: Int, end: String?) throws {
        let pendingRedirect = PendingRedirect(state: Secret("s"))
        let routes = RedirectRoutes(path: "/", mode: .formPost, pendingRedirect: pendingRedirect, start: StartAddress())
        let channel = try EmbeddedChannel(routes)
        try channel.writeInbound(ByteBuffer(string: "GET /?\(query) HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"))
        #expect(try channel.written.hasPrefix("HTTP/1.1 \(status) "))
        let found: String? =
            switch pendingRedirect.outcome {
            case .success(let answer)?: answer.refusal?.code.rawValue
            case .failure(let error)?: error == .invalidAnswer("came in the address and not in a form") ? "flaw" : ""
            case nil: nil
            }
        #expect(found == end)
    }

    private static let hostileTexts = [
        "<script>alert(1)</script>", "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "%22%27%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
        "</title></head><body><h1>Signed%20in</h1>",
        "</style><meta%20http-equiv=refresh%20content=0;url=//evil.example>",
        "%0D%0ASet-Cookie:%20planted=1%0D%0A%0D%0A<html>", "%00%07%08%1B%5B2J%7F", "%E2%80%AE%C2%9B31m", "%FF%FE%3C",
        "%zz",
    ]

    @Test(arguments: hostileTexts, [false, true])
    func `the last page is the same whatever the browser brings`(text: String, endsSession: Bool) throws {
        let harmless = try answer(to: "error=access_denied&error_description=No&state=s", endsSession: endsSession)
        #expect(harmless.contains(endsSession ? "<h1>Signed out</h1>" : "<h1>Not signed in</h1>"))
        for query in [
            "error=\(text)&state=s", "error=access_denied&error_description=\(text)&state=s",
            "error=access_denied&error_uri=\(text)&\(text)=\(text)&state=s",
        ] {
            #expect(try answer(to: query, endsSession: endsSession) == harmless, "\(query)")
        }
        let foreign = try answer(to: "error=access_denied&state=another", endsSession: endsSession)
        #expect(foreign.contains("<h1>Not this sign-in</h1>"))
        #expect(try answer(to: "error=access_denied&state=\(text)", endsSession: endsSession) == foreign)
        let unknown = try answer(to: "", at: "/another", endsSession: endsSession)
        #expect(unknown.contains("<h1>Nothing here</h1>"))
        #expect(try answer(to: "", at: "/\(text)", endsSession: endsSession) == unknown)
    }

    @Test(arguments: ["code=c&state=s", "error=access_denied&state=s", "code=c&state=another", "", "code=%zz&state=s"])
    func `every page of the listener runs no script and is kept nowhere`(query: String) throws {
        let parts = try answer(to: query).split(separator: "\r\n\r\n", maxSplits: 1)
        try #require(parts.count == 2)
        #expect(
            parts[0].split(separator: "\r\n").dropFirst() == [
                "content-type: text/html; charset=utf-8", "content-length: \(parts[1].utf8.count)",
                "cache-control: no-store", "referrer-policy: no-referrer", "x-content-type-options: nosniff",
                "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
                "connection: close",
            ]
        )
        #expect(!parts[1].contains("<script"))
    }
}
