import Database
import Dispatch
import Foundation
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Promises 7 and 8: nothing secret is readable in any file, and what was deleted is in none.
@Suite(.aboutFiles("bytes are looked for in files"))
struct ForgettingTests {
    private static let secrets = [
        "planted-access-token", "planted-refresh-token", "planted-field", "planted-bucket-value", "planted-bucket-key",
        "planted-quarantine", "planted-claim-value", "planted_claim_name", "planted-name", "planted-requested-claims",
        "planted-key-of-row",
    ]

    /// Everything a cache can hold, with a secret in each field that is sealed.
    private static func document() -> JSONValue {
        let claims = Fixture.claims(["name": "planted-name", "planted_claim_name": ["planted-claim-value"]])
        let tokens: JSONValue = [
            "key 1": .accessToken("planted-access-token", "s1", ["x_field": ["deep": "planted-field"]]),
            "key 2": .accessToken("planted-access-token-2", "s2", ["requested_claims": "\"planted-requested-claims\""]),
            "planted-key-of-row": ["foo": "planted-quarantine"],
        ]
        return JSONValue.cache(
            refreshTokens: [.refreshToken("planted-refresh-token", ["x": "planted-field"])],
            idTokens: [.idToken(claims, ["x": "planted-field"])],
            accounts: [.account(["name": "planted-name", "x": "planted-field"])],
            appMetadata: [.appMetadata(["x": "planted-field"])]
        ).with(["AccessToken": tokens, "Private": ["planted-bucket-key": "planted-bucket-value"]])
    }

