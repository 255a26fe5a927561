import Sealing
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ProtectionTests {
    @Test(arguments: ["file", "passphrase", "secret-service", "keychain", "credential:key", "environment"])
    func `every key source says who could read the tokens`(text: String) throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("", to: "key")
        let protection = try KeySource(parsing: text).protection(database: directory.file("tokenstore.db"))
        #expect(protection.map(\.reader) == [.otherUser, .databaseCopy, .sameUser, .root])
        #expect(protection.last?.canRead == true)
        for verdict in protection { #expect(!verdict.reason.isEmpty && !verdict.reason.hasSuffix(".")) }
    }

    @Test func `a key file beside the database is reported as copied with its directory`() throws {
        let (directory, other) = (try TemporaryDirectory(), try TemporaryDirectory())
        let database = directory.file("tokenstore.db")
        _ = try directory.write("", to: "key")
        for source in [KeySource.file, .file(try directory.write("", to: "other"))] {
            let copy = source.protection(database: database)[1]
            #expect(!copy.canRead)
            #expect(copy.reason == "a copy of the directory has the key")
        }
        let elsewhere = KeySource.file(try other.write("", to: "key")).protection(database: database)[1].reason
        #expect(elsewhere.contains(other.file("key")))
    }

    @Test func `as long as the key file is missing nobody reads the tokens`() throws {
        let directory = try TemporaryDirectory()
        for verdict in KeySource.file.protection(database: directory.file("tokenstore.db")) {
            #expect(!verdict.canRead)
            #expect(verdict.reason == "as long as the key file \(directory.file("key")) is missing")
        }
        // A server's store is read where the key is.
        #expect(KeySource.file("/nowhere/key").protection(database: nil).last?.canRead == true)
    }

    @Test func `as long as the key file holds another key nobody reads the tokens`() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write(String(repeating: "k", count: 32), to: "key", mode: 0o600)
        let (database, own) = (
            directory.file("tokenstore.db"), try #require(KeySource.file.fileKeyID(directory: directory.path))
        )
        for verdict in KeySource.file.protection(database: database, keys: ["0123"]) {
            #expect(!verdict.canRead)
            #expect(verdict.reason == "as long as the key file \(directory.file("key")) holds another key")
        }
        #expect(KeySource.file.protection(database: database, keys: [own]).last?.canRead == true)
    }

    @Test(arguments: [(0o600, 0o755, false), (0o644, 0o755, true), (0o640, 0o750, true), (0o644, 0o700, false)])
    func `the protection of a key file follows its mode`(file: Int, directory: Int, isOpen: Bool) throws {
        let parent = try TemporaryDirectory()
        let key = try parent.write(String(repeating: "k", count: 32), to: "key", mode: file)
        try FileManager.default.setAttributes([.posixPermissions: directory], ofItemAtPath: parent.path)
        for source in [KeySource.file(key), try .credential(key)] {
            let verdicts = source.protection(database: "/store/tokenstore.db")
            #expect(verdicts[0].canRead == isOpen)
            #expect(verdicts[0].reason.contains(key) == isOpen)
            #expect(verdicts[1].canRead == isOpen)
        }
    }

    @Test func `a database that others may read counts as copied`() throws {
        let parent = try TemporaryDirectory()
        let database = try parent.write("", to: "tokenstore.db", mode: 0o444)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: parent.path)
        let verdicts = KeySource.passphrase.protection(database: database)
        #expect(!verdicts[0].canRead)
        #expect(verdicts[0].reason.contains("only by guessing"))
        #expect(verdicts[0].reason.contains("444"))
    }
}
