import Foundation
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct MissingStoreTests {
    @Test(arguments: [["list"], ["claims"], ["status"], ["check"]])
    func `reading a store that does not exist succeeds and creates nothing`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        let outcome = try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.path("deep/store/")])
            .run(in: scratch)
        #expect(outcome.status == 0)
        #expect(outcome.error.split(separator: "\n").count == 1)
        #expect(outcome.error.contains(scratch.path("deep/store/tokenstore.db")))
        #expect(outcome.error.contains("tokenstore login"))
        #expect(outcome.error.contains("tokenstore import FILE"))
        #expect(try scratch.names.isEmpty)
    }

    @Test(arguments: ["list", "claims", "status", "check"])
    func `an unreadable store is not a missing one`(name: String) throws {
        let scratch = try ScratchDirectory()
        // As a directory that is closed to this user, but for root as well.
        try FileManager.default.createSymbolicLink(atPath: scratch.path("loop"), withDestinationPath: "loop")
        let outcome = try scratch.run(name, "--store", scratch.path("loop/tokenstore.db"))
        #expect(outcome.status == 1)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains(scratch.path("loop")))
        #expect(!outcome.error.contains("no store"))
    }

    @Test(arguments: [["list"], ["claims", "x"], ["status"], ["purge"], ["check"], ["check", "--repair", "--yes"]])
    func `a path that is too long for a store is not a missing one`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        let long = scratch.path(Array(repeating: String(repeating: "d", count: 200), count: 3).joined(separator: "/"))
        let outcome = try scratch.command(arguments + ["--store", long])
        #expect(outcome.status == 1)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains("is too long for a store; give one of at most 500 bytes"), "\(outcome.error)")
        #expect(try scratch.names.isEmpty)
    }

    @Test func `a missing store with --quiet prints no line`() throws {
        let outcome = try ScratchDirectory().run("status", "--quiet")
        #expect(outcome.status == 0)
        #expect(outcome.error.isEmpty)
    }

    @Test func `list of a missing store is an empty document`() throws {
        let document = try ScratchDirectory().run("list", "--json").json
        #expect(document["schemaVersion"] as? Int == 1)
        #expect((document["accounts"] as? [Any])?.isEmpty == true)
    }

    @Test func `claims of a missing store are an empty document`() throws {
        let document = try ScratchDirectory().run("claims", "--json").json
        #expect(document["account"] is NSNull)
        #expect((document["profiles"] as? [Any])?.isEmpty == true)
    }

    @Test func `an account named for a missing store is not found`() throws {
        let outcome = try ScratchDirectory().run("claims", "mara", "--json")
        #expect(outcome.status == 3)
        #expect(try outcome.errorJSON["code"] as? String == "no_match")
    }

    @Test func `export of a missing store is the empty cache`() throws {
        let scratch = try ScratchDirectory()
        let outcome = try scratch.run("export")
        #expect(outcome.status == 0)
        #expect(outcome.output == "{}\n")
        #expect(try scratch.names.isEmpty)
    }

    @Test(arguments: [[], ["--all", "--yes"], ["--account", "mara", "--yes"], ["--dry-run"]])
    func `purge of a missing store removes nothing`(options: [String]) throws {
        let scratch = try ScratchDirectory()
        let outcome = try Command(
            arguments: ["purge", "--json"] + options,
            environment: ["TOKENSTORE_PATH": scratch.store]
        ).run(in: scratch)
        #expect(outcome.status == 0)
        #expect((try outcome.json["deleted"] as? [String: Int]) == .nothing)
        #expect(try scratch.names.isEmpty)
    }

    @Test func `rekey of a missing store is an error`() throws {
        let scratch = try ScratchDirectory()
        let outcome = try scratch.run("rekey")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("; make one with 'tokenstore import"))
        #expect(try scratch.names.isEmpty)
    }

    @Test(arguments: ["", "nonsense", "{", "[]", "null", "{\"Unknown\": {}}", "{\"Account\": {}} x"])
    func `an import that is refused does not create the store`(document: String) throws {
        let scratch = try ScratchDirectory()
        let outcome = try scratch.run("import", input: document)
        #expect(outcome.status == 1)
        #expect(outcome.error.hasPrefix("tokenstore: error: "))
        #expect(outcome.error.contains("; "))
        #expect(try scratch.names.isEmpty)
    }
}
