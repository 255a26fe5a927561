import Database
import Foundation
import OAuth
import Sealing
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A change of the key source while another process deletes everything, and the data keys with it.
@Suite(.onWaitingThreads, .aboutFiles("a purge of everything leaves a server its data keys"))
struct KeyAndPurgeTests {
    private static let passphrase = "correct horse battery staple"

    private func scene(_ configure: (inout StoreOptions) -> Void = { _ in }) throws -> TestStore {
        let fixture = try TestStore {
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
            configure(&$0)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        return fixture
    }

    /// Requires that the store is sound, takes a sign-in, and names this source.
    private func requireSound(_ fixture: TestStore, _ options: StoreOptions, _ source: String) throws {
        let store = try TokenStore.open(at: fixture.path, options: options)
        try store.take(JSONValue.standardCache(.accessToken("b", "s2")).serialized)
        #expect(try store.check() == [])
        #expect(try store.accounts().count == 1)
        #expect(try store.status().keySource == source)
        #expect(try !store.status().isRekeyUnfinished)
    }

    @Test(arguments: [false, true])
    func `a store that was emptied while it was open moves to another key`(afterLeak: Bool) throws {
        let fixture = try scene()
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        let source = KeySource.file(fixture.directory.file("other-key"))
        let report = try fixture.store.rekey(to: source, afterLeak: afterLeak)
        #expect(report.keySource == source.description)
        try requireSound(fixture, fixture.options, source.description)
    }

    @Test(arguments: [false, true])
    func `a purge while the new key is made leaves a store under that key`(isKeyGone: Bool) throws {
        let fixture = try scene()
        var options = fixture.options
        let (path, key) = (fixture.path, fixture.directory.file("key"))
        let asked = LockedValue(0)
        options.askPassphrase = { [options] _ in
            if asked.withLock({
                $0 += 1
                return $0
            }) == 1 {
                _ = try TokenStore.purgeAll(at: path, options: options)
                if isKeyGone { try FileManager.default.removeItem(atPath: key) }
            }
            return Secret(Self.passphrase)
        }
        let store = try TokenStore.open(at: path, options: options)
        #expect(try store.rekey(to: .passphrase).keySource == "passphrase")
        options.askPassphrase = { _ in Secret(Self.passphrase) }
        try requireSound(fixture, options, "passphrase")
    }

    @Test func `an emptied store that moves while another process makes keys opens there`() throws {
        let fixture = try scene {
            $0.keySource = .passphrase
            $0.environment = ["TOKENSTORE_PASSPHRASE": Self.passphrase]
        }
        var options = fixture.options
        options.keySource = nil
        let other = try TokenStore.open(at: fixture.path, options: options)
        _ = try TokenStore.purgeAll(at: fixture.path, options: options)
        options.environment = [:]
        options.askPassphrase = { _ in
            _ = try other.rekey(to: .file)
            return Secret(Self.passphrase)
        }
        let store = try TokenStore.open(at: fixture.path, options: options)
        #expect(try store.status().keySource == "file")
        options.askPassphrase = nil
        try requireSound(fixture, options, "file")
    }

    @Test func `a transaction whose keys a purge took does not fetch others unasked`() throws {
        let fixture = try scene()
        try fixture.store.withWriter { session in
            _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
            #expect(throws: MissingDataKeys.self) { try session.writeWithKeysAtHand {} }
            try session.write {}
        }
        try requireSound(fixture, fixture.options, "file")
    }
}
