import LocalIdentityProvider
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct NativeResetTests {
    @Test func `a new password is set, signs in and replaces the old one`() async throws {
        try await NativeLoginScene.open { scene in
            let (ana, old, new) = (NativeLoginScene.ana, NativeLoginScene.anasPassword, NativeLoginScene.password)
            let outcome = try await scene.type(
                "reset-password",
                "pwd-app",
                "--username",
                ana,
                answers: [
                    TypedAnswer("Code sent", NativeLoginScene.wrongCode + "\n"), TypedAnswer("Code sent", "\n"),
                    TypedAnswer("Code sent", try scene.code(to: ana) + "\n"),
                    TypedAnswer("New password", old + "\n"), TypedAnswer("again", old + "\n"),
                    TypedAnswer("New password", new + "\n"), TypedAnswer("again", new + "\n"),
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("tokenstore: the new password is in force\nsigned in Ana Rojas"))
            #expect(!outcome.output.contains(old))
            #expect(!outcome.output.contains(new))
            #expect(try await scene.script("login", "pwd-app", "--username", ana, passwords: [old]).status == 1)
            #expect(try await scene.script("login", "pwd-app", "--username", ana, passwords: [new]).status == 0)
        }
    }

    @Test func `a reset whose result is not known proposes a sign-in`() async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.status(403, at: "resetpassword/poll_completion"))
            let (ana, new) = (NativeLoginScene.ana, NativeLoginScene.password)
            let outcome = try await scene.script(
                "reset-password",
                "pwd-app",
                "--username",
                ana,
                passwords: [new]
            ) { pipe, isOver in try await scene.sendCode(to: ana, pipe, isOver) }
            #expect(outcome.status == 1, "\(outcome.error)")
            let advice = "the new password was submitted and may be in force, sign in with it"
            #expect(outcome.error.contains("\(advice): 'tokenstore login --native "), "\(outcome.error)")
            #expect(outcome.error.contains("--username \(ana)"), "\(outcome.error)")
        }
    }

    @Test func `a user without a password and an unknown user have their own errors`() async throws {
        try await NativeLoginScene.open { scene in
            for (name, advice) in [
                (NativeLoginScene.bo, "sign in with a code"), ("no@example.org", "check the username"),
            ] {
                let outcome = try await scene.script("reset-password", "pwd-app", "--username", name, passwords: ["x"])
                #expect(outcome.status == 1, "\(outcome.error)")
                #expect(outcome.error.contains(advice), "\(outcome.error)")
            }
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `a password that was not set is asked for again`() async throws {
        try await NativeLoginScene.open { scene in
            let (ana, new) = (NativeLoginScene.ana, NativeLoginScene.password)
            let (failed, done) = (#"{"status":"failed","continuation_token":"next"}"#, #"{"status":"succeeded"}"#)
            let taken = #"{"continuation_token":"next","poll_interval":1}"#
            for answer in [failed, done] {
                scene.provider.faults.add(.answer(body: taken, at: "resetpassword/submit"))
                scene.provider.faults.add(.answer(body: answer, at: "resetpassword/poll_completion"))
            }
            let outcome = try await scene.script(
                "reset-password",
                "pwd-app",
                "--username",
                ana,
                passwords: [new, new]
            ) { pipe, isOver in try await scene.sendCode(to: ana, pipe, isOver) }
            // The second password was set, without a token to sign in with.
            #expect(outcome.error.contains("the new password is in force"), "\(outcome.error)")
            #expect(scene.provider.audit.count(of: "resetpassword/submit") == 2)
        }
    }

    @Test func `a login that wants a new password first names the command that sets one`() async throws {
        try await NativeLoginScene.open { scene in
            let body = #"{"error":"invalid_request","error_codes":[50142],"error_description":"Reset it."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let ana = NativeLoginScene.ana
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                ana,
                passwords: [NativeLoginScene.anasPassword]
            )
            #expect(outcome.status == 1)
            let command = "tokenstore reset-password --authority \(scene.authority) --client-id pwd-app"
            let advice = " with the new one: '\(command) --username \(ana)'\n"
            #expect(outcome.error.hasSuffix(advice), "\(outcome.error)")
        }
    }
}