    private func expectNothingPlanted(_ fixture: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let snapshot = try DirectorySnapshot(fixture.directory.path)
        for secret in Self.secrets {
            for text in [secret, Data(secret.utf8).base64EncodedString(), Base64URL.encode(secret.utf8)] {
                #expect(snapshot.names(holding: Data(text.utf8)) == [], "\(secret)", sourceLocation: sourceLocation)
            }
        }
        let token = try #require(Self.document()["IdToken"]["key 0"]["secret"].text)
        #expect(
            snapshot.names(holding: Data(token.split(separator: ".")[1].utf8)) == [],
            sourceLocation: sourceLocation
        )
    }

    /// The sealed values of every table, as SQLite reads them.
    private func sealedValues(_ fixture: TestStore) throws -> [Data] {
        let columns = [
            ("account", "name"), ("tenant_profile", "extra"), ("app_metadata", "extra"), ("id_token", "extra"),
            ("id_token", "secret"), ("refresh_token", "extra"), ("refresh_token", "secret"),
            ("access_token", "extra"), ("access_token", "secret"), ("foreign_entry", "entry"), ("data_key", "wrapped"),
        ]
        return try fixture.store.read { session in
            try columns.flatMap { table, column in
                var values: [Data] = []
                try session.connection.prepare("SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL").forEach([])
                {
                    values.append(Data($0.blob(0)))
                    return true
                }
                return values
            }
        }
    }

    /// How many of `values` some file still holds; of a long value any part of 24 bytes counts.
    private func remains(of values: [Data], in fixture: TestStore) throws -> Int {
        let snapshot = try DirectorySnapshot(fixture.directory.path)
        return values.filter { value in
            stride(from: 0, through: max(0, value.count - 24), by: 24).contains { start in
                !snapshot.names(
                    holding: value[value.startIndex + start..<min(value.endIndex, value.startIndex + start + 24)]
                )
                .isEmpty
            }
        }.count
    }

    @Test func `no sealed value is in any file in the clear at any time`() throws {
        let fixture = try TestStore(Self.document())
        try expectNothingPlanted(fixture)
        try fixture.signIn(
            .signIn(["access_token": "planted-access-token-3", "refresh_token": "planted-refresh-token-3"])
        )
        try expectNothingPlanted(fixture)
        _ = try fixture.store.accounts(matching: .claim("planted_claim_name", equals: "planted-claim-value"))
        _ = try fixture.store.check()
        try expectNothingPlanted(fixture)
        _ = try fixture.store.rekey()
        try expectNothingPlanted(fixture)
        _ = try fixture.store.purge(.all)
        try expectNothingPlanted(fixture)
    }

    @Test func `the sealed bytes of every value are found in the files`() throws {
        let fixture = try TestStore(Self.document())
        let values = try sealedValues(fixture)
        #expect(values.count >= 14)
        #expect(try remains(of: values, in: fixture) == values.count)
    }

    enum Removal: CaseIterable {
        case remove, wipe, purge, purgeAll

        func run(_ fixture: TestStore) throws {
            switch self {
            case .remove: try fixture.store.removeAccount(Fixture.account, client: "cid")
            case .wipe: try fixture.store.removeAccount(Fixture.account)
            case .purge: _ = try fixture.store.purge(.all)
            case .purgeAll: _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
            }
        }
    }

    @Test(arguments: Removal.allCases)
    func `after a removal the sealed bytes are in no file either`(removal: Removal) throws {
        let fixture = try TestStore(Self.document())
        let before = try sealedValues(fixture)
        try removal.run(fixture)
        let after = try sealedValues(fixture)
        let deleted = before.filter { !after.contains($0) }
        #expect(deleted.count >= 6)
        #expect(try remains(of: deleted, in: fixture) == 0)
    }

    @Test func `purging expired tokens takes their sealed bytes from the files`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1", expiresIn: -10), .accessToken("b", "s2")))
        let before = try sealedValues(fixture)
        #expect(try fixture.store.previewPurgeExpired().accessTokens == 1)
        #expect(try sealedValues(fixture) == before)
        #expect(try fixture.store.purgeExpired().accessTokens == 1)
        let after = try sealedValues(fixture)
        #expect(try remains(of: before.filter { !after.contains($0) }, in: fixture) == 0)
        #expect(before.count == after.count + 1)
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["b"])
    }

    @Test func `after a rekey nothing sealed under the old key is in any file`() throws {
        let fixture = try TestStore(Self.document())
        let before = try sealedValues(fixture)
        let export = try fixture.store.exportedText()
        let report = try fixture.store.rekey()
        // All but the wrapped key, and the proof of the one entry in the record of use.
        #expect(report.resealed == before.count - 1 + 1)
        #expect(try remains(of: before, in: fixture) == 0)
        #expect(try fixture.store.exportedText() == export)
    }

    /// SQLite does not wait by itself for another connection that empties the log.
    @Test func `concurrent sign-outs all succeed`() async throws {
        let fixture = try TestStore()
        let ids = (0..<24).map { Account.ID(issuer: Fixture.account.issuer, homeAccountID: "u\($0).t1") }
        for index in ids.indices {
            let info = JSONValue.string(Fixture.clientInfo("u\(index)", "t1"))
            try fixture.signIn(.signIn(["client_info": info], without: "id_token"))
        }
        let erasures = try await withThrowingTaskGroup(of: Erasure.self) { group in
            for id in ids {
                let store = try fixture.another()
                group.addTask { try await store.removeAccount(id, client: Fixture.client) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(erasures == ids.map { _ in .complete })
        await #expect(try fixture.store.accounts().isEmpty)
    }

    @Test func `bytes in the log of another reader are reported, not passed over`() throws {
        let fixture = try TestStore { $0.busyTimeout = .milliseconds(50) }
        try fixture.take(Self.document())
        let other = try fixture.another()
        try other.read { session in
            try session.connection.read {
                _ = try session.connection.integer("SELECT count(*) FROM account")
                let erasure = try fixture.store.removeAccount(Fixture.account)
                guard case .unfinished(let error) = erasure else { throw CocoaError(.featureUnsupported) }
                #expect(error.code == .busy)
                #expect(error.remedy?.code == .purge)
            }
        }
        #expect(try fixture.store.accounts().isEmpty)
        _ = try fixture.store.purgeExpired()
        try expectNothingPlanted(fixture)
    }

    @Test func `a removal that waits for another reader keeps no other write waiting`() async throws {
        let fixture = try TestStore()
        try fixture.take(Self.document())
        let (store, other) = (fixture.store, try fixture.another())
        let isReading = LockedValue(false)
        let end = DispatchSemaphore(value: 0)
        let reader = Thread {
            try? other.read { session in
                try session.connection.read {
                    _ = try session.connection.integer("SELECT count(*) FROM account")
                    isReading.withLock { $0 = true }
                    end.wait()
                }
            }
        }
        reader.start()
        while !isReading.withLock(\.self) { await Task.yield() }
        let removal = Task { try await store.removeAccount(Fixture.account) }
        while try await store.accountCount() > 0 { await Task.yield() }
        // Long before the time is over for which the removal waits.
        try await store.perform { try $0.write { _ in } }
        end.signal()
        #expect(try await removal.value == .complete)
    }

    @Test func `while another process reads, a purge of everything is unfinished, and the next one finishes it`() throws
    {
        let fixture = try TestStore { $0.busyTimeout = .milliseconds(50) }
        try fixture.take(Self.document())
        let values = try sealedValues(fixture)
        let other = try fixture.another()
        try other.read { session in
            try session.connection.read {
                _ = try session.connection.integer("SELECT count(*) FROM account")
                expectError(.busy) { _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options) }
            }
        }
        #expect(try fixture.store.read { try $0.isErasureUnfinished() })
        #expect(try remains(of: values, in: fixture) > 0)
        _ = try fixture.store.purgeExpired()
        #expect(try !fixture.store.read { try $0.isErasureUnfinished() })
        #expect(try remains(of: values, in: fixture) == 0)
    }

    @Test func `a purge of everything empties every table but those of the store itself`() throws {
        let fixture = try TestStore(Self.document())
        try fixture.store.setTags(["planted": "tag"], of: Fixture.account)
        try fixture.store.setDefaultAccount(Fixture.account)
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        let left = try fixture.store.read { session in
            let connection = session.connection
            let tables = try connection.all("SELECT name FROM sqlite_master WHERE type = 'table'") { $0.text(0) }
            return try tables.filter { name in
                try connection.prepare("SELECT count(*) FROM \(name)").first([]) { $0.integer(0) } ?? 0 > 0
            }
        }
        #expect(Set(left) == ["store", "event"])
        #expect(try fixture.store.check().isEmpty)
    }
}
