import Foundation
import TestTraits
import Testing

/// Counts are true, also where a list is cut short.
@Suite(.onWaitingThreads)
struct TrueCountTests {
    /// A store with `count` accounts.
    private static func store(_ count: Int) throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        let people = (0..<count).map { index in
            CachedUser(username: "p\(index)@example.net", uid: "uid-\(index)", lifetimes: [], hasRefreshToken: true)
        }
        guard try scratch.run("import", input: CachedUser.cache(people)).status == 0 else { throw POSIXError(.EIO) }
        return scratch
    }

    @Test func `an ambiguity counts all matching accounts`() throws {
        let scratch = try Self.store(1_120)
        let outcome = try scratch.run("token", "--scope", "tasks.read")
        #expect(outcome.status == 3)
        #expect(outcome.error.contains("error: 1,120 accounts are in the store"))
        #expect(outcome.error.hasSuffix("  and 1,100 more\n"))
        let fitting = try scratch.run("token", "--scope", "tasks.read", "--policy", "b2c_1_signin", "--json")
        #expect(try fitting.errorJSON["total"] as? Int == 1_120)
        #expect(try fitting.errorJSON["message"] as? String == "1,120 accounts fit")
        #expect(try fitting.errorJSON["hint"] as? String == "name one with --account")
    }

    @Test func `a truncated list says how many are left out`() throws {
        let scratch = try Self.store(1_120)
        let table = try scratch.run("list", "--limit", "2")
        #expect(table.lines.count == 3)
        #expect(table.error.contains("and 1,118 more"), "\(table.error)")
        #expect(try scratch.run("list", "--limit", "2", "--json").json["total"] as? Int == 1_120)
        #expect(try scratch.run("list", "--json", "--account", "p7@example.net").json["total"] as? Int == 1)
        #expect(try scratch.run("list").error.isEmpty)
    }

    @Test func `explain says how many accounts it does not name`() throws {
        let scratch = try Self.store(1_120)
        let text = try scratch.run("explain", "--scope", "tasks.read", "--account", "p7@example.net").output
        #expect(text.contains("\n(and 1,069 more accounts)\n") || text.contains("\n(and 1,070 more accounts)\n"))
        #expect(try scratch.run("explain", "--scope", "tasks.read", "--json").json["total"] as? Int == 1_120)
    }

    @Test func `a dry run names all accounts, each with its user flow`() throws {
        let scratch = try Self.store(30)
        let names = (0..<30).map { "p\($0)@example.net (b2c_1_signin)" }
        let backup = scratch.path("backup.db")
        #expect(try scratch.run("backup", backup).status == 0)
        let restore = try scratch.run("restore", "--dry-run", backup)
        #expect(restore.lines.count == 2)
        for line in restore.lines {
            #expect(names.allSatisfy { line.contains($0) }, "\(line)")
            #expect(!line.contains(" more"))
        }
        let document = try scratch.run("restore", "--dry-run", "--json", backup).json
        for member in ["restored", "replaced"] {
            #expect(Set((document[member] as? [String: Any])?["names"] as? [String] ?? []) == Set(names))
        }
        let other = try ScratchDirectory()
        let plan = try other.run("import", "--dry-run", "--json", input: scratch.run("export").output).json
        #expect(Set(plan["accountNames"] as? [String] ?? []) == Set(names))
    }

    @Test func `where no option tells the accounts apart, two do`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        let hint = try #require(try scratch.run("claims", "--json").errorJSON["hint"] as? String)
        let options = "--account mara@example.net --policy b2c_1_editprofile"
        #expect(hint == "name one with --account and --policy, such as '\(options)'")
        #expect(try scratch.command(["claims"] + options.split(separator: " ").map(String.init)).status == 0)
    }

    @Test func `an account that is told by its name alone needs no second option`() throws {
        let scratch = try ScratchDirectory()
        var (other, plain) = (CachedUser.mara, CachedUser.ivo)
        other.policy = "b2c_1_susi"
        plain.policy = nil
        try scratch.fill(.mara, other, plain)
        let hint = try #require(try scratch.run("claims", "--json").errorJSON["hint"] as? String)
        #expect(hint.hasPrefix("name one with --account and --policy, such as '--account mara@example.net "), "\(hint)")
    }

    @Test func `of one issuer at two hosts, the host tells the accounts apart`() throws {
        let scratch = try ScratchDirectory()
        let (hosts, issuer) = (["a.example", "b.example"], CachedUser.mara.issuer)
        let people = hosts.map { host in
            CachedUser(username: "mara", uid: CachedUser.mara.uid, environment: host, claims: ["iss": issuer])
        }
        try scratch.fill(people[0], people[1])
        let outcome = try scratch.run("claims", "--account", "mara")
        #expect(outcome.status == 3)
        for host in hosts { #expect(outcome.error.contains("\(issuer) at \(host)"), "\(outcome.error)") }
        let option = HintShell.quoted(outcome.error)
        #expect(option.hasPrefix("--issuer "), "\(outcome.error)")
        let words = ["claims", "--account", "mara"] + option.split(separator: " ").map(String.init)
        #expect(try scratch.command(words).status == 0)
    }

    @Test(arguments: [
        ("issuer", "name one with --issuer, such as '--issuer https://a.example/op'"),
        ("policy", "name one with --policy, such as '--policy b2c_1_signin'"),
    ])
    func `an ambiguity names the option that tells the accounts apart`(kind: String, hint: String) throws {
        let scratch = try ScratchDirectory()
        if kind == "policy" {
            var other = CachedUser.mara
            other.policy = "b2c_1_susi"
            try scratch.fill(.mara, other)
        } else {
            let people = ["a.example", "b.example"].map { host in
                CachedUser(
                    username: "",
                    uid: "1",
                    tenant: "",
                    policy: nil,
                    environment: host,
                    claims: ["iss": "https://\(host)/op"]
                )
            }
            try scratch.fill(people[0], people[1])
        }
        let name = kind == "policy" ? "mara@example.net" : "1."
        let outcome = try scratch.run("claims", "--json", "--account", name)
        #expect(try outcome.errorJSON["hint"] as? String == hint, "\(outcome.error)")
    }
}
