import Sealing
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ProtectionTests {
    @Test(arguments: [
        "file", "file:/elsewhere/key", "passphrase", "secret-service", "keychain", "credential:key", "environment",
    ])
    func `every key source says who could read the tokens`(text: String) throws {
        let protection = try KeySource(parsing: text).protection(database: "/store/tokenstore.db")
        #expect(
            protection.map(\.reader) == [
                "someone with a copy of the database file", "another user of this machine",
                "a process of the same user", "root",
            ]
        )
        for (_, verdict) in protection {
            #expect(verdict.hasPrefix("can"))
            #expect(verdict.hasSuffix("."))
        }
    }

    @Test func `a key file beside the database is reported as copied with its directory`() throws {
        for source in [KeySource.file, .file("/store/keys/key")] {
            #expect(
                source.protection(database: "/store/tokenstore.db")[0].verdict.contains("backup of the whole directory")
            )
        }
        let elsewhere = KeySource.file("/elsewhere/key").protection(database: "/store/tokenstore.db")[0].verdict
        #expect(elsewhere.contains("/elsewhere/key"))
        #expect(!elsewhere.contains("whole directory"))
    }

    @Test(arguments: [(0o600, 0o755, false), (0o644, 0o755, true), (0o640, 0o750, true), (0o644, 0o700, false)])
    func `the protection of a key file follows its mode`(file: Int, directory: Int, isOpen: Bool) throws {
        let parent = try TemporaryDirectory()
        let key = try parent.write(String(repeating: "k", count: 32), to: "key", mode: file)
        try FileManager.default.setAttributes([.posixPermissions: directory], ofItemAtPath: parent.path)
        for source in [KeySource.file(key), try .credential(key)] {
            let verdicts = source.protection(database: "/store/tokenstore.db").map(\.verdict)
            #expect(verdicts[0].hasPrefix(isOpen ? "can, as a user of this machine" : "cannot") || source != .file(key))
            #expect(verdicts[1].hasPrefix(isOpen ? "can as soon as" : "cannot"), "\(verdicts[1])")
            #expect(verdicts[1].contains(key) == isOpen)
        }
    }

    @Test func `a database that others may read counts as copied`() throws {
        let parent = try TemporaryDirectory()
        let database = try parent.write("", to: "tokenstore.db", mode: 0o444)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: parent.path)
        let verdicts = KeySource.passphrase.protection(database: database).map(\.verdict)
        #expect(verdicts[1].hasPrefix("can only by guessing"))
        #expect(verdicts[1].contains("444"))
    }
}
