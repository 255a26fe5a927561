import Foundation
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

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `who only reads is told how to read from a standby`() throws {
        let primary = try TestServer()
        let standby = try TestServer(
            ["primary_conninfo = 'host=\(primary.directory) port=\(primary.port) user=owner'"],
            isStandby: true
        )
        defer {
            primary.stop()
            standby.stop()
        }
        let scene = try ServerCommandScene(on: primary)
        try scene.create()
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
        let writing = try scene.scratch.command(
            ["import"],
            ["TOKENSTORE_PATH": place],
            input: CachedUser.cache([.ivo])
        )
        #expect(writing.status == 8)
        #expect(!writing.error.contains("target_session_attrs"), "\(writing.error)")
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
}
