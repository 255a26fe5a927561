import Foundation
import TestTraits
import Testing

/// Which key `backup` says opens the file.
@Suite(.onWaitingThreads)
struct BackupKeyTests {
    @Test func `a backup names a key file only where that has the key`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let key = scratch.path("key")
        try FileManager.default.moveItem(atPath: key, toPath: scratch.path("kept"))
        let given = try scratch.run("backup", "--key", "file:" + scratch.path("kept"), scratch.path("a.db"))
        #expect(given.output.contains("the key file \(scratch.path("kept")) ("), "\(given.output)")
        for (name, other) in [("b.db", nil), ("c.db", Data((0..<32).map { UInt8($0) }))] {
            if let other {
                try other.write(to: URL(filePath: key))
                #expect(chmod(key, 0o600) == 0)
            }
            let outcome = try scratch.run("backup", "--quiet", scratch.path(name))
            #expect(outcome.status == 0)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("\(key) does not have the key ("), "\(outcome.error)")
            let json = try scratch.run("backup", "--yes", "--json", scratch.path(name)).json
            #expect(json["keyFile"] is NSNull)
        }
    }

    @Test func `a store that does not say where its key comes from is backed up with the key that is named`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.execute("UPDATE store SET key_source = 'gile'")
        let unnamed = try scratch.run("backup", scratch.path("a.db"))
        #expect(unnamed.status == 6)
        #expect(unnamed.error.contains("does not say where its key comes from"), "\(unnamed.error)")
        let named = try scratch.run("backup", "--key", "file", scratch.path("a.db"))
        #expect(named.status == 0, "\(named.error)")
        #expect(named.output.contains("the key file \(scratch.path("key")) ("), "\(named.output)")
        #expect(try scratch.run("list", "--store", scratch.path("a.db"), "--key", "file").lines.count == 2)
    }

    @Test func `a backup that does not say where its key comes from is restored with the key that is named`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.execute("UPDATE store SET key_source = 'gile'")
        let backup = scratch.path("a.db")
        #expect(try scratch.run("backup", "--key", "file", backup).status == 0)
        let other = try ScratchDirectory()
        try FileManager.default.copyItem(atPath: scratch.path("key"), toPath: other.path("key"))
        for option in ["--dry-run", "--yes"] {
            let unnamed = try other.run("restore", option, backup)
            #expect(unnamed.status == 6)
            let reason = "the backup \(backup) does not say where its key comes from"
            let advice = "name the source of its key with --key"
            #expect(unnamed.error == "tokenstore: error: \(reason); \(advice)\n")
        }
        let trial = try other.run("restore", "--dry-run", "--key", "file", backup)
        #expect(trial.status == 0, "\(trial.error)")
        #expect(try !other.names.contains("tokenstore.db"))
        let restored = try other.run("restore", "--yes", "--key", "file", backup)
        #expect(restored.status == 0, "\(restored.error)")
        #expect(!restored.error.contains("--key"), "\(restored.error)")
        #expect(try other.run("list").lines.count == 2)
        #expect(try other.run("check").status == 0)
    }
}
