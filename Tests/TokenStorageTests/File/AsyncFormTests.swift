import Foundation
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What asynchronous code gets of the calls that block.
@Suite(.aboutFiles("others hold the file"))
struct AsyncFormTests {
    private func save(_ number: Int, to store: TokenStore) async throws {
        let claims = Fixture.claims(["oid": .string("u\(number)"), "sub": .string("s\(number)")])
        let response = try TokenResponse.signIn([
            "client_info": .string(Fixture.clientInfo("u\(number)", "t1")),
            "id_token": .string(Fixture.idToken(claims)),
        ])
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Fixture.authority(),
            scope: "s1 s2 s3",
            grant: .authorizationCode
        )
        try await store.save(response, for: request)
    }

    @Test func `a hundred concurrent saves wait for one thread`() async throws {
        let fixture = try TestStore()
        let store = fixture.store
        let occupation = try await OccupiedQueue(store.connections.answering)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try await save(number, to: store) } }
            #expect(await occupation.hasWaiting(100))
            occupation.end()
            try await group.waitForAll()
        }
        #expect(try await store.accountCount() == 100)
    }

    @Test func `a write is not done after its task was cancelled while it waited`() async throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let store = fixture.store
        let occupation = try await OccupiedQueue(store.connections.removing)
        let removal = Task { try await store.removeAccount(Fixture.account) }
        #expect(await occupation.hasWaiting(1))
        removal.cancel()
        await #expect(throws: CancellationError.self) { try await removal.value }
        occupation.end()
        try await store.performRemoval { _ in }
        #expect(try await store.accountCount() == 1)
    }

    @Test func `a save is done after its task was cancelled`() async throws {
        let fixture = try TestStore()
        let store = fixture.store
        let occupation = try await OccupiedQueue(store.connections.answering)
        let saving = Task { try await save(1, to: store) }
        #expect(await occupation.hasWaiting(1))
        saving.cancel()
        occupation.end()
        try await saving.value
        #expect(try await store.accountCount() == 1)
    }

    @Test func `a save does not wait for other writes that wait`() async throws {
        let fixture = try TestStore()
        let store = fixture.store
        let occupation = try await OccupiedQueue(store.connections.writing)
        try await save(1, to: store)
        occupation.end()
        #expect(try await store.accountCount() == 1)
    }

    @Test(arguments: [1, 3])
    func `no more threads work than a queue has`(limit: Int) async throws {
        let queue = WorkQueue("test", threads: limit)
        let threads = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await queue.run {
                        threads.begin()
                        sched_yield()
                        threads.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(threads.most <= limit)
    }

    @Test func `work runs in the order in which it came`() async throws {
        let queue = WorkQueue("test", threads: 1)
        let occupation = try await OccupiedQueue(queue)
        let tally = Tally()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(Task { try await queue.run { tally.add(number) } })
            #expect(await occupation.hasWaiting(number + 1))
        }
        occupation.end()
        for task in tasks { try await task.value }
        #expect(tally.numbers == [0, 1, 2, 3, 4])
    }
}

/// What work has done.
private final class Tally: Sendable {
    private let state = LockedValue((now: 0, most: 0, numbers: [Int]()))

    var most: Int { state.withLock { $0.most } }
    var numbers: [Int] { state.withLock { $0.numbers } }

    func begin() {
        state.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
    }

    func end() { state.withLock { $0.now -= 1 } }

    func add(_ number: Int) { state.withLock { $0.numbers.append(number) } }
}
