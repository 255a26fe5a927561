import Foundation
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct StatusCommandTests {
    @Test func `status says where the store is, what it holds and who could read it`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.run("status")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(scratch.store))
        #expect(outcome.lines[1] == "holds     2 accounts, 2 access tokens (1 expired), 2 refresh tokens, 2 ID tokens")
        #expect(outcome.lines[2].contains(/^key       file beside the database \([0-9a-f]+\), present$/))
        #expect(outcome.lines[3].contains(#/^made      20.+Z by tokenstore [0-9.]+; versions with schema 12 /#))
        #expect(
            outcome.lines.suffix(5) == [
                "Who could read the tokens", "  no   another user of this machine",
                "  no   someone with a copy of the database alone; a copy of the directory has the key",
                "  yes  any program of yours", "  yes  root",
            ]
        )
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
        #expect(counts["expiredAccessTokens"] == 1)
        let protection = try #require(document["protection"] as? [[String: Any]])
        #expect(protection.map { $0["reader"] as? String } == ["otherUser", "databaseCopy", "sameUser", "root"])
        #expect(protection.map { $0["canRead"] as? Bool } == [false, false, true, true])
        #expect(protection[1]["reason"] as? String == "a copy of the directory has the key")
    }

    @Test func `status without the key prints everything and ends with 7`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        unlink(scratch.path("key"))
        let outcome = try scratch.run("status")
        #expect(outcome.status == 7)
        #expect(outcome.lines.contains { $0.hasPrefix("holds     1 account, ") })
        #expect(outcome.error.hasPrefix("tokenstore: error: "))
        #expect(try scratch.run("status", "--json").json["keyProblem"] is String)
    }

    @Test func `status judges by the key that the store has, also where --key names another source`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let usual = try scratch.run("status")
        #expect(usual.status == 0)
        for source in ["passphrase", "environment", "file:/nowhere/key"] {
            let outcome = try scratch.run("status", "--key", source)
            #expect(outcome.status == 7, "\(source)")
            #expect(outcome.lines.suffix(5) == usual.lines.suffix(5), "\(source)")
        }
    }

    @Test func `a copy of the key elsewhere hides neither the one beside the database nor that it is gone`() throws {
        let (scratch, elsewhere) = (try ScratchDirectory(), try ScratchDirectory())
        try scratch.fill(.mara)
        try elsewhere.overwrite("copy", with: scratch.contents("key"))
        let usual = try scratch.run("status")
        let both = try scratch.run("status", "--key", "file:\(elsewhere.path("copy"))")
        #expect(both.status == 0)
        #expect(both.lines.suffix(5) == usual.lines.suffix(5))
        unlink(scratch.path("key"))
        let moved = try scratch.run("status", "--key", "file:\(elsewhere.path("copy"))")
        #expect(moved.status == 0)
        #expect(moved.lines[2].hasSuffix(", opened by that of file:\(elsewhere.path("copy"))"), "\(moved.lines[2])")
        #expect(moved.lines.contains { $0.contains("the key is in \(elsewhere.path("copy"))") })
    }

    @Test func `status of a store without its data keys prints everything and ends as every other command`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.execute("DELETE FROM data_key")
        let (list, outcome) = (try scratch.run("list"), try scratch.run("status"))
        #expect(list.status == 6)
        #expect(outcome.status == list.status)
        #expect(outcome.error == list.error)
        #expect(outcome.error.contains("has lost its data keys"), "\(outcome.error)")
        #expect(outcome.lines.contains { $0.hasPrefix("holds     1 account, ") })
        #expect(try scratch.run("status", "--json").json["keyProblem"] is String)
    }
}
