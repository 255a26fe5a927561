import Foundation
import Testing

struct StatusCommandTests {
    @Test func `status says where the store is, what it holds and who could read it`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.run("status")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(scratch.store))
        #expect(outcome.lines.contains { $0.contains(/^accounts +2$/) })
        #expect(outcome.lines.contains { $0.contains(/^key source +file$/) })
        #expect(outcome.output.contains("Who could read the tokens"))
        for reader in ["copy of the database file", "another user", "same user", "root"] {
            #expect(outcome.output.contains(reader))
        }
    }

    @Test func `status --json has the counts`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let document = try scratch.run("status", "--json").json
        #expect(document["path"] as? String == scratch.store)
        let counts = try #require(document["counts"] as? [String: Int])
        #expect(counts["accounts"] == 2)
        #expect(counts["refreshTokens"] == 2)
        #expect(document["keyProblem"] is NSNull)
        #expect((document["protection"] as? [[String: String]])?.isEmpty == false)
    }

    @Test func `status without the key prints everything and ends with 7`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        unlink(scratch.path("key"))
        let outcome = try scratch.run("status")
        #expect(outcome.status == 7)
        #expect(outcome.lines.contains { $0.contains(/^accounts +1$/) })
        #expect(outcome.error.hasPrefix("tokenstore: error: "))
        #expect(try scratch.run("status", "--json").json["keyProblem"] is String)
    }
}
