import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import Synchronization
import TestSupport
import Testing
import TokenManagement
import TokenStorage

struct EndSessionTests {
    /// Ana's browser, where she signs in if she is asked to.
    private func ana(_ visitor: ScriptedBrowser) throws -> ScriptedUser {
        try ScriptedUser(visitor) { visitor in
            if await visitor.heading == "Sign in" {
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            }
        }
    }

    /// Whether the issuer would ask the person of a browser for a password.
    private func isAsked(_ visitor: ScriptedBrowser, _ scene: SignInScene) async throws -> Bool {
        let heading = Mutex("")
        let user = try ScriptedUser(visitor) { visitor in
            let shown = await visitor.heading
            heading.withLock { $0 = shown }
            if shown == "Sign in" { try await visitor.press("cancel") }
        }
        let application = try scene.application(user)
        _ = try await signInError { _ = try await application.signIn(scope: SignInScene.toDo) }
        return heading.withLock(\.self) == "Sign in"
    }

    @Test func `ending a session revokes first, then signs out in the browser`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            let session = try await scene.application(ana(visitor)).signIn(scope: SignInScene.toDo)
            let report = try await session.endSession()
            #expect(report.signOut == .revoked)
            #expect(report.browser.outcome == .ended)
            #expect(report.browser.address == nil)
            #expect(await visitor.heading == "Signed out")
            let routes = scene.provider.audit.entries.map(\.route)
            #expect(routes.filter { ["revoke", "logout"].contains($0) } == ["revoke", "logout"])
            await #expect(try scene.store.accounts().isEmpty)
            #expect(try await isAsked(visitor, scene))
        }
    }

    @Test func `signing out leaves the browser's session alone`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            let session = try await scene.application(ana(visitor)).signIn(scope: SignInScene.toDo)
            try await session.signOut()
            #expect(scene.provider.audit.count(of: "logout") == 0)
            #expect(try await !isAsked(visitor, scene))
        }
    }

    @Test func `the start address leads to the page, which has the ID token and a state`() async throws {
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let opened = Mutex(("", ""))
            let user = StartingUser { page, start in
                opened.withLock { $0 = (page, start ?? "") }
                try await ScriptedBrowser().open(start ?? "")
            }
            let session = try await scene.application(user).sessions()[0]
            let report = try await session.endSession(timeLimit: .milliseconds(1))
            let (page, start) = opened.withLock(\.self)
            #expect(parameters(of: page)["id_token_hint"]?.hasPrefix("eyJ") == true)
            #expect(parameters(of: page)["state"]?.count == 43)
            #expect(start.hasPrefix("http://127.0.0.1:"))
            #expect(!start.contains("eyJ"))
            // The browser of this user has no session, so nobody is asked and the page comes back.
            #expect(report.browser.outcome == .ended)
        }
    }

    @Test func `without a browser the account is signed out, and the page to open has no token in it`() async throws {
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let session = try await scene.application(AbsentUser()).sessions()[0]
            let report = try await session.endSession()
            #expect(report.signOut == .revoked)
            #expect(report.browser.outcome == .notShown)
            let address = try #require(report.browser.address)
            #expect(address.contains("/oauth2/v2.0/logout?client_id=b2c-app"))
            #expect(!address.contains("eyJ"))
            await #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `a page that does not come back, or without the state, confirms nothing`() async throws {
        try await SignInScene.open { scene in
            for query in [nil, "", "?x=1", "?state=made-up"] {
                _ = try await scene.signIn()
                let user = ReactingUser { address in
                    guard let query, let back = parameters(of: address)["post_logout_redirect_uri"] else { return }
                    let answer = HTTPRequest("GET", back + query)
                    _ = try await SignInScene.transport.send(answer, limits: .issuer)
                }
                let session = try await scene.application(user).sessions()[0]
                let report = try await session.endSession(timeLimit: .milliseconds(20))
                #expect(report.browser.outcome == .notConfirmed)
                #expect(report.browser.address != nil)
                let end = query == nil ? "did not come back within the time limit" : "came back without the state"
                #expect(report.browser.reason?.hasPrefix("the issuer's page \(end)") == true)
            }
        }
    }

    @Test func `a page that is no longer waited for confirms nothing`() async throws {
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let shown = AsyncStream<Void>.makeStream()
            let session = try await scene.application(ReactingUser { _ in shown.continuation.yield() }).sessions()[0]
            let ending = Task { try await session.endSession() }
            for await _ in shown.stream { break }
            ending.cancel()
            let report = try await ending.value
            #expect(report.signOut == .revoked)
            #expect(report.browser.outcome == .notConfirmed)
            #expect(report.browser.reason == "the issuer's page was no longer waited for")
        }
    }

    @Test func `a page that comes back with an error has ended nothing`() async throws {
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let user = ReactingUser { address in
                let sent = parameters(of: address)
                guard let back = sent["post_logout_redirect_uri"], let state = sent["state"] else { return }
                let answer = HTTPRequest("GET", back + "?error=invalid_request&state=\(state)")
                _ = try await SignInScene.transport.send(answer, limits: .issuer)
            }
            let report = try await scene.application(user).sessions()[0].endSession()
            #expect(report.browser.outcome == .notConfirmed)
            #expect(report.browser.reason?.contains("invalid_request") == true)
        }
    }

    @Test(arguments: [0, 2])
    func `an error that repeats the ID token and the state shows neither`(encodings: Int) async throws {
        // On its way it is encoded once more.
        @Sendable func sent(_ text: String) -> String {
            guard encodings > 0 else { return text }
            let once = text.utf8.map { "%" + (String($0, radix: 16)) }.joined()
            return (0..<encodings).reduce(once) { text, _ in text.replacing("%", with: "%25") }
        }
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let user = ReactingUser { address in
                let asked = parameters(of: address)
                guard let back = asked["post_logout_redirect_uri"], let state = asked["state"],
                    let token = asked["id_token_hint"]
                else { return }
                // The token comes last: of a longer text the end is not shown.
                let words = "invalid+state+\(sent(state))+or+token+\(sent(token))"
                let query = "?error=invalid_request&error_description=\(words)&state=\(state)"
                _ = try await SignInScene.transport.send(HTTPRequest("GET", back + query), limits: .issuer)
            }
            let report = try await scene.application(user).sessions()[0].endSession()
            let hidden = "\(Secret(""))"
            let reason = try #require(report.browser.reason)
            #expect(reason.contains("invalid state \(hidden) or token \(hidden)"), "\(reason)")
            // Nothing of the encoded token is left.
            #expect(!reason.contains("%"), "\(reason)")
        }
    }

    @Test func `an issuer without a logout page signs out, and says that it has none`() async throws {
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let account = try await scene.store.accounts().first
            let tenant = try #require(account?.utid)
            let issuer = "\(scene.provider.baseURL)/\(tenant)"
            let metadata = #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#
            scene.provider.faults.add(.answer(body: metadata, at: "metadata", times: nil))
            let report = try await scene.application(AbsentUser()).sessions()[0].endSession()
            #expect(report.signOut == .notOffered)
            #expect(report.browser.outcome == .notOffered)
        }
    }

    @Test func `an app with an address of its own hands the answer in`() async throws {
        try await SignInScene.open { scene in
            _ = try await scene.signIn()
            let application = Mutex<PublicClientApplication?>(nil)
            let user = ReactingUser { address in
                let visitor = try ScriptedBrowser()
                try await visitor.open(address)
                let answer = await visitor.address
                _ = application.withLock { $0?.handle(redirect: answer) }
            }
            let app = try scene.application(user, redirectURI: "msauth.com.example.tokenstore://auth")
            application.withLock { $0 = app }
            let report = try await app.sessions()[0].endSession()
            #expect(report.browser.outcome == .ended)
        }
    }
}

/// A user who is shown both addresses.
private struct StartingUser: UserAgent {
    let react: @Sendable (String, String?) async throws -> Void

    func open(_ address: String) async throws { try await react(address, nil) }

    func open(_ address: String, startingAt start: String?) async throws { try await react(address, start) }
}
