import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct SignUpTests {
    private static let country: JSONValue.Object = .init([("country", "Ecuador")])
    private static let city: JSONValue.Object = .init([("city", "Loja")])
    private static let both: JSONValue.Object = .init([("country", "Ecuador"), ("city", "Loja")])

    private func start(_ scene: NativeScene, _ client: String = "pwd-app") async throws -> SignUpCodeRequiredState {
        try await scene.app(client).signUp(SignUpParameters(username: NativeScene.new)).codeState
    }

    private func passwordStep(_ scene: NativeScene) async throws -> SignUpPasswordRequiredState {
        try await start(scene).submitCode(scene.code(to: NativeScene.new)).passwordState
    }

    private func countryPage(_ scene: NativeScene) async throws -> SignUpAttributesRequiredState {
        try await passwordStep(scene).submitPassword(NativeScene.newPassword).attributesState
    }

    @Test func `N16, S66, S68: a code makes an account without a password`() async throws {
        try await NativeScene.open { scene in
            let state = try await start(scene, "otp-app")
            #expect(state.delivery.codeLength == 8)
            #expect(state.delivery.channelTargetType.isEmailType)
            _ = try await state.submitCode(scene.code(to: NativeScene.new)).done
            #expect(try scene.isUntouched)
            _ = try await scene.app("pwd-app").signIn(SignInParameters(username: NativeScene.new)).codeState
        }
    }

    @Test func `N17, S77: a sign-up signs in without another prompt`() async throws {
        try await NativeScene.open { scene in
            let recorder = RecordingTransport()
            let app = try scene.app(transport: recorder)
            let state = try await app.signUp(SignUpParameters(username: NativeScene.new)).codeState
            let done = try await state.submitCode(scene.code(to: NativeScene.new)).done
            let account = try await done.signIn(scope: NativeScene.toDo).account
            #expect(account.account.username == NativeScene.new)
            #expect(scene.messages == 1)
            let sent = try #require(recorder.texts.last { $0.contains("scope=") })
            #expect(sent.contains("grant_type=continuation_token"))
            #expect(sent.contains("username=eva.mora"))
            #expect(try await account.accessToken().accessToken.scope == NativeScene.toDo)
        }
    }

    @Test func `N18: a sign-up that ended without a token allows a normal sign-in`() async throws {
        try await NativeScene.open { scene in
            scene.provider.faults.add(.answer(body: "{}", at: "signup/continue", takesEffect: true))
            let done = try await start(scene, "otp-app").submitCode(scene.code(to: NativeScene.new)).done
            scene.provider.audit.reset()
            let error = try await failure { () throws(SignInAfterSignUpError) in try await done.signIn() }
            #expect(error.kind == .generalError)
            #expect(error.description.hasSuffix("sign in as usual"))
            #expect(scene.provider.audit.counts.isEmpty)
            _ = try await scene.app().signIn(SignInParameters(username: NativeScene.new)).codeState
        }
    }

    @Test(arguments: [
        Fault.status(500, at: "token"), .tooManyRequests(seconds: 5, at: "token"), .lostResponse(at: "token"),
    ])
    func `an outage after a sign-up does not advise another sign-up`(fault: Fault) async throws {
        try await NativeScene.open { scene in
            let done = try await start(scene, "otp-app").submitCode(scene.code(to: NativeScene.new)).done
            scene.provider.faults.add(fault)
            let error = try await failure { () throws(SignInAfterSignUpError) in try await done.signIn() }
            #expect(error.remedy == .signIn("the account exists, sign in as usual"))
        }
    }

    @Test func `N19, S70: a password and attributes at the start leave a code to enter`() async throws {
        try await NativeScene.open { scene in
            let parameters = SignUpParameters(
                username: NativeScene.new,
                password: NativeScene.newPassword,
                attributes: Self.both
            )
            let app = try scene.app("pwd-app")
            let state = try await app.signUp(parameters).codeState
            _ = try await state.submitCode(scene.code(to: NativeScene.new)).done
            #expect(scene.messages == 1)
            let signIn = SignInParameters(username: NativeScene.new, password: NativeScene.newPassword)
            _ = try await app.signIn(signIn).account
        }
    }

    @Test func `N20, S72, S74: a sign-up with only a name asks for each page in turn`() async throws {
        try await NativeScene.open { scene in
            let country = try await countryPage(scene)
            #expect(country.attributes.map(\.name) == ["country"])
            let city = try await country.submitAttributes(Self.country).attributesState
            #expect(city.attributes.map(\.name) == ["city"])
            let done = try await city.submitAttributes(Self.city).done
            #expect(scene.requests["signup/challenge"] == 2)
            #expect(scene.messages == 1)
            _ = try await done.signIn().account
        }
    }

    @Test func `N21, S73: attributes that were left out are asked for again`() async throws {
        try await NativeScene.open { scene in
            let page = try await countryPage(scene)
            let again = try await page.submitAttributes(.init([("jobTitle", "Baker")])).attributesState
            #expect(again.attributes == page.attributes)
            _ = try await again.submitAttributes(Self.both).done
        }
    }

    @Test func `N22, S73: refused values are named, and the state stays good`() async throws {
        try await NativeScene.open { scene in
            let page = try await countryPage(scene)
            guard
                case .attributesInvalid(let names, let state) = try await page.submitAttributes(
                    .init([("country", "1")])
                )
            else {
                Issue.record("the value was taken")
                return
            }
            #expect(names == ["country"])
            _ = try await state.submitAttributes(Self.both).done
        }
    }

    @Test func `N23, S71: values refused at the start are named, and no code is sent`() async throws {
        try await NativeScene.open { scene in
            let parameters = SignUpParameters(username: NativeScene.new, attributes: .init([("country", "1")]))
            guard case .attributesInvalid(let names) = try await scene.app("pwd-app").signUp(parameters) else {
                Issue.record("the value was taken")
                return
            }
            #expect(names == ["country"])
            #expect(scene.messages == 0)
        }
    }

    @Test func `N24, S75: an address that is in use has its own error`() async throws {
        try await NativeScene.open { scene in
            let error = try await failure(of: scene.app("pwd-app").signUp, SignUpParameters(username: NativeScene.ana))
            #expect(error.isUserAlreadyExists)
            #expect(error.errorCodes == [1_003_037])
        }
    }

    @Test(arguments: ["nobody", "@example.org", "two words@example.org"])
    func `N25, S75: a malformed address has its own error`(username: String) async throws {
        try await NativeScene.open { scene in
            let error = try await failure(of: scene.app("pwd-app").signUp, SignUpParameters(username: username))
            #expect(error.isInvalidUsername)
            #expect(error.errorCodes == [90100])
        }
    }

    @Test(arguments: [
        ("Ab1!", "password_too_short"), ("Aa1!" + String(repeating: "x", count: 300), "password_too_long"),
        ("aaaaaaaaaa", "password_too_weak"), ("Contraseña-1", "password_is_invalid"), ("Eva.Mora-1", "password_banned"),
    ])
    func `N26, S75: a refused password has an error with the reason`(password: String, reason: String)
        async throws
    {
        try await NativeScene.open { scene in
            let parameters = SignUpParameters(username: NativeScene.new, password: Secret(password))
            let error = try await failure(of: scene.app("pwd-app").signUp, parameters)
            #expect(error.isInvalidPassword)
            #expect(error.suberror == reason)
            #expect(scene.messages == 0)
        }
    }

    @Test func `N27: a weak password leaves the state good for a better one`() async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            let error = try await failure(of: state.submitPassword, Secret("aaaaaaaaaa"))
            #expect(error.isInvalidPassword)
            #expect(error.suberror == "password_too_weak")
            scene.provider.audit.reset()
            #expect(try await failure(of: state.submitPassword, Secret("")).state != nil)
            #expect(scene.provider.audit.counts.isEmpty)
            _ = try await #require(error.state).submitPassword(NativeScene.newPassword).attributesState
        }
    }

    @Test func `N28, S78: each required attribute is described`() async throws {
        try await NativeScene.open { scene in
            let country = try #require(try await countryPage(scene).attributes.first)
            #expect(country.name == "country")
            #expect(country.type == "string")
            #expect(country.required)
            #expect(country.regex == "^[A-Za-z ]{2,60}$")
            #expect(country.accepts("Ecuador"))
            #expect(!country.accepts("1"))
        }
    }

    @Test func `S58, S76: after a wrong code and a resend the right code is accepted`() async throws {
        try await NativeScene.open { scene in
            let state = try await start(scene, "otp-app")
            let error = try await failure(of: state.submitCode, scene.wrongCode(to: NativeScene.new))
            #expect(error.isInvalidCode)
            #expect(try await failure(of: state.submitCode, Secret("")).isInvalidCode)
            let again = try await #require(error.state).resendCode()
            #expect(scene.messages == 2)
            _ = try await again.submitCode(scene.code(to: NativeScene.new)).done
        }
    }

    @Test(arguments: ["", " "])
    func `S67: a blank username or an empty password is refused without a request`(username: String) async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app")
            #expect(try await failure(of: app.signUp, SignUpParameters(username: username)).isInvalidUsername)
            let parameters = SignUpParameters(username: NativeScene.new, password: Secret(""))
            #expect(try await failure(of: app.signUp, parameters).isInvalidPassword)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N75: attributes that are not JSON are refused without a request`() async throws {
        try await NativeScene.open { scene in
            let attributes = JSONValue.Object([("country", .number("NaN"))])
            let parameters = SignUpParameters(username: NativeScene.new, attributes: attributes)
            let error = try await failure(of: scene.app("pwd-app").signUp, parameters)
            #expect(error.kind == .generalError)
            #expect(error.description.contains("JSON"))
            #expect(scene.provider.audit.counts.isEmpty)
            let page = try await countryPage(scene)
            scene.provider.audit.reset()
            #expect(try await failure(of: page.submitAttributes, attributes).state != nil)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }
}
