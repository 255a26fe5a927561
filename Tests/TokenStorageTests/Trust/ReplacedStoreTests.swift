import Foundation
import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Another store in the schema of one that a program has open.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ReplacedStoreTests {
    @Test(arguments: [false, true])
    func `a program that goes on uses the new store, under its keys`(hasOtherKey: Bool) throws {
        var scene = try ServerScene()
        let store = try scene.createdStore()
        try store.save(ServerScene.response("u1", token: "old"), for: ServerScene.request())
        let account = try #require(try store.accounts().first)
        let query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
        // Often enough that it is in memory.
        for _ in 0..<20 { _ = try store.cachedToken(for: query) }
        try scene.server.connect().execute("DROP SCHEMA \(scene.schema) CASCADE")
        if hasOtherKey { try FileManager.default.removeItem(atPath: scene.directory.file("key")) }
        try scene.create()
        try store.save(ServerScene.response("u2", token: "new"), for: ServerScene.request())
        #expect(try store.accounts().map(\.id.homeAccountID) == ["u2.t1"])
        #expect(try store.check() == [])
        scene.options.program = "another"
        let other = try scene.open()
        #expect(try other.accounts().map(\.id.homeAccountID) == ["u2.t1"])
        #expect(try other.check() == [])
        if case .usable = try store.cachedToken(for: query) { Issue.record("a token of the old store is served") }
    }

    @Test func `memory does not outlive the store that it is of`() async throws {
        var scene = try ServerScene()
        scene.options.staleness = .milliseconds(500)
        let store = try scene.createdStore()
        _ = try await store.save(ServerScene.response("u1", token: "old"), for: ServerScene.request())
        let account = try #require(try await store.accounts().first)
        let query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
        try await eventually {
            _ = try await store.cachedToken(for: query)
            return store.tokenInMemory(for: query) != nil
        }
        try scene.server.connect().execute("DROP SCHEMA \(scene.schema) CASCADE")
        try scene.create()
        try await eventually { store.tokenInMemory(for: query) == nil }
    }
}
