import Dispatch
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A reader that takes its time, and what others do meanwhile.
@Suite(.aboutFiles("a server has no log that a reader keeps"), .onWaitingThreads)
struct LongReadTests {
    /// Reads until it is let go.
    private final class Reader: Sendable {
        private let go = DispatchSemaphore(value: 0)
        private let isOver = DispatchSemaphore(value: 0)

        init(_ store: TokenStore) {
            let isReading = DispatchSemaphore(value: 0)
            DispatchQueue(label: "reader").async { [go, isOver] in
                try? store.forEachAccount { _ in
                    isReading.signal()
                    go.wait()
                    go.signal()
                }
                isOver.signal()
            }
            isReading.wait()
        }

        func letGo() {
            go.signal()
            isOver.wait()
        }
    }

    @Test func `a removal whose old rows a reader keeps in the log keeps nobody from writing`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try fixture.signIn(.signIn(["client_info": .string(Fixture.clientInfo("u7", "t1"))], without: "id_token"))
        let store = fixture.store
        let other = try #require(try store.accounts().first { $0.id != Fixture.account })
        var hurried = fixture.options
        hurried.busyTimeout = .seconds(2)
        let writer = try TokenStore.open(at: fixture.location, options: hurried)
        let reader = Reader(try fixture.another())
        let removed = LockedValue<Erasure?>(nil)
        let isRemoved = DispatchSemaphore(value: 0)
        DispatchQueue(label: "removal").async {
            let erasure = try? store.removeAccount(other.id)
            removed.withLock { $0 = erasure }
            isRemoved.signal()
        }
        while try writer.account(other.id) != nil { Pauses.wait(.milliseconds(5)) }
        // In another connection, and in the one that removes.
        try writer.setTags(["a": "1"], of: Fixture.account)
        try fixture.store.setTags(["b": "2"], of: Fixture.account)
        #expect(removed.withLock(\.self) == nil)
        reader.letGo()
        isRemoved.wait()
        #expect(removed.withLock(\.self) == .complete)
    }

    /// Promise 8 under load: a try to empty the log outlasts them once.
    @Test func `short reads and writes without a pause keep no removal from its end`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try fixture.signIn(.signIn(["client_info": .string(Fixture.clientInfo("u7", "t1"))], without: "id_token"))
        let other = try #require(try fixture.store.accounts().first { $0.id != Fixture.account })
        let isOver = LockedValue(false)
        let group = DispatchGroup()
        for _ in 0..<4 {
            let store = try fixture.another()
            DispatchQueue(label: "reader").async(group: group) {
                while !isOver.withLock(\.self) { try? store.forEachAccount { _ in Pauses.wait(.milliseconds(50)) } }
            }
        }
        let writer = try fixture.another()
        DispatchQueue(label: "writer").async(group: group) {
            while !isOver.withLock(\.self) {
                try? writer.setTags(["n": "\(Int.random(in: 0...9))"], of: Fixture.account)
                Pauses.wait(.milliseconds(20))
            }
        }
        let erasure = try fixture.store.removeAccount(other.id)
        isOver.withLock { $0 = true }
        group.wait()
        #expect(erasure == .complete)
    }

    @Test func `a read waits for no write, even where it needs another connection`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let store = fixture.store
        let isWriting = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue(label: "writer").async {
            try? store.connections.withWriter { _ in
                isWriting.signal()
                go.wait()
            }
            isOver.signal()
        }
        isWriting.wait()
        store.connections.closeReaders()
        #expect(try store.accounts().count == 1)
        go.signal()
        isOver.wait()
    }
}
