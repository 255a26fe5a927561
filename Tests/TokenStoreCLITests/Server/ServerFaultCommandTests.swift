import Foundation
import PostgreSQL
import TestSupport
import TestTraits
import Testing

/// What the command line says of a server that does not serve the store, and that it makes nothing there.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerFaultCommandTests {
    /// A place, and what its commands are to answer.
    struct Fault {
        let store: String
        let status: Int32
        let words: [String]
        var environment: [String: String] = [:]
        var seconds = 5
    }

    private static let readers = [
        ["list"], ["claims", "mara@example.net"], ["token", "--scope", "tasks.read"], ["status"],
    ]

    /// Runs commands that read and one that writes, each of which has to answer with the fault and nothing else.
    func expect(_ fault: Fault, _ scene: ServerCommandScene) throws {
        let names = try scene.scratch.names
        for arguments in Self.readers + [["import"]] {
            let place = ["TOKENSTORE_DATABASE_URL": fault.store, "TOKENSTORE_PATH": ""]
            let environment = fault.environment.merging(place) { $1 }
            let outcome = try scene.scratch.command(
                arguments + ["--timeout", "\(fault.seconds)", "--json"],
                environment,
                input: CachedUser.cache([.mara])
            )
            #expect(outcome.status == fault.status, "\(arguments) \(outcome.error)")
            #expect(outcome.output.isEmpty, "\(arguments) \(outcome.output)")
            let error = try outcome.errorJSON
            #expect(error["exitCode"] as? Int == Int(fault.status))
            for word in fault.words { #expect((error["message"] as? String)?.contains(word) == true, "\(error)") }
            #expect((error["hint"] as? String)?.isEmpty == false)
            for word in ["planted", "wrong-one", "no account"] { #expect(!outcome.error.contains(word)) }
        }
        #expect(try scene.scratch.names == names)
    }

    func count(_ scene: ServerCommandScene, _ sql: String) throws -> Int64? {
        try count(scene.server.connect(), sql)
    }

    func count(_ connection: Connection, _ sql: String) throws -> Int64? {
        try connection.prepare(sql).first([]) { $0.integer(0) }
    }

    @Test func `a wrong password, an unknown user and an unknown database`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        let refused = ["refused the user or the password"]
        let wrong = scene.address("app:planted-wrong-one")
        try expect(Fault(store: wrong, status: 1, words: refused), scene)
        try expect(Fault(store: scene.address("nobody-here:wrong-one"), status: 1, words: refused), scene)
        let absent = scene.address().replacing("/tests?", with: "/absent?")
        try expect(Fault(store: absent, status: 1, words: ["has no database absent"]), scene)
        #expect(try count(scene, "SELECT count(*) FROM pg_database WHERE datname = 'absent'") == 0)
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "openssl is installed"))
    func `a certificate that has expired, is another host's or a stranger's`() throws {
        for (days, host, word) in [(0, "127.0.0.1", "expired"), (2, "127.0.0.2", "does not match host name")] {
            let authority = try PrivateAuthority(days: days)
            let server = try TestServer.encrypted(by: authority)
            defer { server.stop() }
            let scene = try ServerCommandScene(on: server)
            try scene.create()
            let store = scene.address().replacing("127.0.0.1", with: host) + "&sslmode=verify-full&sslrootcert="
            try expect(Fault(store: store + authority.path, status: 1, words: [word]), scene)
            guard days > 0 else { continue }
            let proven = scene.address("trusted", "&sslmode=verify-full&sslrootcert=" + authority.path)
            #expect(try scene.scratch.run("list", "--store", proven).status == 0)
            let stranger = try PrivateAuthority()
            let unknown = proven.replacing(authority.path, with: stranger.path)
            try expect(Fault(store: unknown, status: 1, words: ["certificate"]), scene)
        }
    }

    @Test func `a server that does not answer is waited for once`() throws {
        let scratch = try ScratchDirectory()
        let (listener, port) = try LoopbackSocket.listener()
        defer { close(listener) }
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        for arguments in Self.readers {
            let store = ["--store", "postgresql://app@127.0.0.1:\(port)/tests", "--key", "file:/tmp/none"]
            let outcome = try scratch.command(arguments + store + ["--timeout", "1"])
            #expect(outcome.status == 5 && outcome.error.contains("did not answer"), "\(arguments) \(outcome.error)")
            var connections = 0
            while case let client = accept(listener, nil, nil), client >= 0 {
                close(client)
                connections += 1
            }
            #expect(connections == 1, "\(arguments)")
        }
    }

    @Test func `a standby alone, and a server without a free connection`() throws {
        let standby = try TestServer(isStandby: true)
        defer { standby.stop() }
        let alone = try ServerCommandScene(on: standby)
        try expect(Fault(store: alone.address(), status: 8, words: ["cannot be written to now"]), alone)
        let scene = try ServerCommandScene()
        try scene.create()
        let role = "one" + scene.schema.dropFirst()
        let owner = try scene.server.connect()
        try owner.execute(
            "CREATE ROLE \(role) LOGIN CONNECTION LIMIT 1; GRANT trusted TO \(role)"
        )
        defer { #expect(throws: Never.self) { try owner.execute("DROP ROLE \(role)") } }
        let holder = try scene.server.connect(user: role)
        defer { holder.close() }
        let store = scene.owner.replacing("owner@", with: role + "@")
        try expect(Fault(store: store, status: 8, words: ["has no connection left"], seconds: 1), scene)
    }

    @Test func `a server older than 14, and no libpq`() throws {
        let scene = try ServerCommandScene()
        let old = try OldServer(version: "13.11")
        let words = ["the server runs PostgreSQL 13.11; a store needs 14 or later"]
        try expect(Fault(store: scene.address(port: old.port), status: 1, words: words), scene)
        // A file that is no library is found in the place of libpq.
        let folder = try TemporaryDirectory()
        try folder.write("", to: "libpq.so.5")
        var fault = Fault(store: scene.address(), status: 1, words: ["libpq.so.5 is not installed", "install libpq5"])
        fault.environment["LD_LIBRARY_PATH"] = folder.path
        try expect(fault, scene)
    }

    @Test func `a schema of another version, and one that is not ours`() throws {
        let scene = try ServerCommandScene()
        try scene.create()
        let owner = try scene.server.connect()
        try owner.execute("SET search_path = \(scene.schema)")
        func change(version: Int, floor: Int, writer: String) throws {
            try owner.execute(
                """
                UPDATE store SET schema_version = \(version), reader_floor = \(floor), writer_floor = \(floor),
                    written_by = '\(writer)'
                """
            )
        }
        try change(version: 99, floor: 99, writer: "9.9")
        try expect(Fault(store: scene.address(), status: 10, words: ["9.9"]), scene)
        try change(version: 13, floor: 7, writer: "0.1")
        let older = "schema version 13, and this version works with 14"
        try expect(Fault(store: scene.address(), status: 1, words: [older]), scene)
        let foreign = ["tables of another program"]
        try owner.execute("ALTER TABLE store RENAME TO shop")
        try expect(Fault(store: scene.address(), status: 6, words: foreign), scene)
        let again = try scene.create()
        #expect(again.status == 6, "\(again.error)")
        try owner.execute("CREATE TABLE store (price int); GRANT SELECT ON store TO trusted")
        try expect(Fault(store: scene.address(), status: 6, words: foreign), scene)
    }

    /// A server that goes away at one message of an import after the other, and stays away.
    @Test(arguments: [DelayingProxy.Cut.before, .after])
    func `a server that goes away in the middle of a transaction`(cut: DelayingProxy.Cut) throws {
        let scene = try ServerCommandScene()
        try scene.create()
        try scene.run("import", input: CachedUser.cache([.ivo]))
        let proxy = try DelayingProxy(to: scene.server.port)
        defer { proxy.stop() }
        let (place, input) = (scene.address(port: proxy.port), try CachedUser.cache([.mara]))
        var messages = 0
        while true {
            proxy.lead(to: scene.server.port)
            proxy.cut(after: messages, cut, leadingTo: 1)
            let outcome = try scene.scratch.run("import", "--store", place, "--timeout", "2", input: input)
            let accounts = try count(scene, "SELECT count(*) FROM \(scene.schema).account")
            guard outcome.status != 0 else { break }
            #expect(outcome.status == 8, "\(messages): \(outcome.error)")
            #expect(outcome.error.hasSuffix("; try again later\n"), "\(outcome.error)")
            #expect(!outcome.error.contains("This probably means"))
            #expect(outcome.output.isEmpty)
            // Whole or not at all; where the answer to the commit was lost, nobody says that it did not happen. What is
            // told to other nodes follows the commit, and may be the message that is cut.
            #expect(accounts == 1 || accounts == 2 && !outcome.error.contains("nothing was"))
            messages += 1
        }
        #expect(messages > 3)
        #expect(try scene.run("list", "--json").json["total"] as? Int == 2)
        #expect(try scene.run("check").output == "no problems\n")
    }

    @Test func `a place without a store is told so, and stays one`() throws {
        let scene = try ServerCommandScene()
        let owner = try scene.server.connect()
        let extensions = "CREATE SCHEMA \(scene.schema); GRANT USAGE ON SCHEMA \(scene.schema) TO trusted"
        for step in [nil, extensions] {
            if let step { try owner.execute(step) }
            for (command, status) in [("list", Int32(0)), ("claims", 0), ("status", 0), ("token", 1), ("import", 1)] {
                let scope = command == "token" ? ["--scope", "tasks.read"] : []
                let environment = ["TOKENSTORE_PATH": scene.address()]
                let input = try CachedUser.cache([.mara])
                let outcome = try scene.scratch.command([command] + scope, environment, input: input)
                #expect(outcome.status == status, "\(outcome.error)")
                #expect(outcome.error.contains("make it with 'tokenstore init --key SOURCE'"), "\(outcome.error)")
            }
        }
        // What an extension keeps in the schema is not another program's.
        try owner.execute(
            "CREATE TABLE \(scene.schema).kept (a int); ALTER EXTENSION plpgsql ADD TABLE \(scene.schema).kept"
        )
        defer {
            #expect(throws: Never.self) {
                try owner.execute("ALTER EXTENSION plpgsql DROP TABLE \(scene.schema).kept")
            }
        }
        #expect(try scene.run("list").status == 0)
        #expect(try count(scene, "SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'") == 1)
        try #require(try scene.create().status == 0)
        #expect(try scene.run("list").status == 0)
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"))
    func `a disk that is full`() throws {
        let disk = try ReadOnlyMount(ofKind: "tmpfs", "size=8m,mode=0700,uid=65534,gid=65534")
        defer { disk.end() }
        let server = try TestServer()
        defer { server.stop() }
        let owner = try server.connect()
        try owner.execute("CREATE TABLESPACE small LOCATION '\(disk.path)'")
        try owner.execute("ALTER ROLE owner SET default_tablespace = small")
        let scene = try ServerCommandScene(on: server)
        try scene.create()
        try scene.run("import", input: CachedUser.cache([.mara]))
        try Shell.run("/bin/sh", "-c", "dd if=/dev/zero of=\"$0/rest\" bs=4k 2> /dev/null || true", disk.path)
        let people = (0..<200).map { CachedUser(username: "p\($0)@example.net", uid: "p\($0)") }
        let outcome = try scene.run("import", input: CachedUser.cache(people))
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("is full, and nothing was changed; free some space"), "\(outcome.error)")
        #expect(try scene.run("list", "--json").json["total"] as? Int == 1)
        #expect(try scene.run("token", "--scope", "tasks.read").status == 0)
        try FileManager.default.removeItem(atPath: disk.path + "/rest")
        #expect(try scene.run("import", input: CachedUser.cache(people)).status == 0)
        #expect(try scene.run("list", "--json").json["total"] as? Int == 201)
    }
}
