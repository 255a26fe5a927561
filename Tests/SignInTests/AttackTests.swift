import Foundation
import HTTPTransport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import TestSupport
import Testing
import TokenStorage

/// Answers that are not the answer: each ends in an error that says so, and stores nothing.
struct AttackTests {
    private static let request = InteractiveRequest(scope: SignInScene.toDo)

    private static let redirectURI = "msauth.com.example.tokenstore://auth"

    /// The error of a sign-in whose answer goes through `change`, having made sure that nothing was stored.
    private static func attack(
        _ scene: SignInScene,
        _ change: @escaping @Sendable (inout [String: String]) -> Void
    ) async throws -> SignInError? {
        let visitor = try ScriptedBrowser()
        let application = Mutex<PublicClientApplication?>(nil)
        let user = try ScriptedUser(visitor) { visitor in
            try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            var answer = parameters(of: await visitor.address)
            change(&answer)
            let query = answer.map { "\($0)=\(FormText.encoded($1))" }.joined(separator: "&")
            let own = application.withLock(\.self)
            #expect(own?.handle(redirect: "\(redirectURI)?\(query)") == true)
        }
        let own = try scene.application(user, redirectURI: redirectURI)
        application.withLock { $0 = own }
        let error = try await signInError { _ = try await own.acquireToken(request) }
        #expect(try scene.isUntouched)
        return error
    }

    @Test func `N64: an answer with a wrong state or none is refused, the sign-in continues`() async throws {
        try await SignInScene.open { scene in
            let application = Mutex<PublicClientApplication?>(nil)
            let user = try ScriptedUser { visitor in
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
                let own = application.withLock(\.self)
                for query in ["code=x&state=another", "error=access_denied&state=", "code=x", "state=%zz", "error=x"] {
                    #expect(own?.handle(redirect: "\(Self.redirectURI)?\(query)") == false)
                }
                #expect(own?.handle(redirect: await visitor.address) == true)
            }
            let own = try scene.application(user, redirectURI: Self.redirectURI)
            application.withLock { $0 = own }
            #expect(try await own.acquireToken(Self.request).account.name == "Ana Rojas")
        }
    }

