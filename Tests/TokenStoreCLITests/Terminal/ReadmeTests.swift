import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

/// What the README shows of the command line is what a shell shows.
@Suite(.onWaitingThreads)
struct ReadmeTests {
    private static let house = Repository.root
    private static let jq = "/usr/bin/jq"

    /// A command of the README and what it prints.
    private struct Example {
        let command: String
        var output = ""
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: jq), "needs jq"))
    func `the commands on the imported cache print what the README says`() throws {
        let scratch = try ScratchDirectory()
        #expect(try scratch.run("import", Self.house.appending(path: "Tests/Fixtures/harbor.json").path).status == 0)
        let binaries = (Command.binary as NSString).deletingLastPathComponent
        let settings = ["PATH=\(binaries):/usr/bin:/bin", "TOKENSTORE_PATH=\(scratch.store)", "HOME=\(scratch.path)"]
        let examples = try examples()
        #expect(examples.count > 4)
        for example in examples {
            let printed = try Shell.run("/usr/bin/env", settings + ["bash", "-euo", "pipefail", "-c", example.command])
            #expect(printed == example.output, "\(example.command)")
        }
    }

    @Test func `the recipe for CI goes on with the newest refresh token, with and without the store`() async throws {
        let file = Self.house.appending(path: "Sources/TokenStoreKit/TokenStoreKit.docc/ShellRecipes.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        let recipe = try #require(article.components(separatedBy: "### CI\n").last?.components(separatedBy: "```")[1])
        let script = String(recipe.dropFirst("sh\n".count))
            .replacing("api://deploy/Run", with: IssuerScene.scope.text)
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let key = ["TOKENSTORE_KEY": Data(repeating: 7, count: 32).base64EncodedString()]
            let backup = scene.scratch.path("ci.db")
            #expect(try await scene.run(["rekey", "--key", "environment"], environment: key).status == 0)
            #expect(try await scene.run(["backup", backup], environment: key).status == 0)
            let binaries = (Command.binary as NSString).deletingLastPathComponent
            let store = scene.scratch.path("tokenstore")
            var run = Command(
                arguments: ["-euc", script],
                environment: [
                    "PATH": "\(binaries):/usr/bin:/bin", "RUNNER_TEMP": scene.scratch.path,
                    "CI_TOKENSTORE_KEY": key["TOKENSTORE_KEY"] ?? "", "CI_TOKENSTORE_FILE": backup,
                ]
            )
            run.program = "/usr/bin/bash"
            let again = ["token", "--force-refresh", "--scope", IssuerScene.scope.text]
            let place = ["TOKENSTORE_PATH": store + "/tokenstore.db"].merging(key) { $1 }
            for isKept in [false, true, false] {
                if isKept {
                    #expect(try await scene.run(again, environment: place).status == 0)
                } else if FileManager.default.fileExists(atPath: store) {
                    try FileManager.default.removeItem(atPath: store)
                }
                let outcome = try await run.runAside(in: scene.scratch)
                #expect(outcome.status == 0, "\(outcome.error)")
            }
            #expect(try await scene.run(again, environment: place).status == 0)
        }
    }

    /// The console blocks before the one that signs in, which needs an issuer and a person.
    private func examples() throws -> [Example] {
        let readme = try String(contentsOf: Self.house.appending(path: "README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```console\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
            .prefix { !$0.contains("tokenstore login") }
        return blocks.joined().split(separator: "\n").reduce(into: []) { examples, line in
            if line.hasPrefix("$ ") {
                examples.append(Example(command: String(line.dropFirst(2))))
            } else if !examples.isEmpty {
                examples[examples.count - 1].output += line + "\n"
            }
        }
    }
}
