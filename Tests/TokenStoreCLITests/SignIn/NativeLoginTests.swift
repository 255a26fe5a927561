import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// `login --native` by a script and by a person.
@Suite(.onWaitingThreads)
struct NativeLoginTests {
    private static let bo = NativeLoginScene.bo

    private static func contains(_ text: String, _ secrets: [String]) -> Bool { secrets.contains(where: text.contains) }

    @Test func `codes are read from a descriptor and never logged`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script(
                "login",
                "otp-app",
                "--username",
                Self.bo,
                "--json",
                "--log-level",
                "trace"
            ) { pipe, isOver in
                pipe.write("87654321")
                pipe.write("")
                try await scene.sendCode(2, to: Self.bo, pipe, isOver)
            }
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try outcome.json["displayName"] as? String == "Bo Lind")
            #expect(scene.provider.audit.count(of: "token") == 2)
            #expect(scene.provider.audit.count(of: "challenge") == 2)
            let secrets = scene.provider.outbox.messages().map(\.code) + ["87654321", "eyJ"]
            #expect(outcome.error.contains("trace") || outcome.error.contains("debug"))
            #expect(!Self.contains(outcome.error + outcome.output, secrets), "\(outcome.error)")
        }
    }

    @Test func `passwords are read from a descriptor and never logged`() async throws {
        try await NativeLoginScene.open { scene in
            let passwords = ["wrong-Password-1", NativeLoginScene.anasPassword]
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--log-level",
                "trace",
                passwords: passwords
            )
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.output == "signed in Ana Rojas (ana.rojas@example.org)\n")
            #expect(!Self.contains(outcome.error, passwords + ["eyJ"]))
            let file = try scene.scene.scratch.contents("tokenstore.db")
            #expect(passwords.allSatisfy { !file.holds(Data($0.utf8)) })
        }
    }

    @Test func `a password of a file that Windows wrote has no carriage return at its end`() async throws {
        try await NativeLoginScene.open { scene in
            let person = NativeLoginScene.ana
            let passwords = [NativeLoginScene.anasPassword + "\r"]
            let outcome = try await scene.script("login", "pwd-app", "--username", person, passwords: passwords)
            #expect(outcome.status == 0, "\(outcome.error)")
        }
    }

    @Test(arguments: ["initiate", "challenge", "token"])
    func `an issuer that hangs ends within the time that was given`(route: String) async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.hang(at: route, times: nil))
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--timeout",
                "1",
                passwords: [NativeLoginScene.anasPassword]
            )
            #expect(outcome.status == 8, "\(outcome.error)")
            #expect(outcome.error.contains("try again"), "\(outcome.error)")
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `the last refusal is the error when the descriptor ends`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                passwords: ["wrong-1"]
            )
            #expect(outcome.status == 1, "\(outcome.error)")
            #expect(outcome.error.contains("the password is wrong"), "\(outcome.error)")
            #expect(!outcome.error.contains("wrong-1"))
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `a refusal changes no byte of a store, and a sign-in keeps the one before`()
        async throws
    {
        try await NativeLoginScene.open { scene in
            let name = NativeLoginScene.ana
            _ = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                name,
                passwords: [NativeLoginScene.anasPassword]
            )
            let before = try scene.scene.scratch.contents("tokenstore.db")
            #expect(try await scene.script("login", "pwd-app", "--username", name, passwords: ["x"]).status == 1)
            #expect(try scene.scene.scratch.contents("tokenstore.db") == before)
            let cleo = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                "cleo@example.org",
                passwords: ["Marmol-4-Rios"]
            )
            #expect(cleo.status == 0)
            #expect(try await scene.usernames == [name, "cleo@example.org"])
        }
    }

    @Test func `five wrong passwords on a terminal are enough`() async throws {
        try await NativeLoginScene.open { scene in
            let wrong = (1...5).map { TypedAnswer("Password: ", "wrong-\($0)\n") }
            let outcome = try await scene.type("login", "pwd-app", "--username", NativeLoginScene.ana, answers: wrong)
            #expect(outcome.status == 1)
            #expect(outcome.output.components(separatedBy: "Password: ").count == 6)
            #expect(!outcome.output.contains("wrong-"))
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test(arguments: ["mara", "@example.org", "mara@", "a@b@c", "a b@example.org"])
    func `which names there are the issuer says, also of one that is no e-mail address`(username: String) async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script("login", "pwd-app", "--username", username, passwords: ["x"])
            #expect(outcome.status == 1, "\(outcome.error)")
            #expect(outcome.error.hasSuffix("; '\(username)' is not an e-mail address\n"), "\(outcome.error)")
            #expect(scene.provider.audit.count(of: "initiate") == 1)
        }
    }

    @Test(arguments: [
        ("login", "", "is blank"), ("login", " \t", "is blank"), ("login", "a\u{1}b", "has a control character"),
        ("signup", "mara", "'mara' is not an e-mail address"), ("signup", "", "is blank"),
    ])
    func `a name that nobody has is refused before the issuer is asked`(
        command: String,
        username: String,
        words: String
    ) async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script(command, "pwd-app", "--username", username, passwords: ["x"])
            #expect(outcome.status == 64, "\(outcome.error)")
            #expect(outcome.error.contains(words), "\(outcome.error)")
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `wrong codes on a terminal end nothing while another code can be had`() async throws {
        try await NativeLoginScene.open { scene in
            let wrong = (1...6).map { _ in TypedAnswer("Code sent to ", NativeLoginScene.wrongCode + "\n") }
            let right = TypedAnswer("Code sent to ", try scene.code(to: Self.bo) + "\n")
            let again = TypedAnswer("Code sent to ", "\n")
            let outcome = try await scene.type(
                "login",
                "otp-app",
                "--username",
                Self.bo,
                answers: wrong + [again, right]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test func `an unknown user is an error that says so`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.script("login", "pwd-app", "--username", "no@example.org", passwords: ["x"])
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("; check the username, or sign up"))
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `without a terminal the error names the missing option`() async throws {
        try await NativeLoginScene.open { scene in
            for more in [["--username", Self.bo], ["--username", Self.bo, "--no-input"]] {
                let command = Command(
                    arguments: scene.words("login", "otp-app", more),
                    environment: scene.environment
                )
                let outcome = try await command.runAside(in: scene.scene.scratch)
                #expect(outcome.status == 64)
                #expect(outcome.error.contains("--code-from FD or --password-from FD"))
                #expect(!outcome.error.contains("the issuer asks"))
            }
            let reset = Command(
                arguments: scene.words("reset-password", "pwd-app", ["--username", Self.bo]),
                environment: scene.environment
            )
            let asked = try await reset.runAside(in: scene.scene.scratch)
            let advice = "there is no terminal to ask on; give --code-from FD and --password-from FD\n"
            #expect(asked.error.hasSuffix(advice), "\(asked.error)")
            let closed = Command(
                arguments: scene.words("login", "otp-app", ["--username", Self.bo, "--code-from", "9"]),
                environment: scene.environment
            )
            let outcome = try await closed.runAside(in: scene.scene.scratch)
            #expect(outcome.status == 64)
            #expect(outcome.error.contains("descriptor 9, which is not open"))
            let nameless = try await scene.script("login", "otp-app", passwords: ["x"])
            #expect(nameless.status == 64, "\(nameless.error)")
            #expect(nameless.error.contains("give --username ADDRESS"), "\(nameless.error)")
            #expect(scene.provider.audit.counts.isEmpty)
            let codeless = try await scene.script("login", "otp-app", "--username", Self.bo, passwords: ["x"])
            #expect(codeless.status == 64, "\(codeless.error)")
            #expect(codeless.error.contains("give --code-from FD"), "\(codeless.error)")
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `Ctrl-C during a slow request ends with 9 and stores nothing`() async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.hang(at: "initiate"))
            let command = try StartedCommand(
                scene.words("login", "pwd-app", ["--username", NativeLoginScene.ana, "--password-from", "0"]),
                environment: scene.environment,
                in: scene.scene.scratch
            )
            try await eventually("a request") { scene.provider.audit.count(of: "initiate") > 0 }
            command.send(SIGINT)
            #expect(try await command.end() == 9)
            #expect(try scene.scene.hasNoStore)
        }
    }

    @Test func `an outage ends with 8, and on a terminal the step is tried again`() async throws {
        try await NativeLoginScene.open { scene in
            scene.provider.faults.add(.status(503, at: "token"))
            let (ana, password) = (NativeLoginScene.ana, NativeLoginScene.anasPassword)
            let outcome = try await scene.script(
                "login",
                "pwd-app",
                "--username",
                ana,
                passwords: [password, password]
            )
            #expect(outcome.status == 8, "\(outcome.error)")
            #expect(try scene.scene.hasNoStore)
            scene.provider.faults.add(.status(503, at: "token"))
            let answers = [TypedAnswer("Password: ", password + "\n"), TypedAnswer("Password: ", password + "\n")]
            #expect(try await scene.type("login", "pwd-app", "--username", ana, answers: answers).status == 0)
        }
    }

    @Test func `a new store with a passphrase asks for that first`() async throws {
        try await NativeLoginScene.open { scene in
            let outcome = try await scene.type(
                "login",
                "pwd-app",
                "--username",
                NativeLoginScene.ana,
                "--key",
                "passphrase",
                answers: [
                    TypedAnswer("New passphrase", "correct horse\n"), TypedAnswer("again", "correct horse\n"),
                    TypedAnswer("Password: ", NativeLoginScene.anasPassword + "\n"),
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(!outcome.output.contains("correct horse"))
        }
    }

    @Test(arguments: [
        ["--native", "--issuer", "https://a.example", "--client-id", "app"],
        ["--native", "--authority", "https://a.example/t", "--policy", "b2c_1_x", "--client-id", "app"],
        ["--native", "--authority", "https://a.example/common", "--client-id", "app"],
        ["--native", "--authority", "https://a.example/t", "--client-id", "app", "--device"],
        ["--native", "--authority", "https://a.example/t", "--client-id", "app", "--challenge-types", "sms"],
        ["--native", "--authority", "https://a.example/t", "--client-id", "app", "--code-from", "-1"],
        ["--authority", "https://a.example/t", "--client-id", "app", "--username", "a@example.org"],
    ])
    func `wrong arguments end with 64 before any request`(arguments: [String]) throws {
        let outcome = try Command(arguments: ["login", "--json"] + arguments).run(in: ScratchDirectory())
        #expect(outcome.status == 64)
        #expect(try outcome.errorJSON["code"] as? String == "usage")
    }
}
