import Foundation

/// The program as a person runs it, with its standard streams on files so that any number may run at once.
struct Command {
    /// What a run left behind.
    struct Outcome {
        /// The exit status, or 128 and the number of the signal as a shell reports it.
        let status: Int32
        let output: String
        let error: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }

        var json: [String: Any] {
            get throws { try Self.object(output) }
        }

        /// The `error` object of standard error.
        var errorJSON: [String: Any] {
            get throws { try Self.object(error)["error"] as? [String: Any] ?? [:] }
        }

        private static func object(_ text: String) throws -> [String: Any] {
            do {
                return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
            } catch {
                throw NoJSON(text: text)
            }
        }

        /// What was printed, for the report of a test.
        private struct NoJSON: Error { let text: String }
    }

    private static let named = ProcessInfo.processInfo.environment["TOKENSTORE_TEST_PROGRAM"] ?? ""

    /// Whether the program is one that was built for speed.
    static var isShipped: Bool { !named.isEmpty }

    /// The program that was built with the tests, or the one that the environment names: `.ci/run` tests what is shipped.
    static let binary: String = {
        if isShipped { return URL(filePath: named).path }
        let directory =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
            ?? Bundle.main.bundleURL
        return directory.appending(path: "tokenstore").path
    }()

    let arguments: [String]
    var environment: [String: String] = [:]
    var input = Data()

    /// Files to read from, by descriptor.
    var files: [Int32: String] = [:]

    /// Another program, with these arguments.
    var program = Self.binary

    /// Runs it and waits for its end.
    func run(in directory: ScratchDirectory) throws -> Outcome {
        let name = UUID().uuidString
        let streams = ["in", "out", "err"].map { directory.path("\(name).\($0)") }
        defer { for file in streams { unlink(file) } }
        try input.write(to: URL(filePath: streams[0]))
        var actions = SpawnActions()
        actions.open(streams[0], O_RDONLY, as: STDIN_FILENO)
        actions.open(streams[1], O_WRONLY | O_CREAT, as: STDOUT_FILENO)
        actions.open(streams[2], O_WRONLY | O_CREAT, as: STDERR_FILENO)
        for (descriptor, file) in files { actions.open(file, O_RDONLY, as: descriptor) }
        let process = try actions.spawn(program, arguments, environment: environment, home: directory)
        let status = SpawnActions.wait(for: process)
        let outcome = Outcome(status: status, output: try Self.text(streams[1]), error: try Self.text(streams[2]))
        // Whatever a test is about, the documents in it are as the schemas say.
        if program == Self.binary { try JSONSchema.expectDocuments(of: outcome, arguments) }
        return outcome
    }

    private static func text(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    }
}
