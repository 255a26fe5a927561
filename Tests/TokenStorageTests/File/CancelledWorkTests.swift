import Dispatch
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Long work ends with the task that waits for it: others wait for its thread.
@Suite(.aboutFiles("one thread writes to a file, and long work keeps it from others"))
struct CancelledWorkTests {
    /// Long work, which calls a function in the middle of it, and how it shows that all of it is done.
    struct Work: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (TestStore, _ note: @escaping @Sendable () -> Void) async throws -> Void
        let isDone: @Sendable (TestStore) throws -> Bool
    }

    private static func crowd(_ name: String) -> JSONValue {
        .cache(accounts: (0..<600).map { .account(["home_account_id": .string("\(name)\($0).t1")]) })
    }

    static let works: [Work] = [
        Work(testDescription: "check") { fixture, note in
            let problems = try await fixture.store.check { _ in note() }
            #expect(problems.isEmpty)
        } isDone: { _ in
            true
        },
        Work(testDescription: "importMSALCache") { fixture, note in
            let document = Data(crowd("v").serialized.utf8)
            _ = try await fixture.store.importMSALCache(document) { _ in note() }
        } isDone: {
            try $0.store.accountCount() == 1200
        },
        Work(testDescription: "rekey") { fixture, note in
            _ = try await fixture.store.rekey { _ in note() }
        } isDone: {
            try !$0.store.status().isRekeyUnfinished
        },
        Work(testDescription: "purge") { fixture, note in
            let store = try await TokenStore.open(at: fixture.path, options: fixture.telling(note))
            _ = try await store.purge(.all)
        } isDone: {
            try $0.store.accountCount() == 0
        },
        Work(testDescription: "purgeAll") { fixture, note in
            _ = try await TokenStore.purgeAll(at: fixture.path, options: fixture.telling(note))
        } isDone: {
            try $0.another().accountCount() == 0
        },
        Work(testDescription: "repair") { fixture, note in
            fixture.store.close()
            _ = try await TokenStore.repair(at: fixture.path, options: fixture.options) { _ in note() }
        } isDone: {
            try $0.another().accountCount() == 600
        },
    ]

    @Test(arguments: works)
    func `long work that is cancelled leaves a whole store, and the next call does the rest`(work: Work) async throws {
        let fixture = try TestStore(Self.crowd("u"))
        let before = try fixture.export()
        // Once open, it stays open.
        let gate = DispatchSemaphore(value: 0)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await work.run(fixture) {
                continuation.yield()
                gate.wait()
                gate.signal()
            }
        }
        await begun.first { _ in true }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        let store = try fixture.another()
        await #expect(try store.check() == [])
        #expect(try store.exported() == before)
        store.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(names.allSatisfy { !$0.contains(".salvage") && !$0.contains(".new") && !$0.contains(".damaged") })
        try await work.run(fixture) {}
        #expect(try work.isDone(fixture))
    }

    @Test func `what asynchronous progress throws ends the work`() async throws {
        struct Enough: Error {}
        let fixture = try TestStore(Self.crowd("u"))
        await #expect(throws: Enough.self) { _ = try await fixture.store.check { _ in throw Enough() } }
    }
}

extension TestStore {
    /// The options with a clock that calls `note` when it is read, as for the record of use.
    fileprivate func telling(_ note: @escaping @Sendable () -> Void) -> StoreOptions {
        var options = options
        options.now = { [clock] in
            note()
            return clock.date
        }
        return options
    }
}
