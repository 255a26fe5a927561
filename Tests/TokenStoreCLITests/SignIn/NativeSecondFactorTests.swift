import LocalIdentityProvider
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct NativeSecondFactorTests {
    private static let cleo = "cleo@example.org"
    private static let second = "cleo.second@example.org"
    private static let password = "Marmol-4-Rios"

    @Test func `a second factor method is chosen from a list and can be changed`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.type(
                "login",
                "mfa-app",
                "--username",
                Self.cleo,
                answers: [
                    TypedAnswer("Password: ", Self.password + "\n"), TypedAnswer("Number [1]: ", "9\n"),
                    TypedAnswer("Number [1]: ", "3\n"),
                    TypedAnswer("Number [1]: ", "2\n"), TypedAnswer("Code sent to ***21", "\n"),
                    TypedAnswer("Number [2]: ", "1\n"),
                    TypedAnswer("Code sent to c***d", NativeLoginScene.wrongCode + "\n"),
                    TypedAnswer("Code sent to c***d", try scene.code(to: Self.second) + "\n"),
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(
                outcome.output.contains(
                    "A second factor is needed:\n  1  email  c***d@e***e.org\n  2  sms  ***21\n  3  email  c***d@e***e.org\n"
                )
            )
            #expect(outcome.output.contains("choose another\n"))
            #expect(outcome.output.contains("'9' is none of them; type a number from 1 to 3\n"))
            #expect(outcome.output.hasSuffix("signed in Cleo Vega (cleo@example.org)\n"))
            #expect(try !outcome.output.contains(scene.code(to: Self.second)))
        }
    }

    @Test func `a script names the method, or gets the list of methods`() async throws {
        try await NativeLoginScene.open { scene in
            for (method, isKnown) in [("m-email", true), ("sms", true), ("post", false), ("\(Int.min)", false)] {
                let number = scene.provider.outbox.messages(to: Self.second).count + 1
                let recipient = method == "sms" ? "+593987654321" : Self.second
                let outcome = try await scene.script(
                    "login",
                    "mfa-app",
                    "--username",
                    Self.cleo,
                    "--second-factor=\(method)",
                    passwords: [Self.password]
                ) { pipe, isOver in
                    if isKnown { try await scene.sendCode(method == "sms" ? 1 : number, to: recipient, pipe, isOver) }
                }
                #expect(outcome.status == (isKnown ? 0 : 64), "\(outcome.error)")
                if !isKnown {
                    #expect(outcome.error.contains("give one of m-email, m-sms, m-blocked as --second-factor"))
                }
            }
            let blocked = try await scene.script(
                "login",
                "mfa-app",
                "--username",
                Self.cleo,
                "--second-factor",
                "m-blocked",
                passwords: [Self.password]
            )
            #expect(blocked.status == 1, "\(blocked.error)")
            #expect(blocked.error.contains("the method is blocked"), "\(blocked.error)")
        }
    }

    @Test func `one descriptor may hold both the password and the code`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script(
                "login",
                "mfa-app",
                "--username",
                Self.cleo,
                "--second-factor",
                "1",
                "--password-from",
                "3"
            ) { pipe, isOver in
                pipe.write(Self.password)
                try await scene.sendCode(to: Self.second, pipe, isOver)
            }
            #expect(outcome.status == 0, "\(outcome.error)")
        }
    }

    @Test func `a user without a method registers one, after a refused contact`() async throws {
        try await NativeLoginScene.open { scene in
            let (bo, new) = (NativeLoginScene.bo, "bo.second@example.org")
            let outcome = try await scene.type(
                "login",
                "mfa-app",
                "--username",
                bo,
                answers: [
                    TypedAnswer("Code sent", try scene.code(to: bo) + "\n"), TypedAnswer("Number [1]: ", "2\n"),
                    TypedAnswer("Phone number", "+12\n"), TypedAnswer("Number [2]: ", "1\n"),
                    TypedAnswer("register [\(bo)]: ", new + "\n"), TypedAnswer("Code sent to \(new)", "\n"),
                    TypedAnswer("Code sent to \(new)", try scene.code(to: new) + "\n"),
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("the issuer requires a second factor; register one"))
            #expect(outcome.output.hasSuffix("signed in Bo Lind (bo@example.org)\n"))
            #expect(scene.provider.outbox.messages(to: new).count == 2)
        }
    }

    @Test func `the address that was verified just now needs no code to be registered`() async throws {
        try await NativeLoginScene.open { scene in
            let bo = NativeLoginScene.bo
            let outcome = try await scene.script(
                "login",
                "mfa-app",
                "--username",
                bo,
                "--second-factor",
                "email",
                "--contact",
                bo
            ) { pipe, isOver in try await scene.sendCode(to: bo, pipe, isOver) }
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(scene.provider.outbox.messages().count == 1)
        }
    }

    @Test func `a script asks for five new codes at most`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script("login", "otp-app", "--username", NativeLoginScene.bo) { pipe, _ in
                for _ in 0..<20 { pipe.write("") }
            }
            #expect(outcome.status == 1, "\(outcome.error)")
            #expect(outcome.error.contains("asked for more than 5 new codes"), "\(outcome.error)")
            #expect(scene.provider.audit.count(of: "challenge") == 6)
        }
    }

    @Test func `a method that is named is not replaced by the only one there is`() async throws {
        try await NativeLoginScene.open { scene in
            let method = #"{"id":"m-1","challenge_type":"oob","challenge_channel":"email","login_hint":"c***d"}"#
            let body = #"{"continuation_token":"next-token","methods":[\#(method)]}"#
            scene.provider.faults.add(.answer(body: body, at: "introspect"))
            let outcome = try await scene.script(
                "login",
                "mfa-app",
                "--username",
                Self.cleo,
                "--second-factor",
                "sms",
                passwords: [Self.password]
            )
            #expect(outcome.status == 64, "\(outcome.error)")
            #expect(outcome.error.contains("'sms' is not one of the methods; give one of m-1"), "\(outcome.error)")
        }
    }

    @Test func `a channel that several methods have does not say which one is meant`() async throws {
        try await NativeLoginScene.open { scene in
            let methods = ["m-1", "m-2"].map {
                #"{"id":"\#($0)","challenge_type":"oob","challenge_channel":"email","login_hint":"c***d"}"#
            }
            let body = #"{"continuation_token":"next-token","methods":[\#(methods.joined(separator: ","))]}"#
            scene.provider.faults.add(.answer(body: body, at: "introspect"))
            let outcome = try await scene.script(
                "login",
                "mfa-app",
                "--username",
                Self.cleo,
                "--second-factor",
                "email",
                passwords: [Self.password]
            )
            #expect(outcome.status == 64, "\(outcome.error)")
            let error = "several methods are by email; give one of m-1, m-2 as --second-factor"
            #expect(outcome.error.contains(error), "\(outcome.error)")
        }
    }

    @Test(arguments: ["temporarily_unavailable", "server_error"])
    func `an issuer that says it is out of order ends a sign-in with 8`(code: String) async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.answer(status: 400, body: #"{"error":"\#(code)"}"#, at: "initiate"))
            let bo = NativeLoginScene.bo
            let outcome = try await scene.script("login", "otp-app", "--username", bo, passwords: ["x"])
            #expect(outcome.status == 8, "\(outcome.error)")
        }
    }
}
