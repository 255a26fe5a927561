import Database
import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestTraits
import Testing

/// Promise 12, as a person meets it: the issuer has answered, and the store or the person does not wait.
@Suite(.onWaitingThreads)
struct AnswerKeepingTests {
    /// Runs `body` with a refresh that the issuer has answered while the store is held.
    private func whileHeld(
        _ arguments: [String],
        errors: String = "/dev/null",
        _ body: (IssuerScene, StartedCommand, _ held: Connection) async throws -> Void
    ) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hold(at: "token"))
            let refresh = try scene.start(arguments, errors: errors)
            try await scene.waitForIntent()
            let held = try scene.scratch.holdForWriting()
            scene.provider.faults.removeAll()
            try await body(scene, refresh, held)
        }
    }

    private func pending(_ scene: IssuerScene) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: URL(filePath: scene.scratch.store).deletingLastPathComponent().path
        )
        .filter { $0.contains(".pending-") }
    }

    @Test func `a locked store: the token is printed, the next command saves the answer`()
        async throws
    {
        try await whileHeld(["--timeout", "10"]) { (scene, refresh, held) async throws in
            #expect(try await refresh.end() == 0)
            #expect(try pending(scene).count == 1)
            let status = try await scene.run("status", "--json").json["pendingAnswers"] as? [String]
            #expect(status?.count == 1)
            try held.execute("ROLLBACK")
            let next = try await scene.tokens(1, "--force-refresh")[0]
            #expect(next.status == 0, "\(next.error)")
            #expect(scene.tokenRequestCount == 2, "\(next.error)")
            #expect(try pending(scene).isEmpty)
        }
    }

    @Test func `an answer is kept in the directory of the store, also where that has another name meanwhile`()
        async throws
    {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hold(at: "token"))
            let refresh = try scene.start(["--timeout", "5"])
            try await scene.waitForIntent()
            let (place, moved) = (scene.scratch.path, scene.scratch.path + "-moved")
            try FileManager.default.moveItem(atPath: place, toPath: moved)
            scene.provider.faults.removeAll()
            #expect(try await refresh.end() == 0)
            try FileManager.default.moveItem(atPath: moved, toPath: place)
            #expect(try pending(scene).count == 1)
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
            #expect(scene.tokenRequestCount == 2)
        }
    }

    @Test func `the answer to a store whose files were moved is named, and works where the line says`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hold(at: "token"))
            let errors = scene.scratch.path("errors")
            let refresh = try scene.start(["--timeout", "5"], errors: errors)
            try await scene.waitForIntent()
            let files = FileManager.default
            let place = scene.scratch.path("moved")
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            try files.createDirectory(atPath: place, withIntermediateDirectories: false, attributes: mode)
            for name in try scene.scratch.names where name == "key" || name.hasPrefix("tokenstore.") {
                try files.moveItem(atPath: scene.scratch.path(name), toPath: "\(place)/\(name)")
            }
            scene.provider.faults.removeAll()
            #expect(try await refresh.end() == 0)
            let answer = try #require(try pending(scene).first)
            let sentence = try String(contentsOf: URL(filePath: errors), encoding: .utf8)
            #expect(sentence.contains("is kept in \(scene.scratch.path(answer)): "), "\(sentence)")
            #expect(sentence.contains("; move that file beside the store, where the next command"), "\(sentence)")
            let missing = try await scene.run("status").error
            #expect(
                missing.contains("and 1 answer of an issuer waits beside it; move it beside the store"),
                "\(missing)"
            )
            let token = try await scene.tokens(1)[0]
            #expect(token.status == 3)
            #expect(token.error.contains("and 1 answer of an issuer waits beside it"), "\(token.error)")
            try files.moveItem(atPath: scene.scratch.path(answer), toPath: "\(place)/\(answer)")
            let renewal = ["token", "--scope", IssuerScene.scope.text, "--force-refresh"]
            let next = try await scene.run(renewal, environment: ["TOKENSTORE_PATH": place + "/tokenstore.db"])
            #expect(next.status == 0, "\(next.error)")
            #expect(scene.tokenRequestCount == 2)
            #expect(try files.contentsOfDirectory(atPath: place).allSatisfy { !$0.contains(".pending-") })
        }
    }

    @Test func `an export has the pending refresh token, or says that it is missing`() async throws {
        try await whileHeld(["--timeout", "10"]) { (scene, refresh, held) async throws in
            #expect(try await refresh.end() == 0)
            let without = try await scene.run("export", "-", "--timeout", "1")
            #expect(without.status == 0)
            #expect(without.error.contains("a refresh token may be spent"))
            try held.execute("ROLLBACK")
            let whole = try await scene.run("export", "-")
            #expect(whole.status == 0)
            #expect(whole.error.isEmpty)
            #expect(try pending(scene).isEmpty)
            let secrets = try [without, whole].map { outcome -> [String] in
                let tokens = try outcome.json["RefreshToken"] as? [String: [String: Any]]
                return tokens?.values.compactMap { $0["secret"] as? String } ?? []
            }
            #expect(secrets[0].count == 1)
            #expect(secrets[1].count == 1)
            #expect(secrets[0] != secrets[1])
        }
    }

    @Test func `a store that is locked beyond the timeout gets the answer afterwards`() async throws {
        try await whileHeld(["--timeout", "10"]) { (scene, refresh, held) async throws in
            try await eventually("the file") { try !pending(scene).isEmpty }
            try held.execute("ROLLBACK")
            #expect(try await refresh.end() == 0)
            #expect(try pending(scene).isEmpty)
            #expect(scene.tokenRequestCount == 1)
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
        }
    }

    @Test(
        arguments: [
            ["token", "--scope", LoginScene.scope], ["whoami"], ["claims"], ["list"],
            ["logout", "--yes", "--local-only", LoginScene.ana],
        ]
    )
    func `a sign-in into a held store succeeds, and the next command stores it`(command: [String]) async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await scene.logIn()
            _ = try await scene.run("logout", "--local-only", LoginScene.ana)
            var held: Connection?
            let outcome = try await scene.login.run(scene.place + ["--timeout", "10"]) { address in
                held = try scene.scratch.holdForWriting()
                try await LoginScene.signIn(at: address)
            }
            #expect(outcome.status == 0, "\(outcome.error)")
            let early = try await scene.run(["whoami", "--timeout", "1"])
            #expect(early.status == 3, "\(early.output)")
            #expect(early.error.contains("could not be stored"), "\(early.error)")
            try held?.execute("ROLLBACK")
            let taken = try await scene.run(command)
            #expect(taken.status == 0, "\(taken.error)")
            #expect(scene.provider.audit.count(of: "token") == 2)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the program after the answer is stored`(signal: Int32) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hold(at: "token"))
            let refresh = try scene.start()
            try await scene.waitForIntent()
            refresh.send(signal)
            scene.provider.faults.removeAll()
            #expect(try await refresh.end() == 128 + signal)
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
            #expect(scene.tokenRequestCount == 2)
        }
    }

    @Test func `a signal while the answer is awaited is explained on a terminal`() async throws {
        let terminal = try PseudoTerminal(columns: 120)
        defer { close(terminal.descriptor) }
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hold(at: "token"))
            let refresh = try scene.start(["--timeout", "600"], errors: terminal.path)
            try await scene.waitForIntent()
            refresh.send(SIGTERM)
            try await eventually("the line") { terminal.newlyShown().contains(waiting) }
            scene.provider.faults.removeAll()
            #expect(try await refresh.end() == 128 + SIGTERM)
        }
    }

    @Test func `a time limit that ends before the answer is stored is explained on a terminal`() async throws {
        let terminal = try PseudoTerminal(columns: 120)
        defer { close(terminal.descriptor) }
        try await whileHeld(["--timeout", "10"], errors: terminal.path) { (scene, refresh, held) async throws in
            try await eventually("the line") { terminal.newlyShown().contains(waiting) }
            try held.execute("ROLLBACK")
            #expect(try await refresh.end() == 0)
        }
    }

    private let waiting = "waiting until the issuer's answer is stored; Ctrl-C twice ends at once"

    /// Two kinds of signal, as two of one kind may be one.
    @Test func `a second signal ends the program at once with a warning of what may be lost`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hang(at: "token"))
            let errors = scene.scratch.path("errors")
            let refresh = try scene.start(["--timeout", "600"], errors: errors)
            try await scene.waitForRequest(at: "token")
            refresh.send(SIGTERM)
            refresh.send(SIGINT)
            #expect([128 + SIGTERM, 128 + SIGINT].contains(try await refresh.end()))
            let sentence = try String(contentsOf: URL(filePath: errors), encoding: .utf8)
            #expect(sentence.contains("the session may be lost"))
        }
    }

    @Test func `a signal before any request ends the program at once`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hang(at: "metadata"))
            let refresh = try scene.start("--timeout", "600")
            try await scene.waitForRequest(at: "metadata")
            refresh.send(SIGTERM)
            #expect(try await refresh.end() == 128 + SIGTERM)
            #expect(scene.tokenRequestCount == 0)
        }
    }
}
