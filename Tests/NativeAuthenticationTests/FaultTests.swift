import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import Testing
import TokenManagement
import TokenStorage

struct FaultTests {
    private static let redirect = #"{"challenge_type":"redirect","redirect_reason":"The tenant says so."}"#

    @Test func `N57, D1: a sign-up that must go on in the browser is not completed`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signUp(SignUpParameters(username: NativeScene.new)).codeState
            scene.provider.faults.add(.answer(body: Self.redirect, at: "signup/continue"))
            let error = try await failure(of: state.submitCode, scene.code(to: NativeScene.new))
            #expect(error.isBrowserRequired)
            #expect(error.reason == "The tenant says so.")
            #expect(error.state == nil)
            #expect(error.browserRequest?.prompt == .create)
        }
    }

    @Test func `N58, D11: a request that is safe to repeat is repeated once`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app()
            scene.provider.faults.add(.status(503, at: "initiate"))
            _ = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(scene.requests["initiate"] == 2)
            #expect(scene.pauses.all == [.milliseconds(500)])
            scene.provider.faults.add(.status(503, at: "initiate", times: 2))
            let error = try await failure(of: app.signIn, SignInParameters(username: NativeScene.bo))
            #expect(error.kind == .generalError)
            #expect(error.underlyingError is IssuerUnavailable)
        }
    }

    @Test func `a transport's own error counts as a broken connection`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app(transport: FailingTransport())
            _ = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(scene.requests["initiate"] == 1)
            #expect(scene.pauses.all == [.milliseconds(500)])
        }
    }

    /// Fails the first request in words of its own.
    private final class FailingTransport: HTTPTransport {
        private struct OwnError: Error {}

        private let isFirst = LockedValue(true)

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            let fails = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if fails { throw OwnError() }
            return try await NativeScene.transport.send(request, limits: limits)
        }
    }

    @Test(arguments: ["challenge", "token"])
    func `N58, D11: a request that sends a code or spends a token is not repeated`(route: String) async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.audit.reset()
            scene.provider.faults.add(.status(503, at: route))
            if route == "token" {
                #expect(try await failure(of: state.submitCode, scene.code()).state != nil)
            } else {
                let error = try await failure {
                    () throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>) in try await state.resendCode()
                }
                #expect(error.state != nil)
            }
            #expect(scene.requests[route] == 1)
            _ = try await state.submitCode(scene.code()).account
        }
    }

    @Test func `N58: a refresh whose answer was lost does not end the session`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            scene.provider.faults.add(.status(503, at: "token", takesEffect: true))
            await #expect(throws: Never.self) { try await account.accessToken(for: NativeScene.toDo) }
            await #expect(throws: Never.self) { try await account.accessToken(for: NativeScene.demo) }
        }
    }

    @Test func `N59: an unknown error code is a general error that keeps its text`() async throws {
        try await NativeScene.open { scene in
            let body =
                #"{"error":"brand_new","suberror":"newer_still","error_description":"It rains.","error_uri":"https://e.example"}"#
            let app = try scene.app()
            for route in ["initiate", "challenge"] {
                scene.provider.faults.add(.answer(status: 400, body: body, at: route))
                let error = try await failure(of: app.signIn, SignInParameters(username: NativeScene.bo))
                #expect(error.kind == .generalError)
                #expect(error.description.contains("It rains"))
                #expect(error.errorURI == "https://e.example")
                #expect(error.suberror == "newer_still")
            }
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.faults.add(.answer(status: 401, body: body, at: "token"))
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.kind == .generalError)
            #expect(error.description.contains("It rains"))
            _ = try await #require(error.state).submitCode(scene.code()).account
        }
    }

    @Test(arguments: [
        Fault.html(at: "initiate", times: 2), .answer(body: "[]", at: "initiate"), .answer(body: "{}", at: "initiate"),
        .answer(body: #"{"continuation_token":""}"#, at: "initiate"), .emptyBadRequest(at: "initiate"),
        .status(403, at: "initiate"), .status(404, at: "initiate"), .truncatedBody(at: "initiate", times: 2),
        .lostResponse(at: "initiate", times: 2), .tooManyRequests(seconds: 5, at: "initiate"),
    ])
    func `N59: an answer that cannot be used is a general error`(fault: Fault) async throws {
        try await NativeScene.open { scene in
            scene.provider.faults.add(fault)
            let error = try await failure(of: scene.app().signIn, SignInParameters(username: NativeScene.bo))
            #expect(error.kind == .generalError)
            #expect(!error.reason.isEmpty)
            #expect(error.remedy != nil)
        }
    }

    @Test func `N60: a state of one client does not work with another client`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            let other = try await scene.app("mfa-app").signIn(SignInParameters(username: NativeScene.bo)).codeState
            // Each flow has its own codes; the older code is good in the older flow.
            let codes = scene.provider.outbox.messages(to: NativeScene.bo).map { Secret($0.code) }
            if codes[0] != codes[1] {
                #expect(try await failure(of: other.submitCode, codes[0]).isInvalidCode)
                #expect(try await failure(of: state.submitCode, codes[1]).isInvalidCode)
            }
            _ = try await state.submitCode(codes[0]).account
        }
    }

    @Test func `N61: a state that has succeeded does not work again`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app()
            let state = try await app.signUp(SignUpParameters(username: NativeScene.new)).codeState
            let code = try scene.code(to: NativeScene.new)
            _ = try await state.submitCode(code).done
            let error = try await failure(of: state.submitCode, code)
            #expect(error.kind == .generalError)
            #expect(error.errorCodes == [55200])
            #expect(error.state == nil)
        }
    }

    @Test(arguments: Fault.IDTokenFlaw.allCases.filter { $0 != .nonce })
    func `N70: an invalid ID token signs no user in, and its session is revoked`(
        flaw: Fault.IDTokenFlaw
    ) async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.faults.add(.wrongIDToken(flaw))
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.underlyingError is OpenIDConnect.IDTokenFlaw)
            #expect(error.state == nil)
            #expect(try scene.isUntouched)
            #expect(scene.requests["revoke"] == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a cancelled sign-in leaves nothing in the store or at the issuer`(isEarly: Bool) async throws {
        try await NativeScene.open { scene in
            let transport = CancellingTransport(isEarly: isEarly)
            // The machine that runs the tests may be busy with others.
            let app = try scene.app(transport: transport) { $0.patience = .seconds(60) }
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            let code = try scene.code()
            let isReady = AsyncStream<Void>.makeStream()
            let signIn = Task<NativeAuthUserAccount, any Error> {
                for await _ in isReady.stream {}
                return try await state.submitCode(code).account
            }
            transport.signIn.withLock { $0 = signIn }
            isReady.continuation.finish()
            let outcome = await signIn.result
            let error = #expect(throws: StepError<VerifyCodeErrorKind, SignInCodeRequiredState>.self) {
                try outcome.get()
            }
            #expect(error?.underlyingError is CancellationError)
            #expect(try scene.isUntouched)
            #expect(scene.requests["revoke"] == 1)
        }
    }

    /// Calls the sign-in off while the request for tokens is under way, or as soon as there are tokens.
    private final class CancellingTransport: HTTPTransport {
        let signIn = LockedValue<Task<NativeAuthUserAccount, any Error>?>(nil)
        private let isEarly: Bool

        init(isEarly: Bool) { self.isEarly = isEarly }

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            let isForTokens = request.url.hasSuffix("/token")
            if isForTokens, isEarly { signIn.withLock(\.self)?.cancel() }
            let response = try await NativeScene.transport.send(request, limits: limits)
            if isForTokens, !isEarly { signIn.withLock(\.self)?.cancel() }
            return response
        }
    }

    @Test func `tokens that no store takes are revoked`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app(transport: OtherUserTransport())
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            let error = try await failure(of: state.submitCode, scene.code())
            #expect((error.underlyingError as? TokenStoreError)?.code == .otherAccount)
            #expect(try scene.isUntouched)
            #expect(scene.requests["revoke"] == 1)
        }
    }

    /// Has the tokens come with a `client_info` of another user than that of the ID token.
    private struct OtherUserTransport: HTTPTransport {
        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            let response = try await NativeScene.transport.send(request, limits: limits)
            guard request.url.hasSuffix("/token"), var object = try JSONValue(parsing: response.body.reveal()).object
            else { return response }
            let info = Base64URL.encode(#"{"uid":"another","utid":"5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"}"#.utf8)
            object["client_info"] = .string(info)
            let body = Secret(JSONValue.object(object).serialized)
            return HTTPResponse(status: response.status, headers: response.headers, body: body)
        }
    }

    @Test func `a store that cannot be written is an error before tokens are requested`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app(store: .deferred(at: StorePath("/dev/null/tokenstore.db")))
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            let error = try await failure(of: state.submitCode, scene.code())
            #expect((error.underlyingError as? TokenStoreError)?.code == .file)
            #expect(scene.provider.audit.count(of: "token") == 0)
        }
    }

    @Test func `a flow continues in the browser with the same parameters`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app") {
                $0.challengeTypes = .oob
                $0.redirectURI = .anyPort
            }
            let parameters = SignInParameters(username: NativeScene.ana, scope: NativeScene.toDo)
            let error = try await failure(of: app.signIn, parameters)
            let account = try await app.signIn(inBrowser: #require(error.browserRequest), userAgent: Person())
            #expect(account.account.username == NativeScene.ana)
            #expect(try await app.currentAccount()?.account.id == account.account.id)
            #expect(try await account.accessToken().accessToken.scope == NativeScene.toDo)
        }
    }

    /// A user who opens the page and signs in there.
    private struct Person: UserAgent {
        func open(_ address: String) async throws {
            let visitor = try ScriptedBrowser()
            try await visitor.open(address)
            try await visitor.signIn(NativeScene.ana, NativeScene.anasPassword.reveal())
        }
    }
}
