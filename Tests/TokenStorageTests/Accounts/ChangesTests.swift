import Database
import Foundation
import OAuth
import SQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

@Suite(.onBothEngines)
struct ChangesTests {
    /// The next change, or nil where the sequence ends.
    private func next(_ changes: inout AsyncStream<StoreChange>.Iterator) async -> StoreChange? {
        await changes.next(isolation: nil)
    }

    @Test(arguments: [true, false])
    func `changes of this process and another one arrive in order`(isOther: Bool) async throws {
        let fixture = try TestStore(.standardCache())
        let writer = try isOther ? fixture.another() : fixture.store
        var changes = try await fixture.store.changes().makeAsyncIterator()
        let request = TokenRequest(
            clientID: "cid",
            authority: try Fixture.authority(),
            scope: "s1",
            grant: .authorizationCode
        )
        try await writer.save(.signIn(), for: request)
        #expect(await next(&changes) == .signedIn(Fixture.account))
        try await writer.save(.new(), for: request, refreshing: fixture.currentRefreshToken())
        #expect(await next(&changes) == .tokensReplaced(Fixture.account))
        try await writer.removeAccount(Fixture.account, client: "cid")
        #expect(await next(&changes) == .signedOut(Fixture.account))
        try writer.take(JSONValue.standardCache(.accessToken("b", "s1")).serialized)
        #expect(await next(&changes) == .many)
    }

    @Test func `a subscriber that leaves too many changes unread is told that there were many`() async throws {
        let (stream, teller) = ChangeTeller.stream()
        let fixture = try TestStore(.standardCache())
        try fixture.signIn(.signIn())
        let event = try #require(try await fixture.store.events(limit: 10).first { $0.kind == .signIn })
        for _ in 0..<5_000 { teller.tell(StoreChange(event, about: event.account)) }
        teller.finish()
        var changes: [StoreChange] = []
        for await change in stream { changes.append(change) }
        #expect(changes.count <= 1_000)
        #expect(changes.last == .many)
    }

    @Test func `1,500 changes of another account leave a subscriber's own change in its place`() async throws {
        let fixture = try TestStore()
        let other = try #require(try fixture.signInAnother())
        try fixture.signIn(.signIn())
        let events = try await fixture.store.events(limit: 10)
        let others = try #require(events.first { $0.account == other })
        let own = try #require(events.first { $0.account == Fixture.account })
        let (stream, teller) = ChangeTeller.stream(only: Fixture.account)
        for event in Array(repeating: others, count: 1_500) + [own] {
            teller.tell(StoreChange(event, about: event.account))
        }
        teller.finish()
        var changes: [StoreChange] = []
        for await change in stream { changes.append(change) }
        #expect(changes == [.signedIn(Fixture.account)])
    }

    @Test func `a subscriber of one account is told of it alone`() async throws {
        let fixture = try TestStore()
        var changes = try await fixture.store.changes(about: Fixture.account).makeAsyncIterator()
        try fixture.signInAnother()
        try fixture.signIn(.signIn())
        #expect(await next(&changes) == .signedIn(Fixture.account))
    }

    @Test func `two subscribers both get changes from their subscription on`() async throws {
        let fixture = try TestStore(.standardCache())
        try fixture.signIn(.signIn())
        var first = try await fixture.store.changes().makeAsyncIterator()
        var second = try await fixture.another().changes().makeAsyncIterator()
        try await fixture.store.removeAccount(Fixture.account)
        #expect(await next(&first) == .signedOut(Fixture.account))
        #expect(await next(&second) == .signedOut(Fixture.account))
    }

    @Test func `changes go on after everything was purged`() async throws {
        let fixture = try TestStore(.standardCache())
        for _ in 0..<5 { try fixture.signIn(.signIn()) }
        var changes = try await fixture.store.changes().makeAsyncIterator()
        _ = try await TokenStore.purgeAll(at: fixture.location, options: fixture.options)
        #expect(await next(&changes) == .many)
        try fixture.signIn(.signIn())
        // A server deletes them in several transactions, and tells of each.
        var change = await next(&changes)
        while fixture.location.path == nil, change == .many { change = await next(&changes) }
        #expect(change == .signedIn(Fixture.account))
    }

    @Test func `a cancelled subscriber gets no more changes`() async throws {
        let fixture = try TestStore(.standardCache())
        let changes = try await fixture.store.changes()
        let subscriber = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        subscriber.cancel()
        #expect(await subscriber.value == 0)
        try fixture.signIn(.signIn())
    }
}

extension TestStore {
    /// Signs in a person who is not the default one.
    @discardableResult
    fileprivate func signInAnother() throws -> Account.ID? {
        let changes: KeyValuePairs<String, JSONValue> = ["client_info": .string(Fixture.clientInfo("u2", "t1"))]
        return try signIn(.signIn(changes, without: "id_token")).account
    }
}

@Suite(.onBothEngines)
struct EventsTests {
    @Test func `the record of use names program, process, account and outcome, and no secret`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["refresh_token": "planted-secret"]))
        #expect(try fixture.store.events().map(\.account) == [Fixture.account])
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        let events = try fixture.store.events()
        #expect(events.map(\.kind) == [.signOut, .signIn])
        #expect(events.map(\.account) == [nil, nil])
        #expect(try fixture.store.events(of: Fixture.account) == events)
        #expect(events.map(\.program) == ["test", "test"])
        #expect(events.map(\.at) == [Fixture.date(), Fixture.date()])
        #expect(events.map(\.clientID) == ["cid", "cid"])
        #expect(events.allSatisfy { $0.processID == Int64(ProcessInfo.processInfo.processIdentifier) })
        #expect(!"\(events)".contains("planted"))
    }

    @Test func `no more entries are read than are asked for, and those are the newest`() throws {
        let fixture = try TestStore()
        for _ in 0..<4 { try fixture.signIn(.signIn()) }
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        #expect(try fixture.store.events(limit: 2).map(\.kind) == [.signOut, .signIn])
        #expect(try fixture.store.events(of: Fixture.account, limit: 3).map(\.kind) == [.signOut, .signIn, .signIn])
        #expect(try fixture.store.events(limit: 0) == [])
        #expect(try fixture.store.events(limit: -1) == [])
    }

    @Test(.aboutFiles("a server keeps entries by their age"))
    func `the record of use keeps its newest entries only`() throws {
        let fixture = try TestStore()
        try fixture.store.write { session in
            let insert = try session.connection.prepare(
                "INSERT INTO event (at, program, process_id, kind, outcome) VALUES (?1, 'old', 1, 'purge', 'done')"
            )
            for time in 0..<2500 { try insert.run([.integer(time)]) }
        }
        try fixture.signIn(.signIn())
        let events = try fixture.store.events(limit: 10_000)
        #expect(events.count == 2000)
        #expect(events.first?.kind == .signIn)
        #expect(events.map(\.id) == events.map(\.id).sorted(by: >))
    }
}
