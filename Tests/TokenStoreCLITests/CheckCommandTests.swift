import Foundation
import Testing

struct CheckCommandTests {
    @Test func `a sound store has no problems`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("check")
        #expect(outcome.status == 0)
        #expect(outcome.output == "no problems\n")
        let document = try scratch.run("check", "--json").json
        #expect((document["problems"] as? [Any])?.isEmpty == true)
        #expect(document["repair"] is NSNull)
        #expect(try scratch.run("check", "--repair").status == 0)
    }

    @Test(arguments: ["", "this is no database, just text that somebody left here"])
    func `a file that is no store is damage`(text: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.overwrite("tokenstore.db", with: Data(text.utf8))
        for name in ["list", "claims", "status", "check", "export", "purge", "rekey"] {
            let outcome = try scratch.run(name)
            #expect(outcome.status == 6, "\(name)")
            #expect(outcome.output.isEmpty)
            #expect(try scratch.contents("tokenstore.db") == Data(text.utf8))
        }
        let outcome = try scratch.run("import", input: try Person.cache([.mara]))
        #expect(outcome.status == 6)
        #expect(try scratch.run("list", "--json").errorJSON["code"] as? String == "store_damaged")
    }

    @Test func `a damaged value is found, and repair keeps the rest`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        try scratch.damageValue()
        let outcome = try scratch.run("check")
        #expect(outcome.status == 6)
        #expect(outcome.output.contains("access_token"))
        #expect(outcome.error.contains("tokenstore check --repair"))
        #expect(try scratch.run("check", "--repair").status == 1)
        #expect(try scratch.run("check", "--repair", "--dry-run").status == 6)
        let repair = try scratch.run("check", "--repair", "--yes")
        #expect(repair.status == 0)
        #expect(repair.output.contains("the damaged file is kept as "))
        #expect(try scratch.run("check").status == 0)
        #expect(try scratch.run("list").lines.count == 3)
    }
}