    @Test func `an answer to another request is reported when no other comes in time`() async throws {
        try await SignInScene.open { scene in
            var request = Self.request
            request.timeLimit = .milliseconds(200)
            let application = Mutex<PublicClientApplication?>(nil)
            let agent = ReactingUser { _ in
                let own = application.withLock(\.self)
                #expect(own?.handle(redirect: "\(Self.redirectURI)?code=x&state=another") == false)
            }
            let own = try scene.application(agent, redirectURI: Self.redirectURI)
            application.withLock { $0 = own }
            let error = try await signInError { _ = try await own.acquireToken(request) }
            #expect(error == .stateMismatch)
            #expect(scene.tokenRequestCount == 0)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `an answer of another issuer is refused before its code is sent anywhere`() async throws {
        try await SignInScene.open { scene in
            let error = try await Self.attack(scene) { $0["iss"] = "https://other.example" }
            guard error?.code == .otherIssuer, error?.foundIssuer == "https://other.example" else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `an answer without a code is refused`() async throws {
        try await SignInScene.open { scene in
            let error = try await Self.attack(scene) { $0["code"] = nil }
            guard error?.code == .invalidAnswer else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `a code from another flow is refused by its proof key`() async throws {
        try await SignInScene.open { scene in
            // The code of a flow that the attacker began, in the answer to ours.
            let other = try ScriptedBrowser()
            let challenge = String(repeating: "A", count: 43)
            try await other.open(
                "\(try scene.authority().url)/oauth2/v2.0/authorize?client_id=b2c-app&response_type=code&state=s"
                    + "&nonce=n&scope=openid%20offline_access&code_challenge_method=S256&code_challenge=\(challenge)"
                    + "&redirect_uri=msauth.com.example.tokenstore%3A%2F%2Fauth"
            )
            try await other.signIn(SignInScene.cleo, SignInScene.cleosPassword)
            let code = parameters(of: await other.address)["code"]
            #expect(code != nil)
            let error = try await Self.attack(scene) { $0["code"] = code }
            guard let refusal = error?.refusal else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.code == .invalidGrant)
        }
    }

    @Test(arguments: Fault.IDTokenFlaw.allCases)
    func `N70: an invalid ID token is refused and not stored`(flaw: Fault.IDTokenFlaw) async throws {
        try await SignInScene.open { scene in
            scene.provider.faults.add(.wrongIDToken(flaw))
            let error = try await signInError { _ = try await scene.signIn() }
            guard error?.code == .invalidIDToken else {
                Issue.record("\(String(describing: error))")
                return
            }
            // What came with it is given back.
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `a refused sign-in makes no store, and its refresh token is revoked`() async throws {
        try await SignInScene.open { scene in
            let directory = try TemporaryDirectory()
            var options = StoreOptions()
            options.now = scene.store.options.now
            let file = directory.file("tokenstore.db")
            let store = TokenStore.deferred(at: StorePath(file), options: options)
            let user = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
            scene.provider.faults.add(.wrongIDToken(.signature))
            let application = try scene.application(user, store: store)
            let error = try await signInError { _ = try await application.acquireToken(Self.request) }
            #expect(error?.code == .invalidIDToken)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func `tokens that no store takes are revoked`() async throws {
        try await SignInScene.open { scene in
            let user = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
            let info = Base64URL.encode(#"{"uid":"another","utid":"5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"}"#.utf8)
            let forged = ChangedAnswers(SignInScene.transport) { request, answer in
                if request.url.hasSuffix("/token") { answer["client_info"] = .string(info) }
            }
            let application = try scene.application(user, transport: forged)
            let error = await #expect(throws: TokenStoreError.self) {
                try await application.acquireToken(Self.request)
            }
            #expect(error?.code == .otherAccount)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `a replayed redirect does not answer the next sign-in`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            let first = try await scene.signIn(in: visitor)
            let old = await visitor.address
            let status = Mutex(0)
            let agent = ReactingUser { address in
                let place = parameters(of: address)["redirect_uri"] ?? ""
                let query = old.split(separator: "?", maxSplits: 1).last ?? ""
                let replay = HTTPRequest("GET", "\(place)?\(query)")
                let response = try await SignInScene.transport.send(replay, limits: .issuer)
                status.withLock { $0 = response.status }
                try await visitor.open(address)
            }
            let second = try await scene.application(agent).acquireToken(Self.request)
            #expect(status.withLock(\.self) == 400)
            #expect(second.account.id == first.account.id)
            #expect(scene.tokenRequestCount == 2)
        }
    }

    @Test func `of two answers the first counts and the second gets an error page`() async throws {
        try await SignInScene.open { scene in
            let statuses = Mutex<[Int]>([])
            let agent = ReactingUser { address in
                let sent = parameters(of: address)
                let place = sent["redirect_uri"] ?? ""
                let answers = [
                    "error=access_denied&state=\(sent["state"] ?? "")", "code=injected&state=\(sent["state"] ?? "")",
                ]
                for answer in answers {
                    let response = try await SignInScene.transport.send(
                        HTTPRequest("GET", "\(place)?\(answer)"),
                        limits: .issuer
                    )
                    statuses.withLock { $0.append(response.status) }
                }
            }
            let error = try await signInError { _ = try await scene.application(agent).acquireToken(Self.request) }
            #expect(error == .cancelled)
            #expect(statuses.withLock(\.self) == [200, 410])
            #expect(scene.tokenRequestCount == 0)
            #expect(try scene.isUntouched)
        }
    }

    @Test func `a repeated parameter is refused`() async throws {
        try await SignInScene.open { scene in
            let agent = ReactingUser { address in
                let sent = parameters(of: address)
                let state = sent["state"] ?? ""
                let target = "\(sent["redirect_uri"] ?? "")?code=one&state=\(state)&code=two"
                _ = try await SignInScene.transport.send(HTTPRequest("GET", target), limits: .issuer)
            }
            let error = try await signInError { _ = try await scene.application(agent).acquireToken(Self.request) }
            #expect(error == .invalidAnswer("has a parameter twice"))
            #expect(scene.tokenRequestCount == 0)
            #expect(try scene.isUntouched)
        }
    }
}
