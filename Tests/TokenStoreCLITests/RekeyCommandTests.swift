import Foundation
import Testing

struct RekeyCommandTests {
    @Test func `every value is sealed anew and stays readable`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let before = try scratch.run("export").output
        let outcome = try scratch.run("rekey", "--json")
        #expect(outcome.status == 0)
        let document = try outcome.json
        #expect((document["resealed"] as? Int) ?? 0 > 0)
        #expect(document["keySource"] as? String == "file")
        #expect(document["resumed"] as? Bool == false)
        #expect(try scratch.run("export").output == before)
    }

    @Test func `a dry run promises nothing of a file that is not a token store`() throws {
        let scratch = try ScratchDirectory()
        let other = scratch.path("notes.db")
        try Data("not a database, but long enough to look like a file of one".utf8).write(to: URL(filePath: other))
        chmod(other, 0o600)
        #expect(try scratch.run("rekey", "--dry-run", "--store", other).status == 6)
        try scratch.fill(.mara)
        #expect(try scratch.run("rekey", "--dry-run").status == 0)
    }

    @Test func `--key names the new source`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("rekey", "--key", "file:\(scratch.path("moved.key"))")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("key source file:\(scratch.path("moved.key"))"))
        unlink(scratch.path("key"))
        #expect(try scratch.run("claims", "mara@example.net", "department").output == "finance\n")
    }
}
