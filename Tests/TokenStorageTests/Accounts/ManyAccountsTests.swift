import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// More accounts than a server is asked about at once, and than are read from a file together.
@Suite(.onBothEngines)
struct ManyAccountsTests {
    private static let count = 700

    private func store() throws -> TestStore {
        let ids = (0..<Self.count).map { "u\($0).t1" }
        return try TestStore(
            .cache(
                accessTokens: ids.map { .accessToken("a-" + $0, "s1", ["home_account_id": .string($0)]) },
                refreshTokens: ids.map { .refreshToken("r-" + $0, ["home_account_id": .string($0)]) },
                accounts: ids.map { .account(["home_account_id": .string($0), "username": .string($0)]) }
            )
        )
    }

    @Test func `a list names them in order, whatever order their rows have`() throws {
        let fixture = try store()
        var listed: [String] = []
        try fixture.store.forEachAccount { summary in
            listed.append(summary.account.username)
            #expect(summary.validCount == 1 && summary.hasRefreshToken && summary.account.tenantProfiles.count == 1)
        }
        #expect(listed.count == Self.count && listed == listed.sorted())
        var latest: [Date] = []
        try fixture.store.forEachAccount(sortedBy: .used, limit: 600) { latest.append($0.lastUsed) }
        #expect(latest.count == 600)
    }

    @Test(.aboutFiles("a row is altered in the file"))
    func `a list shows what stands before an account that was altered`() throws {
        let fixture = try store()
        let connection = try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("UPDATE account SET username = 'else' WHERE username = 'u600.t1'")
        var listed: [String] = []
        expectError(.damaged) { try fixture.store.forEachAccount { listed.append($0.account.username) } }
        #expect(listed.count > 500 && listed == listed.sorted() && listed.last == "u60.t1")
    }

    @Test func `an export has all of them, and a check looks at all`() throws {
        let fixture = try store()
        let document = try fixture.export()
        for bucket in ["AccessToken", "RefreshToken", "Account"] {
            let ids = (document[bucket].object?.members ?? []).map { $0.value["home_account_id"].text ?? "" }
            #expect(Set(ids).count == Self.count && ids.count == Self.count, "\(bucket)")
        }
        var rows = 0
        let problems = try fixture.store.check { rows = $0.unit == "rows" ? $0.done : rows }
        #expect(problems == [] && rows >= 4 * Self.count)
    }

    @Test func `a purge deletes just those that fit`() throws {
        let fixture = try store()
        let kept = try #require(try fixture.store.account(username: "u7.t1"))
        fixture.clock.seconds += 1_000
        _ = try fixture.store.save(
            ServerScene.response("u7", token: "new"),
            for: ServerScene.request()
        )
        let policy = AccountPolicy.unused(since: fixture.clock.date.addingTimeInterval(-500))
        let preview = try fixture.store.previewPurge(policy)
        var told: [Int] = []
        let counts = try fixture.store.purge(policy) { told.append($0.done) }
        #expect(counts == preview)
        #expect(counts.accounts == Self.count - 1 && counts.accessTokens == Self.count - 1)
        #expect(counts.accountNames.count == 5 && told.last == Self.count - 1)
        #expect(try fixture.store.accounts().map(\.id) == [kept.id])
        #expect(try fixture.store.check() == [])
        let purges = try fixture.store.events().filter { $0.kind == .purge }
        #expect(purges.count == (fixture.store.location.path == nil ? 4 : 1))
    }

    @Test func `a purge goes by the first alternative that leaves any`() throws {
        let fixture = try store()
        let policy = AccountPolicy.tag("none").otherwise(.username("u9.t1")).otherwise(.all)
        #expect(try fixture.store.purge(policy).accountNames == ["u9.t1"])
        #expect(try fixture.store.purge(.mostRecentlyUsed).accounts == 1)
        #expect(try fixture.store.purge(.all).accounts == Self.count - 2)
        #expect(try fixture.store.purge(.all) == PurgeCounts())
    }

    @Test func `everything is deleted at last, and the store goes on`() throws {
        let fixture = try store()
        let counts = try TokenStore.purgeAll(at: fixture.store.location, options: fixture.options)
        #expect(counts.accounts == Self.count && counts.accessTokens == Self.count)
        #expect(try fixture.store.accounts().isEmpty)
        try fixture.store.save(ServerScene.response("u1", token: "new"), for: ServerScene.request())
        #expect(try fixture.store.accounts().count == 1)
        #expect(try fixture.store.check() == [])
    }
}
