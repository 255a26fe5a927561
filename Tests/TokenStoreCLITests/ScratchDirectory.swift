import Foundation
import TestSupport

/// A directory of a test's own with a store in it.
struct ScratchDirectory {
    private let directory: TemporaryDirectory

    var path: String { directory.path }

    init() throws { directory = try TemporaryDirectory() }

    var store: String { path("tokenstore.db") }

    func path(_ name: String) -> String { path + "/" + name }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(filePath: path(name))) }

    /// Gives a file other contents, and no one else a look at them.
    func overwrite(_ name: String, with contents: Data) throws {
        try contents.write(to: URL(filePath: path(name)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }

    func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    /// Runs a command on the store of this directory.
    @discardableResult
    func run(_ arguments: String..., environment: [String: String] = [:], input: String = "") throws -> Command.Outcome
    {
        try command(arguments, environment, input).run(in: self)
    }

    /// Runs a command on the store of this directory, on a terminal.
    func runOnTerminal(
        _ arguments: String...,
        columns: UInt16 = 120,
        environment: [String: String] = [:],
        answers: [(question: String, answer: String)] = []
    ) throws -> Command.Outcome {
        try command(arguments, environment, "").runOnTerminal(in: self, columns: columns, answers: answers)
    }

    private func command(_ arguments: [String], _ environment: [String: String], _ input: String) -> Command {
        let environment = ["TOKENSTORE_PATH": store].merging(environment) { $1 }
        return Command(arguments: arguments, environment: environment, input: Data(input.utf8))
    }

    /// Imports the cache that the README imports: one person by two user flows, another by one of them.
    func importHarbor() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let outcome = try run("import", tests.appending(path: "Fixtures/harbor.json").path)
        guard outcome.status == 0 else { throw POSIXError(.EIO) }
    }

    /// Imports sign-ins into the store of this directory.
    func fill(_ people: Person...) throws {
        let outcome = try run("import", input: Person.cache(people))
        guard outcome.status == 0 else { throw POSIXError(.EIO) }
    }
}
