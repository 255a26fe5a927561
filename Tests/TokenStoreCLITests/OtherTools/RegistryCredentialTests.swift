import Foundation
import TestSupport
import TestTraits
import Testing

/// The credential helper of Docker, by [its protocol](https://github.com/docker/docker-credential-helpers#development).
@Suite(.onWaitingThreads)
struct RegistryCredentialTests {
    private static let notFound = "credentials not found in native keychain"
    private let token = CachedUser.mara.secret("access")

    private func run(_ operation: String, input: String = "", _ scratch: ScratchDirectory? = nil) throws
        -> Command.Outcome
    {
        let scratch = try scratch ?? ScratchDirectory()
        let hosts = ["registry.example.com", "localhost:5000", "[2001:db8::1]:5000"].flatMap { ["--host", $0] }
        let arguments = ["credential", "docker"] + hosts + ["--scope", "tasks.read", operation]
        return try scratch.command(arguments, input: input)
    }

    private func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        return scratch
    }

    @Test(arguments: [
        "registry.example.com", "registry.example.com\n", "https://registry.example.com/v2/", "localhost:5000",
        "https://registry.example.com:443", "registry.example.com/v1/", "https://[2001:db8::1]:5000/v2/",
    ])
    func `get prints the server, the username and the token`(server: String) throws {
        let outcome = try run("get", input: server, filled())
        #expect(outcome.status == 0, "\(outcome.error)")
        let json = try outcome.json
        #expect(json["ServerURL"] as? String == server.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(json["Username"] as? String == "oauth2")
        #expect(json["Secret"] as? String == token)
        #expect(json.count == 3)
    }

    @Test(arguments: [
        "other.example.com", "http://registry.example.com", "registry.example.com:5000", "", "localhost",
        "registry.example.com@evil.example.org", "https://registry.example.com@evil.example.org/",
    ])
    func `another registry is one without credentials, in Docker's words`(server: String) throws {
        let outcome = try run("get", input: server, filled())
        #expect(outcome.status != 0)
        #expect(outcome.output == Self.notFound + "\n")
    }

    @Test(arguments: ["docker", "gcloud"])
    func `advice on standard output names the store that was meant`(tool: String) throws {
        let scratch = try ScratchDirectory()
        let store = scratch.path("none")
        let more = tool == "docker" ? ["--host", "r.example", "get"] : []
        let arguments = ["credential", tool, "--scope", "s", "--store", store] + more
        let outcome = try scratch.command(arguments, input: "r.example")
        #expect(outcome.output.contains("--store \(store)"), "\(outcome.output)")
    }

    @Test func `list names the registries, and version the program`() throws {
        let list = try run("list").json as? [String: String] ?? [:]
        #expect(list.keys.sorted() == ["[2001:db8::1]:5000", "localhost:5000", "registry.example.com"])
        #expect(Set(list.values) == ["oauth2"])
        #expect(try run("version").output.hasPrefix("tokenstore "))
    }

    @Test(arguments: ["store", "erase", "frob"])
    func `what cannot be done fails with a line on standard output, which Docker shows`(operation: String) throws {
        let input = #"{"ServerURL":"registry.example.com","Username":"a","Secret":"not to be kept"}"#
        let scratch = try filled()
        let outcome = try run(operation, input: input, scratch)
        #expect(outcome.status != 0)
        #expect(outcome.output.hasPrefix("tokenstore: "))
        #expect(!(outcome.output + outcome.error).contains("not to be kept"))
        #expect(try run("get", input: "registry.example.com", scratch).status == 0)
    }

    @Test func `a failure is said on standard output too`() throws {
        let outcome = try run("get", input: "registry.example.com")
        #expect(outcome.status == 3)
        #expect(outcome.output.hasPrefix("tokenstore: no account fits"))
    }

    @Test func `the script of the help text is a helper`() async throws {
        let scratch = try filled()
        let lines = try PastedLines(under: "/usr/local/bin/docker-credential", of: ["credential", "docker"]).text
        try scratch.write(
            lines.replacing("api://registry/Pull", with: "tasks.read"),
            to: "docker-credential-tokenstore"
        )
        let input = "registry.example.com\n"
        let script = [scratch.path("docker-credential-tokenstore"), "get"]
        let outcome = try await Tool(named: "sh").run(script, in: scratch, input: input)
        #expect(try outcome.json["Secret"] as? String == token, "\(outcome.error)")
        let settings = try PastedLines(under: "~/.docker/config.json", of: ["credential", "docker"]).text
        let helpers = try JSONSerialization.jsonObject(with: Data(settings.utf8)) as? [String: [String: String]]
        #expect(helpers == ["credHelpers": ["registry.example.com": "tokenstore"]])
    }
}
