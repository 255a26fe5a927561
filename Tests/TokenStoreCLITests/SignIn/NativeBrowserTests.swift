import Foundation
import IssuerSupport
import LocalIdentityProvider
import TestSupport
import TestTraits
import Testing

/// What cannot be done without a browser after all.
@Suite(.onWaitingThreads)
struct NativeBrowserTests {
    @Test(arguments: ["use_dpop_nonce", "invalid_dpop_proof"])
    func `where the issuer binds tokens to a key, the command is named that shows one`(refusal: String) async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.answer(status: 400, body: #"{"error":"\#(refusal)"}"#, at: "token"))
            let person = NativeLoginScene.ana
            let password = NativeLoginScene.anasPassword
            let outcome = try await scene.script("login", "pwd-app", "--username", person, passwords: [password])
            #expect(outcome.status == 1)
            let command = "tokenstore login --authority \(scene.authority) --client-id pwd-app --login-hint \(person)"
            #expect(outcome.error.contains("; sign in with '\(command) --dpop"), "\(outcome.error)")
        }
    }

    @Test func `an answer with a password in its scope shows and keeps none`() async throws {
        try await NativeLoginScene.open { scene in
            let password = NativeLoginScene.anasPassword
            let body = #"{"access_token":"at","token_type":"Bearer","expires_in":3600,"scope":"read \#(password)"}"#
            scene.provider.faults.add(.answer(body: body, at: "token"))
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--log-level",
                "trace",
                passwords: [password]
            )
            #expect(!(outcome.output + outcome.error).contains(password), "\(outcome.error)")
            for name in try scene.scene.scratch.names where name.hasPrefix("tokenstore.") {
                let bytes = try scene.scene.scratch.contents(name)
                #expect(!bytes.holds(Data(password.utf8)), "\(name)")
            }
        }
    }

    @Test func `a script gets the command that continues in a browser`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--challenge-types",
                "oob",
                "--scope",
                LoginScene.scope,
                passwords: ["x"]
            )
            #expect(outcome.status == 4)
            #expect(
                outcome.error == """
                    tokenstore: error: The user signs in with password; go on in a browser: tokenstore login --authority \
                    \(scene.authority) --client-id pwd-app --login-hint \(NativeLoginScene.ana) --scope \(LoginScene.scope)

                    """
            )
            let signUp = try await scene.script(
                "signup",
                "pwd-app",
                "--username",
                NativeLoginScene.dana,
                "--challenge-types",
                "oob",
                passwords: ["x"]
            )
            #expect(signUp.status == 4, "\(signUp.error)")
            #expect(signUp.error.contains("--prompt create"), "\(signUp.error)")
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `where consent is due, the sign-in continues in a browser`() async throws {
        try await NativeLoginScene.open { scene in
            let body = #"{"error":"invalid_grant","suberror":"consent_required","error_description":"Consent."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--scope",
                LoginScene.scope,
                passwords: [NativeLoginScene.anasPassword]
            )
            #expect(outcome.status == 4)
            #expect(
                outcome.error.hasSuffix(
                    "Consent; go on in a browser: tokenstore login --authority \(scene.authority) --client-id pwd-app "
                        + "--login-hint \(NativeLoginScene.ana) --scope \(LoginScene.scope)\n"
                ),
                "\(outcome.error)"
            )
        }
    }

    @Test func `where consent is due after a sign-up, the browser comes next`() async throws {
        try await NativeLoginScene.open { scene in
            let scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            let person = NativeLoginScene.dana
            let outcome = try await scene.script("signup", "otp-app", "--username", person, "--scope", scope) {
                pipe,
                isOver in
                try await scene.sendCode(1, to: person, pipe, isOver)
            }
            #expect(outcome.status == 4, "\(outcome.error)")
            #expect(
                outcome.error.hasSuffix(
                    "Sign in interactively; go on in a browser: tokenstore login --authority \(scene.authority) "
                        + "--client-id otp-app --login-hint \(person) --scope \(scope)\n"
                ),
                "\(outcome.error)"
            )
        }
    }

    @Test(arguments: [
        (200, #"{"challenge_type":"redirect","redirect_reason":"It was enough."}"#),
        (400, #"{"error":"interaction_required","error_description":"It was enough."}"#),
    ])
    func `where a browser is required for another code, no further code is asked for`(status: Int, body: String)
        async throws
    {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(
                Fault(route: "challenge") {
                    $0.status = status
                    $0.body = body
                    $0.after = 1
                }
            )
            let outcome = try await scene.script("login", "otp-app", "--username", NativeLoginScene.bo) { pipe, _ in
                for _ in 0..<20 { pipe.write("") }
            }
            #expect(outcome.status == 4, "\(outcome.error)")
            #expect(outcome.error.contains("It was enough; go on in a browser: tokenstore login "), "\(outcome.error)")
        }
    }

    @Test func `that command has the redirect URI and the response mode of the sign-in`() async throws {
        try await NativeLoginScene.open { scene in
            let (uri, mode) = ("http://localhost/back", "form_post")
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--challenge-types",
                "oob",
                "--redirect-uri",
                uri,
                "--response-mode",
                mode,
                passwords: ["x"]
            )
            #expect(outcome.status == 4)
            #expect(outcome.error.hasSuffix(" --redirect-uri \(uri) --response-mode \(mode)\n"), "\(outcome.error)")
        }
    }

    @Test func `on a terminal the login continues in the browser`() async throws {
        try await NativeLoginScene.open { scene in
            let (script, note) = try scene.scene.login.browser()
            async let outcome = scene.type(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--challenge-types",
                "oob",
                environment: ["BROWSER": script],
                answers: []
            )
            try await eventually("a browser") { LoginRun.address(note) != nil }
            let address = try #require(LoginRun.address(note))
            #expect(try await LoginRun.page(address).contains("login_hint=ana.rojas"))
            try await LoginScene.signIn(at: address)
            #expect(try await outcome.output.contains("the issuer wants a browser for this\n"))
            #expect(try await outcome.output.hasSuffix("signed in Ana Rojas (ana.rojas@example.org)\n"))
        }
    }
}
