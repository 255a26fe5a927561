import Foundation
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Keys that are missing, wrong or not private: never a reason for a new key or an empty answer.
@Suite(.aboutFiles("the key is beside the file"))
struct BadKeyTests {
    private func expectRefusal(
        _ fixture: TestStore,
        _ options: StoreOptions? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> TokenStoreError? {
        let options = options ?? fixture.options
        let before = try DirectorySnapshot(fixture.directory.path)
        var error: TokenStoreError?
        for isInspection in [true, false] {
            error = expectError(.keyUnavailable, sourceLocation: sourceLocation) {
                let store: (any StoreReading)? =
                    if isInspection {
                        try TokenStore.inspect(at: fixture.path, options: options)
                    } else {
                        try TokenStore.open(at: fixture.path, options: options)
                    }
                _ = try store?.exported()
            }
        }
        #expect(try DirectorySnapshot(fixture.directory.path).bytes("key") == before.bytes("key"))
        #expect(
            try DirectorySnapshot(fixture.directory.path).bytes("tokenstore.db") == before.bytes("tokenstore.db"),
            sourceLocation: sourceLocation
        )
        return error
    }

    private func closedStore() throws -> TestStore { try TestStore.closed(.standardCache(.accessToken("a", "s1"))) }

    @Test func `a missing key file is not replaced by a new one`() throws {
        let fixture = try closedStore()
        try FileManager.default.removeItem(atPath: fixture.directory.file("key"))
        #expect(try expectRefusal(fixture)?.description.contains(fixture.directory.file("key")) == true)
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.file("key")))
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 7, count: 31), [UInt8](repeating: 7, count: 33)])
    func `a key file that holds no key is named`(bytes: [UInt8]) throws {
        let fixture = try closedStore()
        try DamagedFile(fixture.directory.file("key")).write(bytes)
        _ = try expectRefusal(fixture)
    }

    @Test func `another key is recognized by its id`() throws {
        let fixture = try closedStore()
        try DamagedFile(fixture.directory.file("key")).write([UInt8](repeating: 7, count: 32))
        let error = try expectRefusal(fixture)?.keyError
        #expect(error?.code == .otherKey)
        #expect(error?.wantedKeyID != nil)
        #expect(error?.foundKeyID != nil)
        #expect(error?.wantedKeyID != error?.foundKeyID)
    }

    @Test(arguments: [0o644, 0o640, 0o604])
    func `a key file that others may read is refused`(mode: Int) throws {
        let fixture = try closedStore()
        let key = fixture.directory.file("key")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        #expect(try expectRefusal(fixture)?.description.contains("change the mode of \(key) to 600") == true)
    }

    @Test func `another kind of source than the recorded one is refused`() throws {
        let fixture = try closedStore()
        var options = fixture.options
        options.keySource = .environment
        options.environment["TOKENSTORE_KEY"] = Data(repeating: 7, count: 32).base64EncodedString()
        _ = try expectRefusal(fixture, options)
    }

    @Test func `without its key a store still has a status, a list and removal`() throws {
        let fixture = try closedStore()
        try FileManager.default.removeItem(atPath: fixture.directory.file("key"))
        var options = fixture.options
        options.unlocks = false
        let status = try #require(try TokenStore.inspect(at: fixture.path, options: options)?.status())
        #expect(status.accounts == 1)
        #expect(status.keyProblem != nil)
        fixture.clock.seconds = Fixture.now + 10_000
        #expect(try TokenStore.open(at: fixture.path, options: options).purgeExpired().accessTokens == 1)
        #expect(try TokenStore.purgeAll(at: fixture.path, options: fixture.options).accounts == 1)
    }

    @Test func `a store open during a purge takes the next sign-in under the new key`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let other = try fixture.another()
        #expect(try other.accounts().count == 1)
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        try FileManager.default.removeItem(atPath: fixture.directory.file("key"))
        #expect(try other.accounts(matching: .claim("department", equals: "sales")).isEmpty)
        try fixture.take(.standardCache(.accessToken("b", "s1")))
        #expect(try other.rows("AccessToken").map { $0["secret"] } == ["b"])
        try other.take(JSONValue.standardCache(.accessToken("c", "s2")).serialized)
        #expect(try fixture.another().check() == [])
        #expect(try fixture.another().accounts().count == 1)
    }

    @Test func `a store that lost its data keys and not its values gets no new ones`() throws {
        let fixture = try closedStore()
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "DELETE FROM data_key")
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.description.contains("lost its data keys") == true)
    }
}
