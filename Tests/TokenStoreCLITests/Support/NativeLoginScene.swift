import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import Synchronization

/// A provider with native authentication, an empty directory for the store, and a user or a script that answers.
struct NativeLoginScene: Sendable {
    static let ana = LoginScene.ana
    static let anasPassword = LoginScene.anasPassword
    static let bo = "bo@example.org"
    static let dana = "dana@example.org"
    static let password = "Basalto-9-Lunas"
    static let wrongCode = "1"

    let scene: LoginScene

    var provider: LocalIdentityProvider { scene.provider }
    var authority: String { provider.baseURL + "/fabrikvine.onmicrosoft.com" }
    var environment: [String: String] { ["TOKENSTORE_PATH": scene.scratch.store] }

    static func open(seed: Seed? = nil, _ body: (NativeLoginScene) async throws -> Void) async throws {
        try await LoginScene.open(seed: seed) { (scene: LoginScene) async throws in
            try await body(NativeLoginScene(scene: scene))
        }
    }

    /// The newest code that was sent.
    func code(to recipient: String) throws -> String {
        guard let code = provider.outbox.messages(to: recipient).last?.code else { throw ExpectationFailure("a code") }
        return code
    }

    /// A command, its client and more, as arguments.
    func words(_ command: String, _ client: String, _ more: [String]) -> [String] {
        let words = command == "login" ? [command, "--native"] : [command]
        return words + ["--authority", authority, "--client-id", client] + more
    }

    /// Runs a command on a terminal, on its own thread.
    func type(
        _ command: String,
        _ client: String = "pwd-app",
        _ more: String...,
        environment: [String: String] = [:],
        answers: [TypedAnswer]
    ) async throws -> Command.Outcome {
        let variables = self.environment.merging(environment) { $1 }
        let command = Command(arguments: words(command, client, more), environment: variables)
        return try await onOwnThread { try command.runOnTerminal(in: scene.scratch, typing: answers) }
    }

    /// Runs a command as a script does, with passwords in a file, and codes from a pipe that `answer` writes into.
    func script(
        _ command: String,
        _ client: String = "pwd-app",
        _ more: String...,
        passwords: [String] = [],
        answer: (@Sendable (AnswerPipe, _ isOver: () -> Bool) async throws -> Void)? = nil
    ) async throws -> Command.Outcome {
        var arguments = words(command, client, more)
        var files: [Int32: String] = [:]
        if !passwords.isEmpty {
            let name = UUID().uuidString
            try scene.scratch.write(passwords.map { $0 + "\n" }.joined(), to: name)
            files[4] = scene.scratch.path(name)
            arguments += ["--password-from", "4"]
        }
        let pipe = try answer.map { _ in try AnswerPipe(in: scene.scratch) }
        if let pipe {
            files[3] = pipe.path
            arguments += ["--code-from", "3"]
        }
        let run = Command(arguments: arguments, environment: environment, files: files)
        let isOver = Mutex(false)
        async let outcome = {
            defer { isOver.withLock { $0 = true } }
            return try await run.runAside(in: scene.scratch)
        }()
        if let pipe { try await answer?(pipe) { isOver.withLock(\.self) } }
        return try await outcome
    }

    /// Writes the code of the message of a number as soon as it is sent.
    func sendCode(_ number: Int = 1, to recipient: String, _ pipe: AnswerPipe, _ isOver: () -> Bool) async throws {
        try await eventually("a code, or the end of the command") {
            isOver() || provider.outbox.messages(to: recipient).count >= number
        }
        if !isOver() { pipe.write(try code(to: recipient)) }
    }

    /// The usernames in the store.
    var usernames: [String] {
        get async throws {
            let accounts = try await scene.run("list", "--json").json["accounts"] as? [[String: Any]] ?? []
            return accounts.compactMap { $0["username"] as? String }.sorted()
        }
    }
}
