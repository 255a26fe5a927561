import Foundation
import IssuerSupport
import PostgreSQL
import TestSupport
import TestTraits
import Testing

extension ServerFaultCommandTests {
    @Test(.disabled(if: TestCluster.isWanted, "the servers of a cluster have TLS, and ask for no password"))
    func `what does not pass is not to be tried again later, and its hint works`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        for mode in ["require", "verify-full"] {
            let store = scene.address("trusted", "&sslmode=" + mode)
            try expect(Fault(store: store, status: 1, words: ["does not support SSL"]), scene)
        }
        var fault = Fault(store: scene.address(), status: 1, words: ["refused a setting", "TimeZone"])
        fault.environment["PGTZ"] = "Nowhere/Nothing"
        try expect(fault, scene)
        fault = Fault(store: scene.address(), status: 1, words: ["min_protocol_version"])
        fault.environment["PGSSLMINPROTOCOLVERSION"] = "bogus"
        try expect(fault, scene)
        // libpq would warn of the file on standard error, where a JSON error is.
        let file = scene.scratch.path("pgpass")
        try Data("*:*:*:app:planted-password\n".utf8).write(to: URL(filePath: file))
        #expect(chmod(file, 0o644) == 0)
        fault = Fault(store: scene.address("app"), status: 1, words: ["others may use the password file"])
        fault.environment["PGPASSFILE"] = file
        try expect(fault, scene)
        let place = ["TOKENSTORE_PATH": scene.address("app"), "PGPASSFILE": file]
        let refused = try scene.scratch.command(["list"], place)
        #expect(refused.error.hasSuffix("; run 'chmod 600 \(file)'\n"), "\(refused.error)")
        try Shell.run("/bin/chmod", "600", file)
        // The role has no rights here, which only a server that has let it in can say.
        #expect(try scene.scratch.command(["list"], place).error.contains("may not use the schema"))
    }

    /// A new store on a server of its own, and that server's standby.
    private func storeWithStandby() throws -> (ServerCommandScene, primary: TestServer, standby: TestServer) {
        let primary = try TestServer()
        let standby = try TestServer(following: primary)
        let scene = try ServerCommandScene(on: primary)
        try scene.create()
        return (scene, primary, standby)
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `who only reads is told how to read from a standby`() throws {
        let (scene, primary, standby) = try storeWithStandby()
        defer {
            primary.stop()
            standby.stop()
        }
        try scene.run("import", input: CachedUser.cache([.mara]))
        let place = scene.address(port: standby.port)
        let reader = try standby.connect("&target_session_attrs=any")
        while try count(reader, "SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'") == 0
            || count(reader, "SELECT count(*) FROM \(scene.schema).account") == 0
        {
            usleep(10_000)
        }
        for command in ["list", "status", "check", "export", "history"] {
            let input = command == "export" ? [scene.scratch.path("out.json")] : []
            let refused = try scene.scratch.command([command] + input, ["TOKENSTORE_PATH": place])
            #expect(refused.status == 8)
            #expect(refused.error.contains("add target_session_attrs=any to the address"), "\(refused.error)")
            let all = ["TOKENSTORE_PATH": place + "&target_session_attrs=any"]
            let read = try scene.scratch.command([command] + input, all)
            #expect(read.status == 0, "\(command): \(read.error)")
        }
        // It has all that there is, however long ago that was written.
        let status = try scene.scratch.command(["status"], ["TOKENSTORE_PATH": place + "&target_session_attrs=any"])
        #expect(
            status.output.contains(", a standby with") || status.output.contains(", a standby whose last commit is ")
        )
        let writing = try scene.scratch.command(
            ["import"],
            ["TOKENSTORE_PATH": place],
            input: CachedUser.cache([.ivo])
        )
        #expect(writing.status == 8)
        #expect(!writing.error.contains("target_session_attrs"), "\(writing.error)")
        // What decides what is deleted is read where it can be written, whatever the address says.
        for attributes in ["", "&target_session_attrs=any"] {
            let environment = ["TOKENSTORE_PATH": place + attributes]
            let trial = try scene.scratch.command(["purge", "--dry-run"], environment)
            #expect(trial.status == 8)
            #expect(!trial.error.contains("target_session_attrs"), "\(trial.error)")
        }
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `a standby that is behind decides neither which token is printed nor what is purged`() throws {
        let (scene, primary, standby) = try storeWithStandby()
        defer {
            primary.stop()
            standby.stop()
        }
        let reader = try standby.connect("&target_session_attrs=any")
        while try count(reader, "SELECT count(*) FROM pg_tables WHERE tablename = 'claim_index'") == 0 {
            usleep(10_000)
        }
        try reader.execute("SELECT pg_wal_replay_pause()")
        while try reader.first("SELECT pg_get_wal_replay_pause_state()", body: { $0.text(0) }) != "paused" {
            usleep(10_000)
        }
        try scene.run("import", input: CachedUser.cache([.mara]))
        let both = ":\(standby.port),127.0.0.1:\(primary.port)/"
        let place = scene.address(port: standby.port).replacing(":\(standby.port)/", with: both)
        let environment = ["TOKENSTORE_PATH": place + "&target_session_attrs=prefer-standby"]
        func run(_ arguments: String...) throws -> Command.Outcome {
            try scene.scratch.command(arguments, environment)
        }
        var listed = try run("list")
        while !listed.error.contains("read from a standby whose last commit is ") { listed = try run("list") }
        #expect(!listed.output.contains("mara@"))
        let token = try run("token", "--account", "mara@example.net", "--scope", "tasks.read")
        #expect(token.output == CachedUser.mara.secret("access") + "\n", "\(token.error)")
        let purge = try run("purge", "--account", "mara@example.net", "--dry-run")
        #expect(purge.output.contains("mara@example.net"), "\(purge.error)")
        let all = try run("purge", "--all", "--dry-run")
        #expect(all.output.contains("1 account"), "\(all.error)")
        let copy = try run(
            "copy",
            place + "&target_session_attrs=prefer-standby",
            scene.scratch.path("new/"),
            "--keep-source",
            "--dry-run"
        )
        #expect(copy.output.contains("would copy 1 account,"), "\(copy.error)")
        // While the primary is away, what the standby has is handed out, and nothing is said of what it lacks.
        try reader.execute("SELECT pg_wal_replay_resume()")
        while try count(reader, "SELECT count(*) FROM \(scene.schema).account") == 0 { usleep(10_000) }
        primary.stop()
        for options in [["--cached"], []] {
            let kept = try scene.scratch.command(
                ["token", "--account", "mara@example.net", "--scope", "tasks.read"] + options,
                environment
            )
            #expect(kept.output == CachedUser.mara.secret("access") + "\n", "\(kept.error)")
            #expect(kept.error.contains("the token is from a standby"))
        }
        #expect(try run("token", "--account", "ivo@example.org", "--scope", "tasks.read").status == 8)
    }

    @Test func `a sign-in to a store that was moved ends before anybody is asked to sign in`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        try scene.server.connect().execute(
            "UPDATE \(scene.schema).store SET moved_to = 'postgresql://other.example/db'"
        )
        // Nothing listens there: who asked the issuer first would say so.
        let issuer = ["--client-id", "app", "--authority", "https://127.0.0.1:1/tenant"]
        let person = ["--username", "mara@example.net", "--password-from", "0"]
        for command in [
            ["login", "--no-browser"], ["login", "--device"], ["login", "--native"] + person, ["signup"] + person,
            ["reset-password"] + person,
        ] {
            let place = ["TOKENSTORE_PATH": scene.address()]
            let outcome = try scene.scratch.command(command + issuer, place, input: "planted")
            #expect(outcome.status == 10, "\(command) \(outcome.error)")
            #expect(outcome.error.contains("says that it was moved"), "\(outcome.error)")
            // Nobody who has the key moved it there.
            #expect(!outcome.error.contains("other.example"), "\(outcome.error)")
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a store that was moved away once is emptied and gets a new key`(isUndone: Bool, isKeyFile: Bool) throws {
        let scene = try ServerCommandScene()
        try scene.create()
        #expect(try scene.run("import", input: CachedUser.cache([.mara])).status == 0)
        let (place, target) = (scene.owner, scene.scratch.path("new/tokenstore.db"))
        let key = ["--key", "file:" + scene.scratch.path("target.key")]
        let moved = try scene.scratch.command(["copy", "--yes", place, target] + key)
        #expect(moved.status == 0, "\(moved.error)")
        if isUndone { #expect(try scene.scratch.run("copy", "--undo", "--yes", place).status == 0) }
        if isKeyFile {
            try FileManager.default.removeItem(atPath: scene.scratch.path("fleet.key"))
        } else {
            try scene.server.connect().execute("DELETE FROM \(scene.schema).data_key")
        }
        #expect(try scene.scratch.run("purge", "--all", "--yes", "--store", place).status == 0)
        let other = "file:" + scene.scratch.path("other.key")
        if isKeyFile, !isUndone {
            // It may be missing on this machine alone: the others are still told where the store is now.
            let refused = try scene.scratch.run("init", "--store", place, "--key", other)
            #expect(refused.status == 10, "\(refused.error)")
            #expect(refused.error.contains("tokenstore copy --undo"), "\(refused.error)")
            let moves = "SELECT count(*) FROM \(scene.schema).event WHERE kind = 'move'"
            #expect(try scene.server.connect().prepare(moves).first([]) { $0.integer(0) } == 1)
            #expect(try scene.scratch.run("copy", "--undo", "--yes", place).status == 0)
        }
        let made = try scene.scratch.run("init", "--store", place, "--key", other)
        #expect(made.status == 0, "\(made.error)")
        let filled = try scene.run("import", input: CachedUser.cache([.ivo]))
        #expect(filled.status == 0, "\(filled.error)")
        #expect(try scene.run("list", "--json").json["total"] as? Int == 1)
        #expect(try scene.run("check").output == "no problems\n")
    }

    @Test func `an interrupted purge says how much of a server it has deleted`() async throws {
        let scene = try ServerCommandScene()
        try scene.create()
        let people = (0..<700).map { CachedUser(username: "p\($0)@example.net", uid: "p\($0)") }
        #expect(try scene.run("import", input: CachedUser.cache(people)).status == 0)
        // So that a signal arrives in the middle.
        try scene.server.connect().execute(
            """
            CREATE FUNCTION \(scene.schema).dawdle() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_catalog.pg_sleep(0.02); RETURN OLD; END';
            CREATE TRIGGER dawdle BEFORE DELETE ON \(scene.schema).account
                FOR EACH ROW EXECUTE FUNCTION \(scene.schema).dawdle()
            """
        )
        let accounts = "SELECT count(*) FROM \(scene.schema).account"
        let errors = scene.scratch.path("errors")
        let purge = try StartedCommand(
            ["purge", "--yes", "--policy", "b2c_1_signin"],
            environment: ["TOKENSTORE_PATH": scene.address()],
            in: scene.scratch,
            errors: errors
        )
        try await eventually("the first accounts to go") {
            try #require(try count(scene, accounts)) < 700
        }
        purge.send(SIGTERM)
        #expect(try await purge.end() == 130)
        let said = try String(contentsOfFile: errors, encoding: .utf8)
        let left = try #require(try count(scene, accounts))
        #expect(left > 0)
        #expect(said.contains("interrupted, and \(700 - left) accounts are deleted already; run it again"), "\(said)")
    }
}
