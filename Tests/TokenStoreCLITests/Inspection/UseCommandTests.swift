import TestTraits
import Testing

/// The default account: how it is chosen, and which commands take it.
@Suite(.onWaitingThreads)
struct UseCommandTests {
    private static let mara = "mara@example.net"
    private static let ivo = "ivo@example.org"

    /// Mara by two user flows, and Ivo, who is the default account.
    private func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        var twin = CachedUser.mara
        twin.policy = "b2c_1_susi"
        try scratch.fill(.mara, twin, .ivo)
        #expect(try scratch.run("use", Self.ivo).output == "using ivo@example.org (b2c_1_susi)\n")
        return scratch
    }

    @Test func `use prints, changes and drops the default account`() throws {
        let scratch = try filled()
        #expect(try scratch.run("use").output == "ivo@example.org (b2c_1_susi)\n")
        #expect(try scratch.run("use", Self.mara, "--policy", "b2c_1_signin").status == 0)
        #expect(try scratch.run("use").output == "mara@example.net (b2c_1_signin)\n")
        #expect(try scratch.run("use", "--unset").output.isEmpty)
        let none = try scratch.run("use")
        #expect(none.status == 0)
        #expect(none.output.isEmpty)
        #expect(none.error == "tokenstore: no default account; choose one with 'tokenstore use ACCOUNT'\n")
    }

    @Test(.tags(.slow), .ifSlowTestsAreWanted) func `of more accounts than are looked through none is proposed`() throws
    {
        let scratch = try ScratchDirectory()
        let people = (0...1_000).map { number in
            CachedUser(username: "u\(number)@example.net", uid: "uid-\(number)", lifetimes: [])
        }
        #expect(try scratch.run("import", input: CachedUser.cache(people)).status == 0)
        let outcome = try scratch.run("claims", "u2@example.ne")
        #expect(outcome.status == 3)
        #expect(!outcome.error.contains("did you mean"), "\(outcome.error)")
    }

    @Test func `use --json has the account, or null`() throws {
        let scratch = try filled()
        let account = try scratch.run("use", "--json").json["account"] as? [String: Any]
        #expect(account?["username"] as? String == Self.ivo)
        #expect(account?["isDefault"] as? Bool == true)
        #expect(try scratch.run("use", "--unset", "--json").json["account"] != nil)
        #expect(try scratch.run("use", "--json").json["account"] as? [String: Any] == nil)
    }

    @Test func `a dry run names the account and changes nothing`() throws {
        let scratch = try filled()
        let before = try scratch.contents("tokenstore.db")
        let outcome = try scratch.run("use", Self.mara, "--policy", "b2c_1_susi", "--dry-run")
        #expect(outcome.output == "would use mara@example.net (b2c_1_susi)\n")
        for quiet in [[], ["--quiet"]] {
            let unset = try scratch.command(["use", "--unset", "--dry-run"] + quiet)
            #expect(unset.output == "would no longer use ivo@example.org (b2c_1_susi)\n", "\(unset.error)")
        }
        #expect(try scratch.contents("tokenstore.db") == before)
        #expect(try scratch.run("use", "--unset").status == 0)
        let none = try scratch.run("use", "--unset", "--dry-run")
        #expect(none.output == "no account is the default one; nothing would be done\n", "\(none.error)")
    }

    @Test func `the choice survives a move of the store`() throws {
        let scratch = try filled()
        let other = try ScratchDirectory()
        for name in ["tokenstore.db", "key"] { try other.overwrite(name, with: scratch.contents(name)) }
        #expect(try other.run("use").output == "ivo@example.org (b2c_1_susi)\n")
    }

    @Test func `commands that need one account take the default one`() throws {
        let scratch = try filled()
        #expect(try scratch.run("whoami").output == "ivo@example.org\n")
        #expect(try scratch.run("claims", "--json").json["account"] is [String: Any])
        let token = try scratch.run(
            "token",
            "--account",
            Self.mara,
            "--policy",
            "b2c_1_signin",
            "--scope",
            "tasks.read"
        )
        #expect(try scratch.run("use", Self.mara, "--policy", "b2c_1_signin").status == 0)
        #expect(try scratch.run("token", "--scope", "tasks.read").output == token.output)
        #expect(try scratch.run("use", Self.ivo).status == 0)
        let explained = try scratch.run("explain", "--scope", "tasks.read", "--json").json
        let taken = (explained["accounts"] as? [[String: Any]])?.filter { $0["isTaken"] as? Bool == true }
        #expect(taken?.compactMap { $0["username"] as? String } == [Self.ivo])
    }

    @Test func `a filter wins over the default account, which decides among those that fit`() throws {
        let scratch = try filled()
        #expect(try scratch.run("whoami", "--policy", "b2c_1_signin").output == "mara@example.net\n")
        #expect(try scratch.run("whoami", "--policy", "b2c_1_susi").output == "ivo@example.org\n")
        #expect(try scratch.run("whoami", "--where", "department=finance").status == 3)
    }

    @Test func `an account that is named has to be the only one that fits`() throws {
        let scratch = try filled()
        #expect(try scratch.run("use", Self.mara, "--policy", "b2c_1_susi").status == 0)
        #expect(try scratch.run("whoami", Self.mara).status == 3)
        #expect(try scratch.run("whoami", "--account", Self.mara).status == 3)
        #expect(try scratch.run("use", Self.mara).status == 3)
    }

    @Test func `TOKENSTORE_ACCOUNT wins over the default account, and arguments win over it`() throws {
        let scratch = try filled()
        let chosen = ["TOKENSTORE_ACCOUNT": CachedUser.mara.homeAccountID]
        #expect(try scratch.run("whoami", environment: chosen).output == "mara@example.net\n")
        #expect(try scratch.run("whoami", "--account", Self.ivo, environment: chosen).output == "ivo@example.org\n")
        #expect(try scratch.run("whoami", "--where", "department=legal", environment: chosen).output == "\(Self.ivo)\n")
        #expect(
            try scratch.run("whoami", "--tenant", CachedUser.mara.tenant, environment: chosen).output
                == "\(Self.mara)\n"
        )
        #expect(try scratch.run("claims", "department", environment: chosen).output == "finance\n")
        #expect(try scratch.run("use", environment: chosen).error.contains("TOKENSTORE_ACCOUNT is"))
        let empty = ["TOKENSTORE_ACCOUNT": ""]
        #expect(try scratch.run("whoami", environment: empty).output == "ivo@example.org\n")
    }

    @Test func `a TOKENSTORE_ACCOUNT that fits no account is an error, also where there is one account`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("whoami", environment: ["TOKENSTORE_ACCOUNT": "nobody"])
        #expect(outcome.status == 3)
        #expect(outcome.error.hasPrefix("tokenstore: error: no account fits TOKENSTORE_ACCOUNT, which is 'nobody'; "))
    }

    @Test func `logout without an account takes the default one, and asks`() throws {
        let scratch = try filled()
        let refused = try scratch.run("logout", "--local-only")
        #expect(refused.status == 1)
        #expect(refused.error.contains("cannot ask 'Sign out ivo@example.org (b2c_1_susi)"))
        let question = "Sign out ivo@example.org (b2c_1_susi)"
        #expect(try scratch.runOnTerminal("logout", "--local-only", answers: [(question, "n\n")]).status == 9)
        #expect(try scratch.runOnTerminal("logout", "--local-only", answers: [(question, "y\n")]).status == 0)
        #expect(try scratch.run("use").output.isEmpty)
        let ambiguous = try scratch.run("logout", "--local-only", "--yes")
        #expect(ambiguous.status == 3)
        #expect(ambiguous.error.contains("2 accounts are in the store"))
    }

    @Test func `logout without an account takes the only one`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("logout", "--local-only").status == 1)
        #expect(try scratch.run("logout", "--local-only", "--yes").output == "signed out mara@example.net\n")
        #expect(try scratch.run("logout", "--local-only", "--yes").status == 3)
    }

    @Test func `list --json marks the default account`() throws {
        let scratch = try filled()
        let accounts = try scratch.run("list", "--json").json["accounts"] as? [[String: Any]] ?? []
        #expect(accounts.map { $0["isDefault"] as? Bool } == [true, false, false])
    }

    @Test func `arguments that contradict each other, or fit nothing, are refused`() throws {
        let scratch = try filled()
        #expect(try scratch.run("use", Self.ivo, "--unset").status == 64)
        #expect(try scratch.run("use", Self.ivo, "--account", Self.ivo).status == 64)
        #expect(try scratch.run("use", "nobody").status == 3)
        let empty = try ScratchDirectory()
        #expect(try empty.run("use").status == 0)
        #expect(try empty.run("use", "--unset").status == 0)
        #expect(try empty.run("use", Self.ivo).status == 3)
        #expect(try empty.names.isEmpty)
    }
}
