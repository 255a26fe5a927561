import Sealing
import Testing

struct ProtectionTests {
    @Test(arguments: ["file", "file:/elsewhere/key", "passphrase", "secret-service", "credential:key", "environment"])
    func `every source says who could read the tokens`(text: String) throws {
        let protection = try KeySource(parsing: text).protection(directory: "/store")
        #expect(
            protection.map(\.reader) == [
                "someone with a copy of the database file", "another user of this machine",
                "a process of the same user", "root",
            ]
        )
        for (_, verdict) in protection {
            #expect(verdict.hasPrefix("can") && verdict.hasSuffix("."))
        }
    }

    @Test func `a key file beside the database is said to travel with a copy of the directory`() throws {
        for source in [KeySource.file, .file("/store/keys/key")] {
            #expect(source.protection(directory: "/store")[0].verdict.contains("backup of the whole directory"))
        }
        let elsewhere = KeySource.file("/elsewhere/key").protection(directory: "/store")[0].verdict
        #expect(elsewhere.contains("/elsewhere/key"))
        #expect(!elsewhere.contains("whole directory"))
    }
}
