import Foundation
import IssuerSupport
import TestSupport

/// A program of the system, or of the environment that the tests run in.
struct Tool: Sendable {
    static let git = Tool(named: "git")
    static let kubectl = Tool(named: "kubectl")
    static let psql = Tool(named: "psql")
    static let curl = Tool(named: "curl")
    static let direnv = Tool(named: "direnv")
    static let python = Tool(named: "python3")

    /// nil: not installed.
    let path: String?

    var isInstalled: Bool { path != nil }

    init(named name: String) {
        let directories = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        path = directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether Python has a module.
    static func pythonHas(_ module: String) -> Bool {
        // A missing Python is a missing module.
        guard let python = python.path, let found = try? Shell.run(python, "-c", "import \(module); print('found')")
        else { return false }
        return found == "found\n"
    }

    static func fixture(_ name: String) -> String { Repository.root.appending(path: "Tests/Fixtures/\(name)").path }

    /// Runs it to its end.
    func run(
        _ arguments: [String],
        in scratch: ScratchDirectory,
        environment: [String: String] = [:],
        input: String = ""
    ) async throws -> Command.Outcome {
        let binaries = (Command.binary as NSString).deletingLastPathComponent
        let variables = ["TOKENSTORE_PATH": scratch.store, "PATH": "\(binaries):/usr/bin:/bin"]
        var command = Command(arguments: arguments, environment: variables.merging(environment) { $1 })
        command.input = Data(input.utf8)
        command.program = path ?? "not installed"
        return try await command.runAside(in: scratch)
    }
}

/// A server of the fixtures.
struct FixtureServer {
    /// Runs `body` with the port of a server, which ends with it.
    static func running(
        _ script: String,
        _ arguments: String...,
        in scratch: ScratchDirectory,
        _ body: (Int) async throws -> Void
    ) async throws {
        let name = UUID().uuidString
        var actions = SpawnActions()
        actions.open("/dev/null", O_RDONLY, as: STDIN_FILENO)
        actions.open(scratch.path(name), O_WRONLY | O_CREAT, as: STDOUT_FILENO)
        actions.open("/dev/null", O_WRONLY, as: STDERR_FILENO)
        let python = Tool.python.path ?? "not installed"
        let words = [Tool.fixture(script)] + arguments
        let process = try actions.spawn(python, words, environment: [:], home: scratch)
        defer {
            kill(process, SIGKILL)
            _ = SpawnActions.wait(for: process)
        }
        try await eventually("a port") { try scratch.contents(name).last == UInt8(ascii: "\n") }
        let line = String(decoding: try scratch.contents(name).dropLast(), as: UTF8.self)
        guard let port = Int(line) else { throw ExpectationFailure("a port, and not \(line)") }
        try await body(port)
    }
}

/// The lines of a help text that a person pastes elsewhere.
struct PastedLines {
    let text: String

    /// Those under `heading` in the help of a command.
    init(under heading: String, of command: [String]) throws {
        let help = try ScratchDirectory().command(command + ["--help"]).output
        let lines = help.components(separatedBy: "\n")
        let start = lines.firstIndex { $0.hasPrefix(heading) } ?? lines.endIndex
        text = lines[start...].dropFirst().prefix { $0.hasPrefix("  ") }.map { $0.dropFirst(2) + "\n" }.joined()
    }
}
