import Foundation
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What the subscribers of one store share: a thread reads for all of them.
@Suite(.onBothEngines)
struct SharedChangesTests {
    /// The next changes, fewer where the sequence ends.
    private func next(_ count: Int, of changes: inout AsyncStream<StoreChange>.Iterator) async -> [StoreChange] {
        var found: [StoreChange] = []
        while found.count < count, let change = await changes.next(isolation: nil) { found.append(change) }
        return found
    }

    private static func sample(_ folder: String, where isCounted: (String) -> Bool = { _ in true }) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count(where: isCounted) ?? 0
    }

    private static var threads: Int { sample("/proc/self/task") }

    private static var watches: Int {
        sample("/proc/self/fd") {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == "anon_inode:inotify"
        }
    }

    @Test func `300 subscribers are told each change once, by one thread with one watch`() async throws {
        let fixture = try TestStore()
        let before = (threads: Self.threads, watches: Self.watches)
        var subscribers: [AsyncStream<StoreChange>.Iterator] = []
        for number in 0..<300 {
            let account = number.isMultiple(of: 2) ? Fixture.account : nil
            subscribers.append(try await fixture.store.changes(about: account).makeAsyncIterator())
        }
        // Other tests run at the same time.
        #expect(Self.threads - before.threads < 150)
        #expect(Self.watches - before.watches < 50)
        try fixture.signIn(.signIn())
        for index in subscribers.indices {
            let told = await next(1, of: &subscribers[index])
            #expect(told == [.signedIn(Fixture.account)])
        }
        // Not before its sign-in was read: an account that is gone is not named.
        try await fixture.store.removeAccount(Fixture.account)
        for index in subscribers.indices {
            let told = await next(1, of: &subscribers[index])
            #expect(told == [.signedOut(Fixture.account)])
        }
    }

    @Test func `who subscribes while others write misses nothing and is told nothing twice`() async throws {
        let fixture = try TestStore()
        let writer = try fixture.another()
        let people = 100
        let begun = LockedValue(0)
        let done = LockedValue(0)
        let writing = Task {
            for number in 0..<people {
                begun.withLock { $0 += 1 }
                let names: KeyValuePairs<String, JSONValue> = [
                    "client_info": .string(Fixture.clientInfo("v\(number)", "t1"))
                ]
                let request = TokenRequest(
                    clientID: "cid",
                    authority: try Fixture.authority(),
                    scope: "s1",
                    grant: .authorizationCode
                )
                try await writer.save(.signIn(names, without: "id_token"), for: request)
                done.withLock { $0 += 1 }
            }
        }
        var subscribers: [(first: ClosedRange<Int>, changes: AsyncStream<StoreChange>.Iterator)] = []
        while done.withLock(\.self) < people {
            let earliest = done.withLock(\.self)
            let changes = try await fixture.store.changes().makeAsyncIterator()
            subscribers.append((earliest...begun.withLock(\.self), changes))
            // One of two leaves at once.
            _ = try await fixture.store.changes()
        }
        try await writing.value
        try fixture.signIn(.signIn())
        for subscriber in subscribers {
            var (told, changes) = ([String](), subscriber.changes)
            while case .signedIn(let id)? = await changes.next(isolation: nil), id != Fixture.account {
                told.append(id.homeAccountID)
            }
            let first = people - told.count
            #expect(subscriber.first.contains(first))
            #expect(told == (first..<people).map { "v\($0).t1" })
        }
        #expect(!subscribers.isEmpty)
    }

    @Test func `a subscriber who reads nothing holds up no other, and is told of many`() async throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        var slow = try await fixture.store.changes().makeAsyncIterator()
        var fast = try await fixture.store.changes().makeAsyncIterator()
        let expected = Array(repeating: StoreChange.tokensReplaced(Fixture.account), count: 100)
        for _ in 0..<11 {
            try fixture.store.write { session in
                for _ in expected { try session.record(.refresh, account: Fixture.account) }
            }
            #expect(await next(expected.count, of: &fast) == expected)
        }
        // Who subscribes now comes behind what all others have been told: the fast one may have been told first.
        _ = try await fixture.store.changes()
        #expect(await next(1_000, of: &slow).last == .many)
        try await fixture.store.removeAccount(Fixture.account)
        #expect(await next(1, of: &slow) == [.signedOut(Fixture.account)])
        #expect(await next(1, of: &fast) == [.signedOut(Fixture.account)])
    }

    @Test func `the reading ends with the last subscriber, and begins anew with the next one`() async throws {
        let fixture = try TestStore()
        for _ in 0..<3 {
            var streams = [try await fixture.store.changes(), try await fixture.store.changes()]
            weak let signal = fixture.store.changeReader.signal
            #expect(signal != nil)
            streams.removeLast()
            try fixture.signIn(.signIn())
            #expect(await streams[0].first { _ in true } == .signedIn(Fixture.account))
            streams = []
            // With it its descriptors are closed; the thread has let go of it last.
            try await eventually { signal == nil }
            #expect(fixture.store.changeReader.signal == nil)
        }
    }

    @Test func `subscribers of a store whose connections were closed are told what others commit`() async throws {
        let fixture = try TestStore()
        var changes = try await fixture.store.changes().makeAsyncIterator()
        fixture.store.close()
        let other = try fixture.another()
        try other.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        #expect(await next(1, of: &changes) == [.many])
    }

    @Test func `an account that was imported is named to who subscribed before and after`() async throws {
        let fixture = try TestStore()
        // It brings the key of the marks by which accounts that are gone are known.
        try fixture.signIn(.signIn(["client_info": .string(Fixture.clientInfo("v", "t1"))], without: "id_token"))
        var early = try await fixture.store.changes().makeAsyncIterator()
        try fixture.take(.standardCache(.refreshToken("r")))
        #expect(await next(1, of: &early) == [.many])
        var late = try await fixture.store.changes().makeAsyncIterator()
        try await fixture.store.removeAccount(Fixture.account)
        #expect(await next(1, of: &late) == [.signedOut(Fixture.account)])
        #expect(await next(1, of: &early) == [.signedOut(Fixture.account)])
    }

    @Test(.aboutFiles("another file takes its place"))
    func `all subscribers of a file that is no store any more come to an end`() async throws {
        let fixture = try TestStore()
        let streams = [
            try await fixture.store.changes(), try await fixture.store.changes(about: Fixture.account),
        ]
        let other = fixture.directory.file("other")
        try Data("no database".utf8).write(to: URL(filePath: other))
        try #require(rename(other, fixture.path.database) == 0)
        for changes in streams { #expect(await changes.first { $0 != .many } == nil) }
        await #expect(throws: TokenStoreError.self) { _ = try await fixture.store.changes() }
        try await eventually { fixture.store.changeReader.signal == nil }
    }

    @Test(.aboutFiles("a directory takes its place"))
    func `all subscribers are told of commits to a directory that has taken the place of theirs`() async throws {
        let fixture = try TestStore()
        let (here, away) = (fixture.directory.file("here"), fixture.directory.file("away"))
        let path = StorePath(here + "/tokenstore.db")
        var options = fixture.options
        options.replacementLookInterval = .zero
        let store = try await TokenStore.open(at: path, options: options)
        var subscribers = [try await store.changes().makeAsyncIterator()]
        try replace(here, movingItTo: away)
        subscribers.append(try await store.changes().makeAsyncIterator())
        let other = try await TokenStore.open(at: path, options: options)
        try await other.save(.signIn(), for: ServerScene.request())
        for index in subscribers.indices {
            var told = await subscribers[index].next(isolation: nil)
            while told == .many { told = await subscribers[index].next(isolation: nil) }
            #expect(told == .signedIn(Fixture.account))
        }
    }

    /// Puts a copy of a directory in its place, which is nobody's for as short as can be.
    private func replace(_ directory: String, movingItTo away: String) throws {
        let copy = directory + ".copy"
        try FileManager.default.copyItem(atPath: directory, toPath: copy)
        try #require(rename(directory, away) == 0)
        try #require(rename(copy, directory) == 0)
    }

    @Test(.aboutFiles("a directory takes its place"))
    func `accounts of which the look that begins a subscription finds many are named to it`() async throws {
        let fixture = try TestStore()
        let here = fixture.directory.file("here")
        let path = StorePath(here + "/tokenstore.db")
        var options = fixture.options
        options.replacementLookInterval = .zero
        let store = try await TokenStore.open(at: path, options: options)
        // It brings the key of the marks by which accounts that are gone are known.
        let names: KeyValuePairs<String, JSONValue> = ["client_info": .string(Fixture.clientInfo("v", "t1"))]
        try await store.save(.signIn(names, without: "id_token"), for: ServerScene.request())
        let early = try await store.changes()
        // Nothing wakes the thread when another directory is written to.
        try replace(here, movingItTo: fixture.directory.file("away"))
        let other = try await TokenStore.open(at: path, options: options)
        try other.take(JSONValue.standardCache(.refreshToken("r")).serialized)
        other.close()
        var late = try await store.changes().makeAsyncIterator()
        try await store.removeAccount(Fixture.account)
        #expect(await next(1, of: &late) == [.signedOut(Fixture.account)])
        withExtendedLifetime(early) {}
    }

    @Test(.aboutFiles("a directory has its name no more"))
    func `who cannot subscribe while the directory is away ends nobody else's subscription`() async throws {
        let fixture = try TestStore()
        let (here, away) = (fixture.directory.file("here"), fixture.directory.file("away"))
        var options = fixture.options
        // So that what fails is the watch, and no read.
        options.replacementLookInterval = .seconds(3_600)
        let store = try await TokenStore.open(at: StorePath(here + "/tokenstore.db"), options: options)
        // Two connections are open then, one for the thread and one for who subscribes.
        try store.read { _ in try store.read { _ in } }
        var changes = try await store.changes().makeAsyncIterator()
        try #require(rename(here, away) == 0)
        let error = await #expect(throws: TokenStoreError.self) { _ = try await store.changes() }
        #expect(error?.code == .file)
        try #require(rename(away, here) == 0)
        try await store.save(.signIn(), for: ServerScene.request())
        #expect(await next(1, of: &changes) == [.signedIn(Fixture.account)])
    }

    @Test(.aboutFiles("another file takes its place"), arguments: [false, true])
    func `a subscription from inside a write of a file that was replaced is refused at once`(isRead: Bool) throws {
        let fixture = try TestStore { $0.replacementLookInterval = .zero }
        try fixture.signIn(.signIn())
        let replacement = try TestStore.closed(.standardCache())
        let other = try withExtendedLifetime(replacement) {
            try DamagedFile(replacement.path.database).bytes()
        }
        if isRead { _ = try fixture.store.accounts() } else { fixture.store.close() }
        // What is written to the old file is refused when the closure has returned.
        expectError(.busy) {
            try fixture.store.changeTags(of: Fixture.account) { tags in
                tags["floor"] = "3"
                expectCode(.invalidArgument) {
                    try DamagedFile(fixture.path.database).replace(with: other)
                    _ = try fixture.store.changes()
                }
            }
        }
    }

    @Test func `what was there before a subscription is not told, though it counts later`() async {
        var (stream, teller) = ChangeTeller.stream()
        teller.before = [7]
        teller.tell([(nil, .many), (7, .signedIn(Fixture.account)), (8, .signedOut(Fixture.account))])
        teller.finish()
        var changes = stream.makeAsyncIterator()
        #expect(await next(3, of: &changes) == [.many, .signedOut(Fixture.account)])
    }
}
