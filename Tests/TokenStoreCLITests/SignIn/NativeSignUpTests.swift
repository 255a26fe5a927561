import Foundation
import LocalIdentityProvider
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct NativeSignUpTests {
    private static let dana = NativeLoginScene.dana

    @Test func `a script gives attributes, code and passwords, the weak one first`() async throws {
        try await NativeLoginScene.open { scene in
            let passwords = ["weakling", NativeLoginScene.password]
            let outcome = try await scene.script(
                "signup",
                "pwd-app",
                "--username",
                Self.dana,
                "--attribute",
                "country=Ecuador",
                "--attribute",
                "city=Quito",
                "--attribute",
                "displayName=Dana Oum",
                "--json",
                "--log-level",
                "trace",
                passwords: passwords
            ) { pipe, isOver in try await scene.sendCode(to: Self.dana, pipe, isOver) }
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try outcome.json["displayName"] as? String == "Dana Oum")
            let secrets = try passwords + [scene.code(to: Self.dana), "eyJ"]
            #expect(!secrets.contains(where: (outcome.output + outcome.error).contains))
            #expect(scene.provider.audit.count(of: "token") == 1)
        }
    }

    @Test func `missing or refused input is named and creates no store`() async throws {
        try await NativeLoginScene.open { scene in
            let missing = try await scene.script(
                "signup",
                "pwd-app",
                "--username",
                Self.dana,
                "--attribute",
                "city=Quito",
                passwords: [NativeLoginScene.password]
            ) { pipe, isOver in try await scene.sendCode(to: Self.dana, pipe, isOver) }
            #expect(missing.status == 64)
            #expect(
                missing.error.contains(
                    "asks for country (2 to 60 of A-Z, a-z, space), and there is no terminal; give --attribute country="
                ),
                "\(missing.error)"
            )
            let refused = try await scene.script(
                "signup",
                "pwd-app",
                "--username",
                Self.dana,
                "--attribute",
                "country=1",
                passwords: ["x"]
            )
            #expect(refused.status == 1)
            #expect(refused.error.contains("does not take the value of country"))
            let taken = try await scene.script(
                "signup",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                passwords: ["x"]
            )
            #expect(taken.status == 1)
            #expect(taken.error.contains("; sign in, or choose another username"))
            let broken = try await scene.script("signup", "pwd-app", "--attribute", "country", passwords: ["x"])
            #expect(broken.status == 64)
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `passwords that differ or are refused are asked for again`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.type(
                "signup",
                "pwd-app",
                "--username",
                Self.dana,
                "--attribute",
                "country=Ecuador",
                "--attribute",
                "city=Quito",
                answers: [
                    TypedAnswer("Code sent", NativeLoginScene.wrongCode + "\n"),
                    TypedAnswer("Code sent", try scene.code(to: Self.dana) + "\n"),
                    TypedAnswer("New password", "one-Thing-1\n"), TypedAnswer("again", "another-Thing-1\n"),
                    TypedAnswer("New password", "short\n"), TypedAnswer("again", "short\n"),
                    TypedAnswer("New password", NativeLoginScene.password + "\n"),
                    TypedAnswer("again", NativeLoginScene.password + "\n"),
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("the passwords differ; type both once more"))
            #expect(outcome.output.contains("Use at least 8"))
            #expect(!outcome.output.contains("-Thing-1"))
            #expect(!outcome.output.contains(NativeLoginScene.password))
        }
    }

    @Test func `each attribute is asked for with its format`() async throws {
        let patterns = [
            ("postalCode", "^[0-9]{5}$"), ("state", "^[a-z]+$"), ("city", "^[A-F-]{3,}$"), ("jobTitle", "^(red|blue)$"),
        ]
        let definitions = patterns.map { #"{"name": "\#($0)", "regex": "\#($1)"}, "# }.joined()
        let page = patterns.map { #"{"name": "\#($0.0)"}"# }.joined(separator: ", ")
        let text = Seed.standardJSON
            .replacingOccurrences(
                of: #"{"name": "country", "regex""#,
                with: definitions + #"{"name": "country", "regex""#
            )
            .replacingOccurrences(
                of: #""signUpMethod": "code","#,
                with: #""signUpMethod": "code", "attributePages": [[\#(page)]],"#
            )
        let seed = try Seed(json: Data(text.utf8))
        try await NativeLoginScene.open(seed: seed) { scene in
            let outcome = try await scene.type(
                "signup",
                "otp-app",
                "--username",
                Self.dana,
                answers: [
                    TypedAnswer("Code sent", try scene.code(to: Self.dana) + "\n"),
                    TypedAnswer("postalCode (5 of 0-9): ", "12345\n"), TypedAnswer("state (only a-z): ", "azuay\n"),
                    TypedAnswer("city (3 or more of A-F, -): ", "A-B\n"),
                    TypedAnswer("jobTitle (matching ^(red|blue)$): ", "blue\n"),
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test func `an outage after the sign-up proposes a sign-in`() async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.status(500, at: "token"))
            let outcome = try await scene.script("signup", "otp-app", "--username", Self.dana) { pipe, isOver in
                try await scene.sendCode(to: Self.dana, pipe, isOver)
            }
            #expect(outcome.status == 8, "\(outcome.error)")
            let command = "'tokenstore login --native --authority \(scene.authority) --client-id otp-app"
            let advice = "the account exists, sign in as usual: \(command) --username \(Self.dana)"
            #expect(outcome.error.contains(advice), "\(outcome.error)")
        }
    }

    @Test func `a pattern that is long or dangerous is neither shown nor matched`() async throws {
        try await NativeLoginScene.open { scene in
            let page = { (pattern: String) in
                let attribute = #"{"name":"country","options":{"regex":"\#(pattern)"}}"#
                let token = #""continuation_token":"next-token""#
                return #"{"error":"attributes_required",\#(token),"required_attributes":[\#(attribute)]}"#
            }
            let pattern = String(repeating: "[", count: 3_000)
            let route = "signup/continue"
            scene.provider.faults.add(.answer(status: 400, body: page(pattern), at: route))
            scene.provider.faults.add(.answer(status: 400, body: page("^([a-zA-Z0-9]+)*$"), at: route))
            scene.provider.faults.add(.answer(body: "{}", at: route))
            let outcome = try await scene.type(
                "signup",
                "otp-app",
                "--username",
                Self.dana,
                answers: [
                    TypedAnswer("Code sent", try scene.code(to: Self.dana) + "\n"),
                    TypedAnswer("country: ", "Ecuador\n"),
                    TypedAnswer("country (matching ^([a-zA-Z0-9]+)*$): ", String(repeating: "a", count: 40) + "!\n"),
                ]
            )
            // The sign-up ended without a token to sign in with.
            #expect(outcome.status == 1, "\(outcome.output)")
            #expect(outcome.output.contains("sign in as usual"), "\(outcome.output)")
            #expect(!outcome.output.contains("[[["))
        }
    }

    @Test func `Ctrl-C at any question ends with 9 and creates no account and no store`() async throws {
        try await NativeLoginScene.open { scene in
            let questions: [TypedAnswer] = [
                TypedAnswer("Code sent", try scene.code(to: Self.dana) + "\n"),
                TypedAnswer("New password", NativeLoginScene.password + "\n"),
                TypedAnswer("again", NativeLoginScene.password + "\n"), TypedAnswer("country", "Ecuador\n"),
                TypedAnswer("city", "Quito\n"),
            ]
            for count in questions.indices {
                let answers = questions[..<count] + [TypedAnswer(questions[count].question, "\u{3}")]
                let outcome = try await scene.type(
                    "signup",
                    "pwd-app",
                    "--username",
                    Self.dana,
                    answers: Array(answers)
                )
                #expect(
                    outcome.status == 9,
                    "\(outcome.output)"
                )
                #expect(
                    outcome.output.contains("the sign-up was cancelled"),
                    "\(outcome.output)"
                )
            }
            #expect(try scene.scene.hasNoStore)
            #expect(scene.provider.audit.count(of: "token") == 0)
        }
    }

    @Test func `wrong codes do not end a sign-up on a terminal`() async throws {
        try await NativeLoginScene.open { scene in
            let body = #"{"error":"invalid_grant","suberror":"invalid_oob_value"}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "signup/continue", times: 6))
            let wrong = Array(repeating: TypedAnswer("Code sent", NativeLoginScene.wrongCode + "\n"), count: 6)
            let right = TypedAnswer("Code sent", try scene.code(to: Self.dana) + "\n")
            let outcome = try await scene.type(
                "signup",
                "otp-app",
                "--username",
                Self.dana,
                "--attribute",
                "city=Quito",
                "--attribute",
                "city=Loja",
                answers: wrong + [right]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test func `an attribute that was not given and is refused ends the sign-up at once`() async throws {
        try await NativeLoginScene.open { scene in
            let (token, route) = (#""continuation_token":"next-token""#, "signup/continue")
            let page = #"{"error":"attributes_required",\#(token),"required_attributes":[{"name":"city"}]}"#
            let refusal =
                #"{"error":"invalid_grant","suberror":"attribute_validation_failed",\#(token),"#
                + #""invalid_attributes":[{"name":"planet"}]}"#
            scene.provider.faults.add(.answer(status: 400, body: page, at: route))
            scene.provider.faults.add(.answer(status: 400, body: refusal, at: route, times: nil))
            let outcome = try await scene.script(
                "signup",
                "otp-app",
                "--username",
                Self.dana,
                "--attribute",
                "city=Quito"
            ) { pipe, isOver in try await scene.sendCode(to: Self.dana, pipe, isOver) }
            #expect(outcome.status == 1, "\(outcome.error)")
            #expect(outcome.error.contains("does not take the value of planet"), "\(outcome.error)")
            #expect(scene.provider.audit.count(of: route) == 2)
        }
    }
}
