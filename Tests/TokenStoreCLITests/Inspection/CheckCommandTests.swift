import Database
import Foundation
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onWaitingThreads)
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

    @Test(arguments: ["", "this is not a database, just text that a person left here"])
    func `a file that is not a token store is damage`(text: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.overwrite("tokenstore.db", with: Data(text.utf8))
        for name in ["list", "claims", "status", "check", "export", "purge", "rekey"] {
            let outcome = try scratch.run(name)
            #expect(outcome.status == 6, "\(name)")
            #expect(outcome.output.isEmpty)
            #expect(try scratch.contents("tokenstore.db") == Data(text.utf8))
        }
        let outcome = try scratch.run("import", input: try CachedUser.cache([.mara]))
        #expect(outcome.status == 6)
        #expect(try scratch.run("list", "--json").errorJSON["code"] as? String == "store_damaged")
    }

    @Test func `a damaged value is found, and a repair keeps the rest`() throws {
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

    @Test func `a repair behind a rekey that was stopped says how to finish that`() throws {
        struct Stop: Error {}
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let store = try TokenStore.open(at: StorePath(scratch.store))
        #expect(throws: Stop.self) { try store.rekey { _ in throw Stop() } }
        store.close()
        try scratch.damageValue()
        let repair = try scratch.run("check", "--repair", "--yes")
        #expect(repair.status == 0, "\(repair.error)")
        #expect(repair.error == "tokenstore: a rekey is unfinished; run 'tokenstore rekey' to finish it\n")
        #expect(try scratch.run("rekey", "--yes").status == 0)
        #expect(try scratch.run("status", "--json").json["isRekeyUnfinished"] as? Bool == false)
        #expect(try scratch.run("check").status == 0)
    }

    @Test func `a repair opens the key once to look and once to mend`() throws {
        let scratch = try ScratchDirectory()
        let (program, runs) = (scratch.path("wrapper"), scratch.path("runs"))
        try scratch.write("#!/bin/sh\necho run >> '\(runs)'\nexec tr A-Za-z N-ZA-Mn-za-m\n", to: "wrapper")
        try #require(chmod(program, 0o700) == 0)
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        let key = ["--key", "command:\(program)"]
        #expect(try scratch.command(["import", scratch.path("cache.json")] + key).status == 0)
        try scratch.damageValue()
        unlink(runs)
        let repair = try scratch.command(["check", "--repair", "--yes"] + key)
        #expect(repair.status == 0, "\(repair.error)")
        #expect(try scratch.contents("runs") == Data("run\nrun\n".utf8))
    }

    @Test func `a repair that loses a sign-in names it and ends with 6`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        try scratch.damageSession(of: "mara@example.net")
        let names = try scratch.names
        let plan = try scratch.run("check", "--repair", "--dry-run")
        #expect(plan.status == 6)
        #expect(plan.output.contains("would have to sign in again: mara@example.net (client "))
        #expect(plan.output.contains("would lose 1 row of refresh_token"))
        let document = try scratch.run("check", "--repair", "--dry-run", "--json").json
        #expect((document["repair"] as? [String: Any])?["damagedCopy"] is NSNull)
        #expect(document["dryRun"] as? Bool == true)
        #expect(try scratch.names == names)
        let repair = try scratch.run("check", "--repair", "--yes")
        #expect(repair.status == 6)
        #expect(repair.output.contains("has to sign in again: mara@example.net (client "))
        let command = "'tokenstore login --authority https://harbor.b2clogin.com/"
        #expect(repair.output.contains(command), "\(repair.output)")
        #expect(repair.error.contains("sign in again with \(command)"), "\(repair.error)")
        #expect(!repair.output.contains("ivo@example.org"))
        #expect(repair.error.contains("the store is repaired, but 1 sign-in was lost"))
        #expect(try scratch.run("check").status == 0)
        #expect(try scratch.run("list").status == 0)
    }

    @Test func `a repair names who signs in again where refresh tokens are lost with their index`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        try scratch.fill(CachedUser(username: "nil@example.net", uid: "nil"))
        var pages: [Int] = []
        do {
            let connection = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            pages = try connection.all("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'refresh_token'") {
                Int($0.integer(0))
            }
        }
        var bytes = try scratch.contents("tokenstore.db")
        for page in pages where page > 0 {
            bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(count: 4096))
        }
        try scratch.overwrite("tokenstore.db", with: bytes)
        let repair = try scratch.run("check", "--repair", "--yes")
        #expect(repair.status == 6)
        // One of them may never have had a refresh token: the file no longer says.
        let lines = repair.lines.filter { $0.hasPrefix("may have to sign in again: ") }
        #expect(lines.count == 4, "\(repair.output)")
        #expect(lines.allSatisfy { $0.contains(", with 'tokenstore login --authority https://") }, "\(lines)")
        #expect(repair.output.contains("\nother accounts may have to sign in again too: a table"), "\(repair.output)")
        #expect(
            repair.error.contains("sign-ins may have been lost; sign in again with 'tokenstore login --authority ")
        )
        #expect(!repair.error.contains("URL"), "\(repair.error)")
    }

    @Test func `a repair names the lost sign-ins in its JSON`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        try scratch.damageSession(of: "ivo@example.org")
        let outcome = try scratch.run("check", "--repair", "--yes", "--json")
        let repair = try #require(outcome.json["repair"] as? [String: Any])
        #expect(try outcome.json["dryRun"] as? Bool == false)
        let lost = try #require(repair["lostSignIns"] as? [[String: Any]])
        #expect(lost.compactMap { $0["username"] as? String } == ["ivo@example.org"])
        #expect(repair["mayHaveLostOthers"] as? Bool == false)
        #expect(outcome.status == 6)
    }

    @Test func `a file that cannot be repaired ends a repair with 1 and stays as it was`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.loseDataKeys()
        let before = try scratch.contents("tokenstore.db")
        #expect(try scratch.run("check", "--repair", "--yes").status == 1)
        #expect(try scratch.contents("tokenstore.db") == before)
    }

    @Test(arguments: ["DELETE FROM data_key", "UPDATE data_key SET wrapped = zeroblob(75), is_current = 0"])
    func `a trial of a repair that cannot be made does not advise to make it`(edit: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.execute(edit)
        let trial = try scratch.run("check", "--repair", "--dry-run")
        #expect(trial.status == 6)
        #expect(trial.error.contains("no repair is possible: "), "\(trial.error)")
        #expect(!trial.error.contains("tokenstore check"), "\(trial.error)")
        #expect(trial.error.contains("; restore a "), "\(trial.error)")
        #expect(try scratch.run("check", "--repair", "--yes").status == 1)
    }

    @Test(arguments: [
        (["check"], "salvage it with 'tokenstore check --repair'"),
        (["check", "--repair", "--yes"], "restore a backup with 'tokenstore restore FILE'"),
    ])
    func `a check does not advise to check`(command: [String], advice: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("backup", "--quiet", scratch.path("b")).status == 0)
        try scratch.execute("UPDATE data_key SET wrapped = x'7465787400'")
        let outcome = try scratch.command(command)
        #expect(outcome.status != 0)
        #expect(!outcome.error.contains("'tokenstore check'"), "\(outcome.error)")
        #expect(outcome.error.contains(advice), "\(outcome.error)")
        #expect(try scratch.run("restore", "--yes", scratch.path("b")).status == 0)
        #expect(try scratch.run("check").status == 0)
    }

    @Test func `a repair migrates a store of an older schema`() throws {
        let scratch = try ScratchDirectory()
        try OldStore.make(at: StorePath(scratch.store), version: 5, rows: .twelveAccounts)
        #expect(try scratch.run("check").status == 1)
        #expect(try scratch.run("check", "--repair", "--yes").status == 0)
        #expect(try scratch.run("check").status == 0)
        #expect(try scratch.run("list").lines.count == 12 + 1)
    }
}
