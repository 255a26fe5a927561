import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct TagCommandTests {
    private static let mara = "mara@example.net"

    private func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        #expect(try scratch.run("tag", Self.mara, "team=finance", "note=a=b").output == "note=a=b\nteam=finance\n")
        return scratch
    }

    @Test func `tags are set, printed and removed`() throws {
        let scratch = try filled()
        #expect(try scratch.run("tag", Self.mara).output == "note=a=b\nteam=finance\n")
        #expect(try scratch.run("tag", Self.mara, "--remove", "note", "team=sales").output == "team=sales\n")
        #expect(try scratch.run("tag", "ivo@example.org").output == "")
        let document = try scratch.run("tag", Self.mara, "--json").json
        #expect(document["tags"] as? [String: String] == ["team": "sales"])
    }

    @Test func `--tag selects accounts, also where a claim has the same name`() throws {
        let scratch = try filled()
        try scratch.run("tag", "ivo@example.org", "department=finance")
        func usernames(_ arguments: String...) throws -> [String?] {
            let document = try Command(
                arguments: ["list", "--json"] + arguments,
                environment: ["TOKENSTORE_PATH": scratch.store]
            ).run(in: scratch).json
            return (document["accounts"] as? [[String: Any]] ?? []).map { $0["username"] as? String }
        }
        #expect(try usernames("--tag", "team=Finance") == [Self.mara])
        #expect(try usernames("--tag", "team") == [Self.mara])
        #expect(try usernames("--tag", "department=finance") == ["ivo@example.org"])
        #expect(try usernames("--where", "department=finance") == [Self.mara])
        #expect(try usernames("--tag", "team", "--where", "department=legal") == [])
    }

    @Test func `a dry run prints what the tags would be, and changes nothing`() throws {
        let scratch = try filled()
        let before = try scratch.contents("tokenstore.db")
        #expect(try scratch.run("tag", Self.mara, "--dry-run", "--remove", "note").output == "team=finance\n")
        #expect(try scratch.run("tag", Self.mara, "--dry-run", "-q", "--remove", "note").output == "team=finance\n")
        let none = try scratch.run("tag", Self.mara, "--dry-run", "--remove", "note", "--remove", "team")
        #expect(none.output == "mara@example.net (b2c_1_signin) would have no tags\n", "\(none.error)")
        #expect(try scratch.contents("tokenstore.db") == before)
    }

    @Test func `what names no tag or no account is refused`() throws {
        let scratch = try filled()
        #expect(try scratch.run("tag", Self.mara, "team").status == 64)
        #expect(try scratch.run("tag", Self.mara, "=x").status == 64)
        #expect(try scratch.run("list", "--tag", "=x").status == 64)
        #expect(try scratch.run("tag", "nobody@example.net", "a=b").status == 3)
    }

    @Test func `a filter names one of several accounts, as the advice says`() throws {
        let scratch = try ScratchDirectory()
        var twin = CachedUser.mara
        twin.policy = "b2c_1_susi"
        try scratch.fill(.mara, twin)
        let ambiguous = try scratch.run("tag", Self.mara, "team=finance")
        #expect(ambiguous.status == 3 && ambiguous.error.contains("such as '--policy b2c_1_signin'"))
        #expect(try scratch.run("tag", Self.mara, "team=finance", "--policy", "b2c_1_signin").status == 0)
        #expect(try scratch.run("tag", Self.mara, "--policy", "b2c_1_signin").output == "team=finance\n")
        #expect(try scratch.run("tag", Self.mara, "--policy", "b2c_1_susi").output.isEmpty)
        #expect(try scratch.run("tag", Self.mara, "team=x", "--account", Self.mara).status == 64)
    }
}
