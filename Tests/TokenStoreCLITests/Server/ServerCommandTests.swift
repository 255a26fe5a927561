import Foundation
import PostgreSQL
import TestSupport
import TestTraits
import Testing
import TokenStorage

extension Trait where Self == ConditionTrait {
    /// Leaves tests out where no server can be started.
    static var ifServerIsInstalled: Self {
        .enabled(if: TestServer.isInstalled, "needs PostgreSQL: apt install postgresql libpq5")
    }
}

/// The command line with a store on a server.
struct ServerCommandScene {
    let scratch: ScratchDirectory
    let server: TestServer
    let schema = "s" + UUID().uuidString.lowercased().filter { $0 != "-" }

    init(on server: TestServer? = nil) throws {
        scratch = try ScratchDirectory()
        self.server = try server ?? TestServer.shared.get()
    }

    /// The address for the role that owns the tables, over the socket.
    var owner: String { "postgresql://owner@/tests?host=\(server.directory)&port=\(server.port)&schema=\(schema)" }

    /// The address for another role, over TCP.
    func address(_ user: String = "trusted", _ query: String = "", port: Int? = nil) -> String {
        "postgresql://\(user)@127.0.0.1:\(port ?? server.port)/tests?schema=\(schema)\(query)"
    }

    @discardableResult
    func create() throws -> Command.Outcome {
        let arguments = [
            "init", "--store", owner, "--key", "file:" + scratch.path("fleet.key"), "--application-role", "trusted",
            "--audit-role", "certified",
        ]
        let command = Command(arguments: arguments + (TestCluster.spreads(server) ? ["--distribute"] : []))
        return try command.run(in: scratch)
    }

    /// Runs a command as programs do.
    @discardableResult
    func run(_ arguments: String..., input: String = "") throws -> Command.Outcome {
        let command = Command(
            arguments: arguments,
            environment: ["TOKENSTORE_PATH": address()],
            input: Data(input.utf8)
        )
        return try command.run(in: scratch)
    }
}

