import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct StoreAccessTests {
    @Test func `a newer store that this version cannot read ends with 10`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.shutOut()
        let outcome = try scratch.run("list", "--json")
        #expect(outcome.status == 10)
        #expect(try outcome.errorJSON["code"] as? String == "newer_store")
        #expect(try scratch.run("purge").status == 10)
    }

    @Test func `a store that is in use for longer than --timeout ends with 5`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let other = try scratch.holdForWriting()
        let outcome = try scratch.run("purge", "--timeout", "0.1", "--json")
        #expect(outcome.status == 5)
        #expect(try outcome.errorJSON["code"] as? String == "store_busy")
        #expect(try scratch.run("list").status == 0)
        withExtendedLifetime(other) {}
    }

    @Test func `reading works on a read-only file and directory, and writes nothing`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let before = try scratch.names
        chmod(scratch.store, 0o400)
        chmod(scratch.path, 0o500)
        defer { chmod(scratch.path, 0o700) }
        for name in ["list", "claims", "status", "check"] {
            let outcome = try Command(
                arguments: [name],
                environment: ["TOKENSTORE_PATH": scratch.store]
            ).run(in: try ScratchDirectory())
            #expect(outcome.status == 0, "\(name): \(outcome.error)")
        }
        #expect(try scratch.names == before)
    }

    @Test(arguments: ["others may open it", "it has another name", "a pipe"])
    func `a lock file that is not this user's alone is refused and named`(flaw: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let lock = scratch.path("tokenstore.lock")
        switch flaw {
        case "others may open it": chmod(lock, 0o644)
        case "it has another name": link(lock, scratch.path("second"))
        default:
            unlink(lock)
            mkfifo(lock, 0o600)
        }
        let outcome = try scratch.run("rekey")
        #expect(outcome.status == 1, "\(outcome)")
        if flaw == "others may open it" {
            #expect(outcome.error.contains("others may use \(lock); run 'chmod 600 \(lock)'"), "\(outcome.error)")
            chmod(lock, 0o600)
        } else {
            #expect(outcome.error.contains("\(lock) is not a regular file of this user"), "\(outcome.error)")
            unlink(lock)
        }
        #expect(try scratch.run("rekey").status == 0)
    }

    @Test func `no command shows a secret, not even with all diagnostics`() throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara, .ivo])
        let commands = [
            ["import"], ["list", "--tokens"], ["list", "--tokens", "--json"], ["claims", "mara@example.net"],
            ["claims", "mara@example.net", "--json"], ["status"], ["check"], ["rekey"], ["claims"], ["purge"],
            ["purge", "--account", "mara@example.net", "--yes"],
        ]
        for arguments in commands {
            var command = Command(
                arguments: arguments + ["--log-level", "trace"],
                environment: ["TOKENSTORE_PATH": scratch.store]
            )
            command.input = Data(cache.utf8)
            let outcome = try command.run(in: scratch)
            for person in [CachedUser.mara, .ivo] {
                for secret in [person.secret("access"), person.secret("refresh"), try person.idToken] {
                    #expect(!outcome.output.contains(secret), "\(arguments)")
                    #expect(!outcome.error.contains(secret), "\(arguments)")
                }
            }
        }
    }

    @Test(arguments: ["000", "177", "277", "777"])
    func `a new store is private and writable for its owner under any umask`(mask: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        // The umask is the whole process's: a shell has its own.
        try Shell.run(
            "/bin/sh",
            "-c",
            "umask \(mask) && cd \"$1\" && exec \"$0\" import cache.json --store deep/er/tokenstore.db",
            Command.binary,
            scratch.path
        )
        for name in ["deep", "deep/er"] { #expect(try scratch.permissions(name) == 0o700, "\(name)") }
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path("deep/er"))
        #expect(Set(files).isSuperset(of: ["tokenstore.db", "tokenstore.lock", "key"]))
        for name in files { #expect(try scratch.permissions("deep/er/\(name)") == 0o600, "\(name)") }
        let store = scratch.path("deep/er/tokenstore.db")
        #expect(try scratch.run("list", "--store", store).lines.count == 2)
    }

    @Test func `an existing directory keeps its mode under any umask`() throws {
        let scratch = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: scratch.path("deep"), withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: scratch.path("deep"))
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        let outcome = try scratch.run("import", scratch.path("cache.json"), "--store", scratch.path("deep/er/a.db"))
        #expect(outcome.status == 0)
        #expect(try scratch.permissions("deep") == 0o750)
        #expect(try scratch.permissions("deep/er") == 0o700)
    }

    @Test func `--store names a file or a directory`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("list", "--store", scratch.path, environment: ["TOKENSTORE_PATH": ""]).lines.count == 2)
        #expect(
            try scratch.run("list", "--store", scratch.store, environment: ["TOKENSTORE_PATH": ""]).lines.count == 2
        )
    }

    @Test func `without --store the store is in the home directory`() throws {
        let scratch = try ScratchDirectory()
        let outcome = try Command(arguments: ["list"]).run(in: scratch)
        #expect(outcome.status == 0)
        #expect(outcome.error.contains(scratch.path))
    }
}
