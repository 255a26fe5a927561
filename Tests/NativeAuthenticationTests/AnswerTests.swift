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

/// Answers that repeat what was sent, or that lack or exaggerate something.
struct AnswerTests {
    private static let challenge =
        #""challenge_type":"oob","challenge_channel":"email","continuation_token":"next-token""#

    /// A provider whose answer at one route is made of the form that was sent.
    private struct EchoingTransport: HTTPTransport {
        let route: String
        var status = 200
        let answer: @Sendable ([String: String]) -> String

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            guard request.url.hasSuffix(route) else {
                return try await NativeScene.transport.send(request, limits: limits)
            }
            let form = request.body.map { FormBody.fields($0.reveal()) } ?? [:]
            return HTTPResponse(status: status, body: Secret(answer(form)))
        }
    }

    @Test func `the reason of a redirect is shown without the password and the token`() async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/token") { form in
                let echo = "cannot use \(form["password"] ?? "") with \(form["continuation_token"] ?? "")"
                return #"{"challenge_type":"redirect","redirect_reason":"\#(echo)"}"#
            }
            let app = try scene.app("pwd-app", transport: transport)
            let state = try await app.signIn(SignInParameters(username: NativeScene.ana)).passwordState
            let error = try await failure(of: state.submitPassword, NativeScene.anasPassword)
            #expect(error.isBrowserRequired)
            #expect(error.reason == "cannot use <redacted> with <redacted>")
        }
    }

    @Test func `the target of a code is shown without the token, and shortened`() async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/challenge") { form in
                let label = (form["continuation_token"] ?? "") + String(repeating: "x", count: 100_000)
                return #"{\#(Self.challenge),"challenge_target_label":"\#(label)","code_length":8}"#
            }
            let app = try scene.app(transport: transport)
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(state.delivery.sentTo.hasPrefix("<redacted>xxx"))
            #expect(state.delivery.sentTo.hasSuffix(" [...]"))
            #expect(state.delivery.sentTo.utf8.count < 400)
        }
    }

    @Test func `the names of attributes are shown without the code`() async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/signup/v1.0/continue", status: 400) { form in
                let attributes = #"[{"name":"x\#(form["oob"] ?? "")"}]"#
                let token = #""continuation_token":"next-token""#
                return #"{"error":"attributes_required",\#(token),"required_attributes":\#(attributes)}"#
            }
            let app = try scene.app(transport: transport)
            let state = try await app.signUp(SignUpParameters(username: NativeScene.new)).codeState
            let page = try await state.submitCode(scene.code(to: NativeScene.new)).attributesState
            #expect(page.attributes.map(\.name) == ["x<redacted>"])
        }
    }

    @Test func `the methods of a second factor are shown without the token`() async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/introspect") { form in
                let id = form["continuation_token"] ?? ""
                let method = #"{"id":"\#(id)","challenge_type":"oob","challenge_channel":"sms"}"#
                return #"{"continuation_token":"next-token","methods":[\#(method)]}"#
            }
            let app = try scene.app("mfa-app", transport: transport)
            let parameters = SignInParameters(username: NativeScene.cleo, password: NativeScene.cleosPassword)
            #expect(try await app.signIn(parameters).mfaState.authMethods.map(\.id) == ["<redacted>"])
        }
    }

    @Test(arguments: ["country", "string"])
    func `a refused password that is a word leaves the attributes as they are`(word: String) async throws {
        try await NativeScene.open { scene in
            let start = try await scene.app("pwd-app").signUp(SignUpParameters(username: NativeScene.new)).codeState
            let state = try await start.submitCode(scene.code(to: NativeScene.new)).passwordState
            #expect(try await failure(of: state.submitPassword, Secret(word)).isInvalidPassword)
            let page = try await state.submitPassword(NativeScene.newPassword).attributesState
            #expect(page.attributes.map(\.name) == ["country"])
            #expect(page.attributes.map(\.type) == ["string"])
        }
    }

    @Test func `a wrong password that is a word leaves the channel of a code as it is`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app("mfa-app").signIn(SignInParameters(username: NativeScene.cleo))
                .passwordState
            #expect(try await failure(of: state.submitPassword, Secret("email")).isInvalidPassword)
            let choice = try await state.submitPassword(NativeScene.cleosPassword).mfaState
            let method = try #require(choice.authMethods.first { $0.channelTargetType.isEmailType })
            #expect(try await choice.requestChallenge(method).delivery.channelTargetType.isEmailType)
        }
    }

    @Test func `a malformed address is refused as one, also with a password that is a word of the refusal`()
        async throws
    {
        try await NativeScene.open { scene in
            let parameters = SignUpParameters(username: "nobody", password: Secret("valid"))
            let error = try await failure(of: scene.app("pwd-app").signUp, parameters)
            #expect(error.isInvalidUsername)
            #expect(error.reason == "the issuer answered invalid_request")
        }
    }

    @Test(arguments: ["", #","code_length":null"#, #","code_length":-1"#, #","code_length":1000000000000"#])
    func `a code whose length is not known is not asked for`(length: String) async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/challenge") { _ in
                #"{\#(Self.challenge),"challenge_target_label":"b***o@example.org"\#(length)}"#
            }
            let app = try scene.app(transport: transport)
            let error = try await failure(of: app.signIn, SignInParameters(username: NativeScene.bo))
            #expect(error.reason.contains("does not say where the code went, or how long it is"))
        }
    }

    @Test(
        arguments: [
            (#","interval":30"#, .seconds(30)), (#","interval":-5"#, .zero), (#","interval":1e300"#, .seconds(86_400)),
            ("", nil),
        ] as [(String, Duration?)]
    )
    func `the wait before another code is a time that an app can wait`(text: String, wait: Duration?) async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/challenge") { _ in
                #"{\#(Self.challenge),"challenge_target_label":"b***o@example.org","code_length":8\#(text)}"#
            }
            let app = try scene.app(transport: transport)
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(state.delivery.resendInterval == wait)
        }
    }

    @Test(arguments: [
        (#"{"id_token":"a.b.c"}"#, "the answer has no access token and was refused"), ("{}", "no access token"),
        (#"{"error":"invalid_grant","error_description":"No."}"#, "the issuer answered invalid_grant: No"),
    ])
    func `an answer without tokens is refused for the right reason`(body: String, reason: String) async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.faults.add(.answer(body: body, at: "token"))
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.kind == .generalError)
            #expect(error.reason.contains(reason))
        }
    }

    @Test func `a wrong code that is refused with status 200 can be given again`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            let body = #"{"error":"invalid_grant","suberror":"invalid_oob_value"}"#
            scene.provider.faults.add(.answer(body: body, at: "token"))
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.isInvalidCode)
            _ = try await #require(error.state).submitCode(scene.code()).account
        }
    }

    @Test(arguments: [("-9", 1), ("0", 1), ("5", 5), ("9223372036854775807", 3_600)])
    func `a wait that the issuer asks for is between a second and an hour`(asked: String, seconds: Int64)
        async throws
    {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.faults.add(
                Fault(route: "token") {
                    $0.status = 429
                    $0.retryAfter = asked
                }
            )
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.remedy?.delay == .seconds(seconds))
            #expect(error.description.hasSuffix("try again in \(seconds) s"))
        }
    }

    /// Answers 503, and notes the limits.
    private final class FailingTransport: HTTPTransport {
        private let noted = Mutex<[HTTPLimits]>([])
        var limits: [HTTPLimits] { noted.withLock(\.self) }

        func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
            noted.withLock { $0.append(limits) }
            return HTTPResponse(status: 503)
        }
    }

    @Test func `a repetition has only the time that the first request left`() async throws {
        try await NativeScene.open { scene in
            let transport = FailingTransport()
            let app = try scene.app(transport: transport)
            _ = try await failure(of: app.signIn, SignInParameters(username: NativeScene.bo))
            #expect(transport.limits.count == 2)
            #expect(transport.limits.first?.total == .seconds(60))
            #expect(try #require(transport.limits.last).total <= .seconds(60) - .milliseconds(500))
            #expect(try #require(transport.limits.last).head <= .seconds(60) - .milliseconds(500))
        }
    }

    @Test func `a request is not repeated where no time is left`() async throws {
        try await NativeScene.open { scene in
            let transport = FailingTransport()
            let app = try scene.app(transport: transport) { $0.tokenOptions.limits.total = .milliseconds(500) }
            _ = try await failure(of: app.signIn, SignInParameters(username: NativeScene.bo))
            #expect(transport.limits.count == 1)
            #expect(scene.pauses.all.isEmpty)
        }
    }

    @Test func `a poll that repeats the code and the new password shows neither`() async throws {
        try await NativeScene.open { scene in
            let start = try await scene.app("pwd-app").resetPassword(username: NativeScene.ana)
            let code = try scene.code(to: NativeScene.ana)
            let state = try await start.submitCode(code)
            let text = "Cordillera-8-Sur is banned, and \(code.reveal()) is spent"
            let body = #"{"error":"invalid_grant","suberror":"password_banned","error_description":"\#(text)"}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "resetpassword/poll_completion"))
            let error = try await failure(of: state.submitPassword, Secret("Cordillera-8-Sur"))
            #expect(error.isInvalidPassword)
            #expect(error.reason.hasSuffix("<redacted> is banned, and <redacted> is spent"), "\(error.reason)")
        }
    }

    @Test(arguments: ["continuation_token", "access_token", "refresh_token", "id_token"])
    func `an error that repeats a token of its own answer is shown without it`(name: String) async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            let error = #""error":"invalid_request","error_description":"See own-token-1 for more""#
            scene.provider.faults.add(.answer(body: #"{"\#(name)":"own-token-1",\#(error)}"#, at: "token"))
            let refusal = try await failure(of: state.submitCode, scene.code())
            #expect(refusal.reason.hasSuffix("See <redacted> for more"), "\(refusal.reason)")
        }
    }

    @Test func `a code whose target has a null label goes to its target`() async throws {
        try await NativeScene.open { scene in
            let transport = EchoingTransport(route: "/challenge") { _ in
                let target = #""challenge_target_label":null,"challenge_target":"b***o@example.org""#
                return #"{\#(Self.challenge),\#(target),"code_length":8}"#
            }
            let app = try scene.app(transport: transport)
            let state = try await app.signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(state.delivery.sentTo == "b***o@example.org")
        }
    }
}