@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerCommandTests {
    @Test func `init makes a store once, and says what a server needs`() throws {
        let scene = try ServerCommandScene()
        let refused = try scene.scratch.run("init", "--store", scene.owner)
        #expect(refused.status == 1)
        #expect(refused.error.contains("name where its key comes from"), "\(refused.error)")
        let made = try scene.create()
        #expect(made.status == 0, "\(made.error)")
        #expect(made.output.hasPrefix("made a store at postgresql://"), "\(made.output)")
        #expect(try scene.create().output.hasPrefix("there is a store already at postgresql://"))
        let json = try scene.scratch.run("init", "--store", scene.owner, "--json").json
        #expect(json["created"] as? Bool == false)
        #expect(json["keySource"] as? String == "file:" + scene.scratch.path("fleet.key"))
        #expect(try scene.scratch.run("init", "--application-role", "x").status == 64)
        #expect(try scene.scratch.names.filter { $0 != "fleet.key" } == [])
    }

    @Test func `init of a store that is there says what it does with another key and another role`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        let other = scene.scratch.path("other.key")
        let refused = try scene.scratch.run("init", "--store", scene.owner, "--key", "file:" + other)
        #expect(refused.status == 7)
        #expect(refused.error.contains("is there already, and its key comes from"), "\(refused.error)")
        #expect(refused.error.contains("leave --key out"), "\(refused.error)")
        let granted = try scene.scratch.run("init", "--store", scene.owner, "--application-role", "app")
        #expect(granted.status == 0)
        #expect(granted.error.contains("stays as it is, and the role app may use it now"), "\(granted.error)")
        #expect(try scene.scratch.names == ["fleet.key"])
    }

    @Test func `check names a dropped index, and what it says mends it`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        let owner = try scene.server.connect()
        try owner.execute("DROP INDEX \(scene.schema).account_identity")
        let outcome = try scene.run("check")
        #expect(outcome.status == 6)
        let words = outcome.output.components(separatedBy: ", which this mends: ")
        #expect(words.first == "schema: index account_identity of table account is missing")
        #expect(outcome.error.contains("run the statements that the problems name"), "\(outcome.error)")
        try owner.execute(try #require(words.last))
        #expect(try scene.run("check").status == 0)
    }

    @Test(.disabled(if: TestCluster.isWanted, "the database has Citus"))
    func `init for several machines says what is missing, and makes nothing`() throws {
        let scene = try ServerCommandScene()
        let key = "file:" + scene.scratch.path("fleet.key")
        let refused = try scene.scratch.run("init", "--store", scene.owner, "--key", key, "--distribute")
        #expect(refused.status == 1)
        #expect(refused.error.contains("CREATE EXTENSION citus"), "\(refused.error)")
        #expect(try scene.scratch.names == [])
        #expect(try scene.scratch.run("status", "--store", scene.owner, "--json").json["exists"] as? Bool == false)
        #expect(try scene.scratch.run("init", "--distribute").status == 64)
        try scene.create()
        let late = try scene.scratch.run("init", "--store", scene.owner, "--key", key, "--distribute")
        #expect(late.status == 1)
        #expect(late.error.contains("is there already, and is on one machine"), "\(late.error)")
        let server = try scene.run("status", "--json").json["server"] as? [String: Any]
        #expect(server?["machines"] as? [String] == [])
    }

    @Test func `every command works with a server as with a file`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        #expect(try scene.run("import", input: CachedUser.cache([.mara, .ivo])).status == 0)
        #expect(try scene.run("list").lines.count == 3)
        #expect(try scene.run("claims", "mara@example.net").status == 0)
        #expect(try scene.run("use", "mara@example.net").status == 0)
        #expect(try scene.run("token", "--scope", "tasks.read").status == 0)
        #expect(try scene.run("explain", "--scope", "tasks.read").output.hasPrefix("decision"))
        #expect(try scene.run("tag", "ivo@example.org", "a=b").status == 0)
        #expect(try scene.run("list", "--tag", "a=b").lines.count == 2)
        #expect(try scene.run("check").output == "no problems\n")
        let export = scene.scratch.path("out.json")
        #expect(try scene.run("export", export).status == 0)
        #expect(try scene.run("history", "--json").json["events"] != nil)
        let status = try scene.run("status", "--json").json
        #expect((status["counts"] as? [String: Any])?["accounts"] as? Int == 2)
        #expect(status["path"] is NSNull)
        #expect((status["server"] as? [String: Any])?["role"] as? String == "trusted")
        let screen = try scene.run("status").output
        #expect(screen.contains("server    PostgreSQL 1"), "\(screen)")
        #expect(screen.contains("  no   someone with a copy of the database alone; the key is in"), "\(screen)")
        #expect((status["location"] as? String)?.hasPrefix("postgresql://127.0.0.1") == true)
        // The tables are the owner's.
        #expect(try scene.run("rekey").status == 1)
        #expect(try scene.scratch.run("rekey", "--store", scene.owner).status == 0)
        let purge = try scene.run("purge", "--account", "ivo@example.org", "--yes")
        #expect(purge.output.hasPrefix("deleted 1 account"))
        #expect(purge.error.contains("sealed copies stay in the server's log"), "\(purge.error)")
        #expect(try scene.run("purge", "--all", "--yes").status == 0)
        #expect(try scene.run("list", "--json").json["total"] as? Int == 0)
        #expect(try scene.run("migrate", "--dry-run").status == 0)
    }

    @Test func `what is about files says so of a server`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        for (arguments, advice) in [
            (["backup", "b.db"], "pg_dump"), (["restore", "b.db"], "tokenstore copy"),
        ] {
            let outcome = try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scene.address()])
                .run(in: scene.scratch)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains(advice), "\(outcome.error)")
        }
    }

    @Test func `a store moves to a server and back by the command line`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        try scene.scratch.fill(.mara, .ivo)
        let (file, place) = (scene.scratch.store, scene.owner)
        let plan = try scene.scratch.run("copy", "--dry-run", file, place)
        #expect(plan.output.hasPrefix("would move 2 accounts"), "\(plan.error)")
        #expect(try scene.scratch.run("copy", file, place).status == 1)
        let moved = try scene.scratch.run("copy", "--yes", file, place)
        #expect(moved.status == 0, "\(moved.error)")
        #expect(moved.output.hasPrefix("moved 2 accounts"))
        #expect(moved.error.contains("tokenstore purge --all --store \(file)"), "\(moved.error)")
        #expect(try scene.run("list").lines.count == 3)
        #expect(try scene.scratch.run("list").lines.count == 3)
        let refused = try scene.scratch.run("import", input: CachedUser.cache([.mara]))
        #expect(refused.status == 10)
        #expect(refused.error.contains("was moved to postgresql://"), "\(refused.error)")
        #expect(try scene.scratch.run("status").output.contains("moved     to postgresql://"))
        let undone = try scene.scratch.run("copy", "--undo", "--yes", file)
        #expect(undone.status == 0)
        #expect(undone.error.contains("2 accounts stay at postgresql://"), "\(undone.error)")
        let again = try scene.scratch.run("copy", "--undo", file)
        #expect(again.status == 0)
        #expect(again.output.hasSuffix(" was not moved; nothing was done\n"), "\(again.output)")
        #expect(try scene.scratch.run("import", input: CachedUser.cache([.mara])).status == 0)
        let back = scene.scratch.path("back.db")
        let copied = try scene.scratch.run(
            "copy",
            "--keep-source",
            "--yes",
            "--json",
            place,
            back,
            "--key",
            "file:" + scene.scratch.path("other.key")
        )
        #expect((try copied.json["copied"] as? [String: Any])?["accounts"] as? Int == 2, "\(copied.error)")
        #expect(try scene.scratch.run("check", "--store", back).status == 0)
        #expect(try scene.run("use", "mara@example.net").status == 0)
        #expect(try scene.scratch.run("copy", file).status == 64)
        #expect(try scene.scratch.run("copy", "--undo", file, place).status == 64)
        #expect(try scene.scratch.run("copy", "--store", file, file, place).status == 64)
    }

    @Test func `a move that is done is not done again over what happened since`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        try scene.scratch.fill(.mara, .ivo)
        let (file, place) = (scene.scratch.store, scene.owner)
        #expect(try scene.scratch.run("copy", "--yes", file, place).status == 0)
        #expect(try scene.run("logout", "--local-only", "--yes", "ivo@example.org").status == 0)
        let again = try scene.scratch.run("copy", "--yes", file, place)
        #expect(again.status == 0, "\(again.error)")
        #expect(again.output.contains("before; nothing was done"), "\(again.output)")
        #expect(!again.error.contains("delete"), "\(again.error)")
        #expect(try scene.run("list").lines.count == 2)
        let json = try scene.scratch.run("copy", "--yes", "--json", file, place).json
        #expect(json["copied"] is NSNull)
        #expect(json["resumed"] as? Bool == false)
        #expect(try scene.run("check").output == "no problems\n")
        let other = scene.scratch.path("other.db")
        let key = "file:" + scene.scratch.path("other.key")
        for isDone in [false, true] {
            let copied = try scene.scratch.run("copy", "--keep-source", "--yes", place, other, "--key", key)
            #expect(copied.status == 0, "\(copied.error)")
            #expect(copied.output.contains("nothing was done") == isDone, "\(copied.output)")
            #expect(copied.error.contains("name an empty store") == isDone, "\(copied.error)")
        }
    }

    @Test(.disabled(if: TestCluster.isWanted, "the servers of the tests' cluster ask for no password"))
    func `what goes wrong with a server has its sentence and exit status, and is never an empty store`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        let cases: [(store: String, status: Int32, words: String)] = [
            (scene.address("app"), 1, "password"),
            (scene.address("nobody-here"), 1, "password"),
            (scene.address("certified"), 1, "check the address, the role and its rights"),
            (scene.address().replacing("/tests?", with: "/absent?"), 1, "has no database absent"),
            (scene.address(port: 1), 8, "try again later"),
            (scene.address("trusted:secret"), 64, "password"),
            (scene.address().replacing("127.0.0.1", with: "db.example") + "&sslmode=require", 64, "verify-full"),
            (scene.address() + "&nonsense=1", 64, "nonsense"),
            ("postgresql://127.0.0.1:\(scene.server.port)", 64, "names no database"),
        ]
        for (store, status, words) in cases {
            for command in ["list", "import"] {
                let input = try CachedUser.cache([.mara])
                let outcome = try scene.scratch.run(command, "--store", store, "--timeout", "5", input: input)
                #expect(outcome.status == status, "\(command) \(store): \(outcome.error)")
                #expect(outcome.error.contains(words), "\(outcome.error)")
                #expect(outcome.output.isEmpty)
                #expect(!outcome.error.contains("secret"))
            }
        }
        let absent = scene.address().replacing(scene.schema, with: "nothing_here")
        #expect(try scene.scratch.run("import", "--store", absent, input: CachedUser.cache([.mara])).status != 0)
        #expect(try scene.run("list", "--json").json["total"] as? Int == 0)
        #expect(try scene.scratch.names == ["fleet.key"])
    }

    @Test func `a file loads nothing of what a server needs`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("list", environment: ["LD_DEBUG": "libs"])
        #expect(outcome.status == 0)
        #expect(outcome.error.contains("libc.so"))
        #expect(!outcome.error.contains("libpq"))
    }
}
