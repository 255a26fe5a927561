import Database
import Dispatch
import Foundation
import OAuth
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

    @Test func `it reads the same moment as the first, while others commit`() throws {
        let fixture = try store()
        let connections = fixture.store.connections
        let isOver = LockedValue(false)
        let writer = DispatchQueue(label: "writer")
        let another = try fixture.another()
        writer.async {
            while !isOver.withLock(\.self) {
                _ = try? another.save(ServerScene.response("u1", token: "t"), for: ServerScene.request())
            }
        }
        var (alone, together) = (0, 0)
        for _ in 1...2_000 where together < 100 {
            try connections.read { session in
                try session.readLong(of: connections) {
                    guard let second = session.second else {
                        alone += 1
                        return
                    }
                    let look = Look()
                    second.help(with: look)
                    let seen = look.wait()
                    let own = try session.lastEvent()
                    #expect(seen == own)
                    together += 1
                }
            }
        }
        isOver.withLock { $0 = true }
        writer.sync {}
        #expect(together > 0, "\(alone) alone")
    }

    @Test func `what it cannot read the first reader reads`() throws {
        let fixture = try store()
        let connections = fixture.store.connections
        try connections.read { session in
            try session.readLong(of: connections) {
                let second = try #require(session.second)
                struct Refusal: Error {}
                let first = ObjectIdentifier(session)
                var block = RowBlock<Int64> { session, row in
                    guard ObjectIdentifier(session) == first else { throw Refusal() }
                    return -row
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
                withExtendedLifetime(second) {}
            }
        }
    }

    @Test func `whoever has had enough is told nothing more`() throws {
        let fixture = try store()
        let connections = fixture.store.connections
        struct Enough: Error {}
        try connections.read { session in
            try session.readLong(of: connections) {
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

    @Test func `without a key, or with few accounts, there is none`() throws {
        let fixture = try store { $0.accountsForTwoReaders = 3 }
        let connections = fixture.store.connections
        try connections.read { session in
            try session.readLong(of: connections) { #expect(session.second == nil) }
        }
    }
}
