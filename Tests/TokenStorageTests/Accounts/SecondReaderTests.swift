import Database
import Dispatch
import Foundation
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// The second connection that helps to read a long list.
@Suite(.aboutFiles("a server has no second reader"))
struct SecondReaderTests {
    /// Notes what the one sees who does it.
    private final class Look: SharedWork {
        let seen = LockedValue<Int64?>(nil)
        private let isTaken = LockedValue(false)
        private let end = DispatchSemaphore(value: 0)

        func advance(by session: StoreConnection) -> Bool {
            let isMine = isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
            guard isMine else { return false }
            let newest = try? session.lastEvent()
            seen.withLock { $0 = newest }
            end.signal()
            return true
        }

        func wait() -> Int64? {
            end.wait()
            return seen.withLock(\.self)
        }
    }

    private func store(_ configure: (inout StoreOptions) -> Void = { _ in }) throws -> TestStore {
        let fixture = try TestStore {
            $0.accountsForTwoReaders = 1
            configure(&$0)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        return fixture
    }

    private func sees(_ fixture: TestStore, _ body: (StoreConnection, SecondReader?) throws -> Void) throws {
        let connections = fixture.store.connections
        try connections.read { session in
            try session.readLong(of: connections) { try body(session, session.second) }
        }
    }

    @Test func `it reads the same moment as the first, while others commit`() throws {
        let fixture = try store()
        let isOver = LockedValue(false)
        let writer = DispatchQueue(label: "writer")
        let another = try fixture.another()
        writer.async {
            while !isOver.withLock(\.self) {
                _ = try? another.save(ServerScene.response("u1", token: "t"), for: ServerScene.request())
            }
        }
        defer {
            isOver.withLock { $0 = true }
            writer.sync {}
        }
        var (together, moments) = (0, Set<Int64>())
        let start = ContinuousClock.now
        while together < 100 || moments.count < 3, ContinuousClock.now - start < .seconds(60) {
            try sees(fixture) { session, second in
                guard let second else { return }
                let look = Look()
                second.help(with: look)
                let seen = look.wait()
                let own = try session.lastEvent()
                #expect(seen == own)
                together += 1
                moments.insert(own)
            }
        }
        #expect(together >= 100 && moments.count >= 3)
    }

    @Test func `what it cannot read the first reader reads, and it is not used again`() throws {
        let fixture = try store()
        let refusals = LockedValue(0)
        for round in 1...3 {
            try sees(fixture) { session, second in
                #expect(second != nil)
                struct Refusal: Error {}
                let first = ObjectIdentifier(session)
                var block = RowBlock<Int64> { session, row in
                    if ObjectIdentifier(session) == first {
                        // The first reader waits until the other one has met its rows.
                        let limit = ContinuousClock.now + .seconds(10)
                        while refusals.withLock(\.self) < round, ContinuousClock.now < limit {
                            Pauses.wait(.milliseconds(1))
                        }
                        return -row
                    }
                    refusals.withLock { $0 += 1 }
                    throw Refusal()
                }
                let rows = (1...5_000).map(Int64.init).shuffled()
                var told: [Int64] = []
                func note(_ row: Int64, _ read: Int64) -> Bool {
                    #expect(read == -row)
                    told.append(row)
                    return true
                }
                for row in rows { _ = try block.add(row, by: session, note) }
                try block.finish(by: session, note)
                #expect(told == rows)
            }
            // One row a round: the first error is the last thing that it does.
            #expect(refusals.withLock(\.self) == round)
        }
    }

    @Test func `after an error of the first reader the second one ends too`() throws {
        let fixture = try store()
        struct Refusal: Error {}
        for _ in 1...20 {
            try sees(fixture) { session, _ in
                let first = ObjectIdentifier(session)
                let hasFailed = LockedValue(false)
                var block = RowBlock<Int64> { session, row in
                    if ObjectIdentifier(session) == first {
                        hasFailed.withLock { $0 = true }
                        throw Refusal()
                    }
                    let limit = ContinuousClock.now + .seconds(10)
                    while !hasFailed.withLock(\.self), ContinuousClock.now < limit { Pauses.wait(.milliseconds(1)) }
                    return row
                }
                #expect(throws: Refusal.self) {
                    for row in 1...2_000 as ClosedRange<Int64> { _ = try block.add(row, by: session) { _, _ in true } }
                    try block.finish(by: session) { _, _ in true }
                }
            }
        }
    }

