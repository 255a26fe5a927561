import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Damaged databases and documents in numbers, the same in every run.
@Suite(.aboutFiles("files are damaged"))
struct NoiseTests {
    /// Changes `bytes` in one of the ways in which files get damaged.
    private func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &generator)...)
        case 1:
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 1..<5000, using: &generator))
            for index in start..<end { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
        case 2:
            let start = Int.random(in: 0..<bytes.count, using: &generator) / 512 * 512
            for index in start..<min(bytes.count, start + 512) { bytes[index] = 0 }
        default:
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
        }
    }

    @Test(arguments: 0..<4)
    func `a damaged database is a typed error or the right accounts, never fewer`(seed: UInt64) throws {
        let count = 12
        let rows = (0..<count).map { JSONValue.account(["home_account_id": .string("u\($0).t1"), "name": "Ada"]) }
        let tokens = (0..<count).map {
            JSONValue.accessToken("a\($0)", "s1", ["home_account_id": .string("u\($0).t1")])
        }
        let fixture = try TestStore.closed(.cache(accessTokens: tokens, accounts: rows))
        let sound = try DamagedFile(fixture.path.database).bytes()
        var generator = SeededGenerator(seed: seed)
        var errors = 0
        for round in 0..<40 {
            var bytes = sound
            damage(&bytes, &generator)
            let directory = try TemporaryDirectory()
            try DamagedFile(directory.file("key")).replace(with: DamagedFile(fixture.directory.file("key")).bytes())
            let file = DamagedFile(directory.file("tokenstore.db"))
            try file.replace(with: bytes)
            do {
                let store = try #require(
                    try TokenStore.inspect(at: StorePath(directory.path), options: fixture.options)
                )
                var listed = 0
                try store.forEachAccount(withTokens: true) { _ in listed += 1 }
                #expect(listed == count || listed > 0 && isDamageFound(store), "seed \(seed), round \(round)")
                #expect(try store.accounts().count == listed, "seed \(seed), round \(round)")
                _ = try store.check()
                _ = try store.exported()
            } catch is TokenStoreError {
                errors += 1
            }
            #expect(try file.bytes() == bytes)
        }
        #expect(errors > 7)
    }

    private func isDamageFound(_ store: StoreInspection) -> Bool {
        do {
            return try !store.check().isEmpty
        } catch {
            return true
        }
    }

    @Test(arguments: 0..<4)
    func `a damaged document is refused or imported, and the store stays sound`(seed: UInt64) throws {
        let fixture = try TestStore(.standardCache(.accessToken("kept", "s9")))
        let document = Array(
            JSONValue.standardCache(
                .accessToken("a", "s1", ["x": ["ü", 1, nil]]),
                .accessToken("b", "s2"),
                ["foo": "bar"]
            )
            .with(["Private": ["k": [1, "\u{1F600}"]]]).serialized.utf8
        )
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<100 {
            var bytes = document
            damage(&bytes, &generator)
            do {
                _ = try bytes.withUnsafeBytes { try fixture.store.importMSALCache($0) }
            } catch is TokenStoreError {
                refused += 1
            }
        }
        #expect(refused > 20)
        #expect(try fixture.store.check() == [])
        #expect(try fixture.request("s9") == .hit("kept"))
    }

    @Test func `a key file with one byte changed opens nothing and loses nothing`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let key = DamagedFile(fixture.directory.file("key"))
        let sound = try key.bytes()
        for index in sound.indices {
            try key.change { $0[index] ^= 0x10 }
            expectError(.keyUnavailable) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
            try key.write(sound)
        }
        #expect(try TokenStore.open(at: fixture.path, options: fixture.options).accounts().count == 1)
    }
}
