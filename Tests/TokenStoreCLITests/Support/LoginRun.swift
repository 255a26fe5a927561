import Foundation
import HTTPTransport
import IssuerSupport
import Synchronization

/// A `tokenstore login`, or `logout`, with a script as `$BROWSER`, which hands the address to the test.
struct LoginRun: Sendable {
    let scratch: ScratchDirectory
    var environment: [String: String] = [:]

    /// Runs the command, and `visit` with the address that the browser was opened with.
    func run(
        _ arguments: [String],
        command name: String = "login",
        visit: (String) async throws -> Void
    ) async throws -> Command.Outcome {
        let (script, note) = try browser()
        let variables = ["TOKENSTORE_PATH": scratch.store, "BROWSER": script].merging(environment) { $1 }
        let command = Command(arguments: [name] + arguments, environment: variables)
        let isOver = Mutex(false)
        async let outcome = {
            defer { isOver.withLock { $0 = true } }
            return try await command.runAside(in: scratch)
        }()
        try await eventually("an address, or the end of the command") {
            isOver.withLock(\.self) || Self.address(note) != nil
        }
        if !isOver.withLock(\.self), let address = Self.address(note) { try await visit(address) }
        return try await outcome
    }

    /// Starts the command and returns once its browser was opened.
    func start(_ arguments: [String]) async throws -> StartedCommand {
        let (script, note) = try browser()
        let variables = ["TOKENSTORE_PATH": scratch.store, "BROWSER": script]
        let command = try StartedCommand(["login"] + arguments, environment: variables, in: scratch)
        try await eventually("a browser") { Self.address(note) != nil }
        return command
    }

    /// A script that notes its first argument, whole or not at all.
    func browser() throws -> (script: String, note: String) {
        let name = UUID().uuidString
        let (script, note) = (scratch.path("\(name).browser"), scratch.path("\(name).address"))
        let text = "#!/bin/sh\nprintf %s \"$1\" > '\(note).new' && mv '\(note).new' '\(note)'\n"
        try scratch.write(text, to: "\(name).browser")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
        return (script, note)
    }

    /// The page that the address of this machine leads to.
    static func page(_ start: String) async throws -> String {
        let response = try await AsyncHTTPTransport().send(HTTPRequest("GET", start), limits: .issuer)
        guard let page = response.headers["location"] else { throw ExpectationFailure("a page behind \(start)") }
        return page
    }

    static func address(_ note: String) -> String? {
        // Not there yet is the usual answer.
        try? String(contentsOf: URL(filePath: note), encoding: .utf8)
    }
}