    @Test func `whoever has had enough is told nothing more`() throws {
        let fixture = try store()
        struct Enough: Error {}
        try sees(fixture) { session, _ in
            for fails in [false, true] {
                var block = RowBlock<Int64> { $1 }
                var told = 0
                func note(_ row: Int64, _ read: Int64) throws -> Bool {
                    told += 1
                    if told == 100, fails { throw Enough() }
                    return told < 100
                }
                var goesOn = true
                do {
                    for row in 1...5_000 as ClosedRange<Int64> where goesOn {
                        goesOn = try block.add(row, by: session, note)
                    }
                } catch is Enough {
                    goesOn = false
                }
                #expect(!goesOn)
                try block.finish(by: session, note)
                #expect(told == 100)
            }
        }
    }

    @Test func `it does not read a file that took the place of the first one's`() throws {
        let (fixture, other) = (try store(), try store())
        let connections = fixture.store.connections
        try connections.read { session in
            _ = try other.store.backUp(to: fixture.path.database + ".new")
            #expect(rename(fixture.path.database + ".new", fixture.path.database) == 0)
            try session.readLong(of: connections) { #expect(session.second == nil) }
        }
    }

    @Test func `it does not read a store whose keys are others than the first one's`() throws {
        let fixture = try store()
        try sees(fixture) { _, second in #expect(second != nil) }
        let another = try fixture.another()
        let connections = fixture.store.connections
        try connections.read { session in
            _ = try another.rekey()
            try session.readLong(of: connections) { #expect(session.second == nil) }
        }
    }

    @Test func `an inspection of a file that nobody else has open has one as well`() throws {
        let fixture = try store()
        #expect(fixture.store.connections.close())
        #expect(try Data(contentsOf: URL(filePath: fixture.path.log)).isEmpty)
        let inspection = try #require(try TokenStore.inspect(at: fixture.location, options: fixture.options))
        try inspection.connections.read { session in
            #expect(session.mode == .readOnly)
            try session.readLong(of: inspection.connections) { #expect(session.second != nil) }
        }
    }

    @Test func `without a key, or with few accounts, there is none`() throws {
        let fixture = try store { $0.accountsForTwoReaders = 2 }
        try sees(fixture) { session, second in
            #expect(second == nil && session.keyRing != nil)
        }
        var options = fixture.options
        (options.unlocks, options.accountsForTwoReaders) = (false, 1)
        let inspection = try #require(try TokenStore.inspect(at: fixture.location, options: options))
        try inspection.connections.read { session in
            #expect(session.keyRing == nil)
            try session.readLong(of: inspection.connections) { #expect(session.second == nil) }
        }
    }

    @Test func `a list for one account or a few does without it`() {
        #expect(AccountPolicy.all.mayLeaveMany && AccountPolicy.tenant("t1").and(.expired).mayLeaveMany)
        #expect(
            !AccountPolicy.username("a").and(.tenant("t1")).mayLeaveMany && !AccountPolicy.mostRecentlyUsed.mayLeaveMany
        )
        #expect(AccountPolicy.username("a").otherwise(.expired).mayLeaveMany)
    }

    @Test func `the store can be closed at once after a list`() throws {
        let fixture = try store()
        for _ in 1...50 {
            try fixture.store.forEachAccount { _ in }
            #expect(fixture.store.connections.close())
        }
    }

    @Test func `a check names what the second reader found`() throws {
        let fixture = try store { $0.accountsForTwoReaders = 0 }
        let connection = try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("PRAGMA foreign_keys = OFF; DELETE FROM account")
        let problems = try fixture.store.check()
        #expect(problems.contains { $0.problem == "its row in account is missing" })
    }
}
