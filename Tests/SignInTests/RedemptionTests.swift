import Crypto
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

@testable import SignIn

/// An answer that comes twice: an issuer that is sent its code again ends the session that it brought.
@Suite(.onBothEngines)
struct RedemptionTests {
    /// Reaches the token endpoint only when a test lets it.
    private final class Line: HTTPTransport {
        let isCut = LockedValue(true)

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            if request.url.hasSuffix("/token"), isCut.withLock(\.self) {
                throw HTTPTransportError.notConnected(host: "localhost", reason: "cut")
            }
            return try await SignInScene.transport.send(request, limits: limits)
        }
    }

    @Test func `an answer that comes again at another process is the account it signed in`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let pending = try PendingAuthorization(secret)
            let first = try await WebAppTests.application(scene).finishSignIn(pending, answer: answer)
            let again = try await WebAppTests.application(scene).finishSignIn(pending, answer: answer)
            #expect(again.account == first.account)
            #expect(again.idToken == first.idToken)
            #expect(again.accessToken?.secret == first.accessToken?.secret)
            #expect(again.token?.source == .cache)
            #expect(scene.tokenRequestCount == 1)
            // The session goes on, which the code's coming twice would have ended.
            var request = SilentRequest(account: first.account.id, scope: SignInScene.toDo)
            request.forcesRefresh = true
            #expect(try await WebAppTests.application(scene).acquireTokenSilently(request).source == .refresh)
        }
    }

    @Test func `of several that come at once one is redeemed, and the others wait for it`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let accounts = try await withThrowingTaskGroup(of: Account.ID.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let application = try WebAppTests.application(scene)
                        let pending = try PendingAuthorization(secret)
                        return try await application.finishSignIn(pending, answer: answer).account.id
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(accounts.count == 1)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `one that was refused, or whose account is gone, is not sent again`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let (application, pending) = (try WebAppTests.application(scene), try PendingAuthorization(secret))
            func error(_ answer: String) async throws -> SignInError? {
                try await signInError { _ = try await application.finishSignIn(pending, answer: answer) }
            }
            let account = try await application.finishSignIn(pending, answer: answer).account
            // Another code is perhaps another person's.
            let other = answer.replacing(#/code=[^&]*/#, with: "code=another")
            #expect(try await error(other) == .invalidAnswer("was used before"))
            try await application.remove(account)
            #expect(try await error(answer) == .invalidAnswer("was used before"))
            #expect(scene.tokenRequestCount == 1)
            // That of a later sign-in is not what this answer brought.
            let (later, itsAnswer) = try await WebAppTests.begin(scene)
            _ = try await application.finishSignIn(PendingAuthorization(later), answer: itsAnswer)
            #expect(try await error(answer) == .invalidAnswer("was used before"))
            let next = try PendingAuthorization(try await WebAppTests.begin(scene).secret)
            let wrong = answer.replacing(#/state=[^&]*/#, with: "state=" + (try state(of: next)))
            let refused = try await signInError { _ = try await application.finishSignIn(next, answer: wrong) }
            #expect(refused?.refusal?.code == .invalidGrant)
            let again = try await signInError { _ = try await application.finishSignIn(next, answer: wrong) }
            #expect(again == .invalidAnswer("was used before"))
            #expect(scene.tokenRequestCount == 3)
        }
    }

    @Test func `one whose process died counts as used after a minute`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let pending = try PendingAuthorization(secret)
            let dead = Redemption(of: pending, in: scene.store)
            #expect(try await dead.begin(Secret(FormText.fields(answer)["code"] ?? "")) == nil)
            scene.provider.clock.advance(by: 61)
            let error = try await signInError {
                _ = try await WebAppTests.application(scene).finishSignIn(pending, answer: answer)
            }
            #expect(error == .invalidAnswer("was used before"))
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `one that the issuer put off may be redeemed later`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let (application, pending) = (try WebAppTests.application(scene), try PendingAuthorization(secret))
            scene.provider.faults.add(.answer(status: 429, body: "", at: "token"))
            let error = try await signInError { _ = try await application.finishSignIn(pending, answer: answer) }
            #expect(error?.code == .unavailable)
            #expect(try await application.finishSignIn(pending, answer: answer).account.name == "Ana Rojas")
        }
    }

    @Test func `one that reached no issuer may be redeemed later`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let (line, pending) = (Line(), try PendingAuthorization(secret))
            let redirectURI = WebAppTests.redirectURI
            let application = try scene.application(AbsentUser(), redirectURI: redirectURI, transport: line)
            let error = try await signInError { _ = try await application.finishSignIn(pending, answer: answer) }
            #expect(error?.networkError?.code == .notConnected)
            line.isCut.withLock { $0 = false }
            #expect(try await application.finishSignIn(pending, answer: answer).account.name == "Ana Rojas")
        }
    }

    @Test func `what is kept of it until its end is no secret`() async throws {
        try await SignInScene.open { scene in
            let (secret, answer) = try await WebAppTests.begin(scene)
            let (application, pending) = (try WebAppTests.application(scene), try PendingAuthorization(secret))
            let account = try await application.finishSignIn(pending, answer: answer).account.id
            let (state, code) = (try state(of: pending), FormText.fields(answer)["code"] ?? "")
            let name = "signed in: " + Base64URL.encode(SHA256.hash(data: Array(state.utf8)))
            let kept = try await scene.store.performRead { try $0.issuerDocument(name) }
            let text = JSONValue.object(try #require(kept)).serialized
            #expect(text.contains(account.homeAccountID))
            #expect(!text.contains(state))
            #expect(!text.contains(code))
            scene.provider.clock.advance(by: 361)
            #expect(try await scene.store.performRead { try $0.issuerDocument(name) } == nil)
        }
    }

    private func state(of pending: PendingAuthorization) throws -> String {
        let members = try #require(JSONValue(parsing: pending.secret.reveal()).object)
        return try #require(members["state"]?.text)
    }
}
