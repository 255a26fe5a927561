import Foundation
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct PurgeCommandTests {
    @Test(arguments: [
        ("purge --all --yes", true), ("tag mara@example.net a=b", true), ("purge --all --dry-run", false),
        ("list", false), ("use mara@example.net", true), ("use --json", false),
        ("tag mara@example.net --json", false), ("check", false), ("check --json", false),
    ])
    func `a change whose report cannot be written is said to be made`(arguments: String, isMade: Bool) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        var command = Command(
            arguments: ["-c", "\"$0\" \(arguments) > /dev/full", Command.binary],
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        command.program = "/usr/bin/bash"
        let outcome = try command.run(in: scratch)
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("standard output cannot be written ("), "\(outcome.error)")
        #expect(outcome.error.contains("; what was to be changed may be changed already") == isMade, "\(outcome.error)")
    }

    @Test func `without a selector only expired access tokens are purged, without a prompt`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.run("purge")
        #expect(outcome.status == 0)
        #expect(outcome.output == "deleted 0 accounts, 1 access token, 0 refresh tokens, 0 ID tokens\n")
        #expect(try scratch.run("list", "--json").json["accounts"] as? [Any] != nil)
        #expect(try scratch.run("purge", "--json").json["deleted"] as? [String: Int] == .nothing)
        #expect(try scratch.run("list").lines.count == 3)
    }

    @Test func `a selected account is removed with everything it has`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.run("purge", "--account", "mara@example.net", "--yes", "--json")
        #expect(outcome.status == 0)
        let document = try outcome.json
        #expect(document["schemaVersion"] as? Int == 1)
        #expect(document["dryRun"] as? Bool == false)
        #expect(
            document["deleted"] as? [String: Int]
                == .deleted(accounts: 1, accessTokens: 1, refreshTokens: 1, idTokens: 1)
        )
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test(arguments: [["--account", "mara@example.net"], ["--policy", "b2c_1_signin"], ["--all"], []])
    func `a dry run lists exactly what would be removed, and changes nothing`(selector: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        func purge(_ options: String...) throws -> Command.Outcome {
            try Command(arguments: ["purge"] + selector + options, environment: ["TOKENSTORE_PATH": scratch.store])
                .run(in: scratch)
        }
        let before = try scratch.run("list", "--json", "--tokens").output
        let trial = try purge("--dry-run", "--json")
        #expect(trial.status == 0)
        #expect(try trial.json["dryRun"] as? Bool == true)
        #expect(try scratch.run("list", "--json", "--tokens").output == before)
        let text = try purge("--dry-run").output
        #expect(text.hasPrefix("would delete "))
        #expect(try purge("--yes").output == text.replacing("would delete", with: "deleted"))
    }

    @Test func `without a terminal and without --yes nothing is deleted`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("purge", "--account", "mara@example.net")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("--yes"))
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test(arguments: [("y\n", 0, 1), ("n\n", 9, 2), ("\n", 9, 2), ("\u{4}", 9, 2)])
    func `on a terminal purge asks once`(answer: String, status: Int32, lines: Int) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let question =
            "Delete 1 account, 1 access token, 1 refresh token, 1 ID token: mara@example.net (b2c_1_signin)? [y/N] "
        let outcome = try scratch.runOnTerminal("purge", "--all", answers: [(question, answer)])
        #expect(outcome.status == status)
        #expect(try scratch.run("list").lines.count == lines)
    }

    @Test func `a dry run names all accounts, and a purge five of them`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let trial = try scratch.run("purge", "--account", "ivo@example.org", "--dry-run")
        #expect(trial.output.hasSuffix(": ivo@example.org (b2c_1_susi)\n"), "\(trial.output)")
        for number in 1...6 {
            try scratch.execute(
                """
                INSERT INTO account (authority, home_account_id, account_key, environment, username, username_fold,
                    created_at, last_used_at)
                VALUES ('a', 'id\(number)', 'id\(number)', 'a', '', '', 0, 0)
                """
            )
        }
        let all = try scratch.run("purge", "--all", "--dry-run").output
        #expect(all.hasPrefix("would delete 8 accounts, "), "\(all)")
        for name in ["mara@example.net (b2c_1_signin)", "ivo@example.org (b2c_1_susi)", "id1", "id6"] {
            #expect(all.contains(name) && !all.contains("more"), "\(all)")
        }
        let names = try scratch.run("purge", "--all", "--dry-run", "--json").json["accountNames"] as? [String]
        #expect(names?.count == 8)
        let old = try scratch.run("purge", "--older-than", "1d", "--dry-run").output
        #expect(old.hasSuffix(": id1, id2, id3, id4, id5, id6\n"), "\(old)")
        let deleted = try scratch.run("purge", "--all", "--yes").output
        #expect(deleted.contains(", id1, id2, id3 and 3 more\n"), "\(deleted)")
    }

    @Test func `--no-input does not ask even on a terminal`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.runOnTerminal("purge", "--all", "--no-input")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("--yes"))
    }

    @Test func `Ctrl-C at the question ends with 130`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.runOnTerminal("purge", "--all", answers: [("[y/N]", "\u{3}")])
        #expect(outcome.status == 130)
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test(arguments: [("2w", 0), ("11d", 0), ("9d", 1), ("1w", 1), ("230h", 1), ("14000m", 1), ("800000s", 1)])
    func `accounts that were not used for long are purged`(age: String, accounts: Int) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.age()
        let document = try scratch.run("purge", "--older-than", age, "--yes", "--json").json
        #expect((document["deleted"] as? [String: Int])?["accounts"] == accounts)
    }

    @Test func `an account that does not exist is an error`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("purge", "--account", "nobody", "--yes").status == 3)
    }

    @Test func `an empty tenant, as of a variable that is not set, deletes no account`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.nameless)
        for value in ["", " ", "\t\n", "\u{A0}"] {
            let outcome = try scratch.run("purge", "--tenant", value, "--yes")
            #expect(outcome.status == 64)
            #expect(outcome.error == "tokenstore: error: --tenant is empty; give a value, or leave it out\n")
        }
        #expect(try scratch.run("list", "--json").json["total"] as? Int == 1)
    }

    @Test func `an account can be deleted without the key`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        unlink(scratch.path("key"))
        let outcome = try scratch.run("purge", "--account", "mara@example.net", "--yes")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("deleted 1 account, "))
        #expect(try scratch.run("purge", "--where", "department", "--yes").status == 7)
    }

    @Test func `--quiet prints nothing`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("purge", "--all", "--yes", "--quiet")
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.isEmpty)
    }
}
