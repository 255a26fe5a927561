import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

/// The schemas of what commands write with `--json`; the documents of all other tests are held against them too.
@Suite(.onWaitingThreads)
struct JSONSchemaTests {
    private static let scope = "https://harbor.onmicrosoft.com/tasks/read"

    @Test func `every command that writes JSON has a schema`() throws {
        let names = try HelpTests.commands()
        // One hands its output to a command, the other speaks the protocols of other tools.
        let others: Set = ["exec", "credential"]
        #expect(Set(names).subtracting(others).subtracting(JSONSchema.all.keys) == [])
        #expect(Set(JSONSchema.all.keys).subtracting(names) == ["account", "device-authorization", "error", "version"])
    }

    @Test func `a schema requires every member but those that depend on an option`() throws {
        var optional: [String] = []
        func visit(_ value: JSONValue, _ name: String) {
            for element in value.array ?? [] { visit(element, name) }
            guard let object = value.object else { return }
            let properties = object["properties"]?.object?.members.map(\.name) ?? []
            let required = (object["required"]?.array ?? []).compactMap(\.text)
            optional += Set(properties).subtracting(required).map { "\(name) \($0)" }
            for member in object.members { visit(member.value, name) }
        }
        for schema in JSONSchema.all.values { visit(.object(schema.root), schema.name) }
        #expect(Set(optional) == ["account accessTokens", "error total", "error candidates", "whoami pending"])
    }

    @Test(arguments: [
        ["list"], ["list", "--tokens"], ["list", "--limit", "1"], ["whoami", "-a", "tome@example.net"],
        ["claims", "tome@example.net"], ["claims", "tome@example.net", "department"], ["use"],
        ["use", "tome@example.net", "--dry-run"], ["use", "tome@example.net"], ["use", "--unset"],
        ["tag", "tome@example.net", "team=blue"], ["tag", "tome@example.net"], ["history"],
        ["explain", "--policy", "B2C_1_EditProfile", "--scope", scope],
        ["token", "-a", "tome@example.net", "--scope", scope, "--format", "json"],
        ["token", "-a", "tome@example.net", "--scope", scope, "--output", "token.txt"],
        ["purge", "--dry-run"], ["purge"], ["purge", "--all", "--yes"], ["export", "export.json"],
        ["export", "export.json", "--dry-run"], ["backup", "copy.db"], ["backup", "copy.db", "--dry-run"], ["status"],
        ["check"], ["rekey"], ["rekey", "--dry-run"], ["logout", "tome@example.net", "--dry-run"],
        ["logout", "tome@example.net", "--local-only"], ["import", "--dry-run", "cache.json"],
        ["import", "cache.json"],
    ])
    func `a document is as its schema says`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        try scratch.write(CachedUser.cache([.mara]), to: "cache.json")
        let files = ["export.json", "cache.json", "copy.db", "token.txt"]
        let name = try #require(arguments.first)
        let outcome = try scratch.command(arguments.map { files.contains($0) ? scratch.path($0) : $0 } + ["--json"])
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.hasPrefix("{\"schemaVersion\":1"))
        #expect(try JSONSchema.all[name]?.problems(of: outcome.output) == [])
    }

    @Test(arguments: ["list", "whoami", "claims", "use", "history", "status", "check", "purge"])
    func `so is that of a store that is not there`(command: String) throws {
        let outcome = try ScratchDirectory().run(command, "--json")
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try JSONSchema.all[command]?.problems(of: outcome.output) == [])
    }

    @Test func `so are those of a backup that is restored, and of a repair`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        let copy = scratch.path("copy.db")
        #expect(try scratch.run("backup", copy).status == 0)
        for options in [["--dry-run"], ["--yes"]] {
            let outcome = try scratch.command(["restore", copy, "--json"] + options)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try JSONSchema.all["restore"]?.problems(of: outcome.output) == [])
        }
        try scratch.damageValue()
        let repair = try scratch.run("check", "--repair", "--yes", "--json")
        #expect(try JSONSchema.all["check"]?.problems(of: repair.output) == [])
        #expect(try repair.json["repair"] as? [String: Any] != nil)
    }

    @Test func `what a schema does not say is found`() throws {
        let schema = try #require(JSONSchema.all["export"])
        #expect(try schema.problems(of: #"{"schemaVersion":1,"file":"f","dryRun":false}"#) == [])
        #expect(try schema.problems(of: #"{"schemaVersion":2,"file":"f","dryRun":false}"#) == [".schemaVersion is 2"])
        #expect(try schema.problems(of: #"{"schemaVersion":1,"file":1,"dryRun":false}"#) == [".file is integer"])
        #expect(try schema.problems(of: #"{"schemaVersion":1,"dryRun":false}"#) == [" lacks file"])
        #expect(try schema.problems(of: #"{"schemaVersion":1,"file":"f","dryRun":false,"x":1}"#).count == 1)
    }

    @Test func `a check of a file that is malformed as a whole has its document and its error`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.overwrite("tokenstore.db", with: Data("not a database at all, but long enough to be read".utf8))
        let outcome = try scratch.run("check", "--json")
        #expect(outcome.status == 6)
        let problems = try #require(try outcome.json["problems"] as? [[String: String]])
        #expect(problems.count == 1)
        #expect(problems.first?["place"] == "file")
        #expect(try outcome.errorJSON["code"] as? String == "store_damaged")
        #expect(try scratch.run("check").output.isEmpty)
    }
}
