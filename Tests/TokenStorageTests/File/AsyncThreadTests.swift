import Foundation
import OAuth
import Sealing
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Where the asynchronous forms of what blocks do their work: never on a thread that tasks share.
@Suite(.aboutFiles("others hold the file"))
struct AsyncThreadTests {
    /// A form, by its name in the report of a test.
    struct Form<Call: Sendable>: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let call: Call

        init(_ name: String, _ call: Call) { (testDescription, self.call) = (name, call) }
    }

    typealias Read = Form<@Sendable (any StoreReading, StoredRefreshToken) async throws -> Void>
    typealias Write = Form<@Sendable (TokenStore, StoredRefreshToken) async throws -> Void>

    private static let query = TokenQuery(account: Fixture.account, clientID: Fixture.client, scope: "s1")

    static let reads: [Read] = [
        Read("accounts") { store, _ in _ = try await store.accounts() },
        Read("account by policy") { store, _ in _ = try await store.account(matching: .all) },
        Read("account by username") { store, _ in _ = try await store.account(username: "ada@example.net") },
        Read("accountCount") { store, _ in _ = try await store.accountCount() },
        Read("signedInAccounts") { store, _ in _ = try await store.signedInAccounts(client: Fixture.client) },
        Read("select") { store, _ in _ = try await store.select(.all) },
        Read("forEachAccount") { store, _ in try await store.forEachAccount { _ in } },
        Read("summary") { store, _ in _ = try await store.summary(of: Fixture.account) },
        Read("idTokens") { store, _ in _ = try await store.idTokens(of: Fixture.account) },
        Read("signInState") { store, _ in
            _ = try await store.signInState(of: Fixture.account, client: Fixture.client)
        },
        Read("tags") { store, _ in _ = try await store.tags(of: Fixture.account) },
        Read("refreshTokens") { store, _ in
            _ = try await store.refreshTokens(of: Fixture.account, client: Fixture.client)
        },
        Read("cachedToken") { store, _ in _ = try await store.cachedToken(for: query) },
        Read("events") { store, _ in _ = try await store.events() },
        Read("events of an account") { store, _ in _ = try await store.events(of: Fixture.account) },
        Read("events of a token") { store, token in _ = try await store.events(of: token) },
        Read("check") { store, _ in _ = try await store.check() },
        Read("status") { store, _ in _ = try await store.status() },
        Read("exportMSALCache") { store, _ in _ = try await store.exportMSALCache() },
        Read("exportMSALCache in pieces") { store, _ in try await store.exportMSALCache { _ in } },
        Read("previewPurge") { store, _ in _ = try await store.previewPurge(.all) },
        Read("previewPurgeExpired") { store, _ in _ = try await store.previewPurgeExpired() },
        Read("defaultAccount") { store, _ in _ = try await store.defaultAccount() },
        Read("changes") { store, _ in
            guard let store = store as? TokenStore else {
                _ = try await store.status()
                return
            }
            _ = try await store.changes()
        },
    ]

    static let removals: [Write] = [
        Write("removeAccount of a client") { store, _ in
            try await store.removeAccount(Fixture.account, client: Fixture.client)
        },
        Write("removeAccount") { store, _ in try await store.removeAccount(Fixture.account) },
        Write("removeRefreshToken") { store, token in try await store.removeRefreshToken(token) },
        Write("purgeExpired") { store, _ in _ = try await store.purgeExpired() },
        Write("purge") { store, _ in _ = try await store.purge(.all) },
    ]

    static let writes: [Write] = [
        Write("importMSALCache") { store, _ in
            _ = try await store.importMSALCache(Data("{}".utf8), isKnownFormat: true)
        },
        Write("rekey") { store, _ in _ = try await store.rekey() },
        Write("setDefaultAccount") { store, _ in try await store.setDefaultAccount(Fixture.account) },
        Write("setTags") { store, _ in try await store.setTags(["team": "red"], of: Fixture.account) },
        Write("changeTags") { store, _ in
            try await store.changeTags(of: Fixture.account) { $0["team"] = "red" }
        },
    ]

    @Test(.serialized, arguments: [true, false])
    func `what reads waits for a thread that reads, and not once it is cancelled`(isInspection: Bool) async throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let token = try fixture.currentRefreshToken()
        let inspection = try await TokenStore.inspect(at: fixture.path, options: fixture.options)
        let store: any StoreReading = isInspection ? try #require(inspection) : fixture.store
        for form in Self.reads { try await form.call(store, token) }
        let occupation = try await OccupiedQueue(store.connections.reading, threads: 8)
        for (count, form) in Self.reads.enumerated() {
            let task = Task { try await form.call(store, token) }
            #expect(await occupation.hasWaiting(count + 1), "\(form.testDescription)")
            task.cancel()
            await #expect(throws: CancellationError.self, "\(form.testDescription)") { try await task.value }
        }
        occupation.end()
    }

    @Test(arguments: [true, false])
    func `what writes waits for the thread that writes, and not once it is cancelled`(isRemoval: Bool) async throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let token = try fixture.currentRefreshToken()
        let before = try fixture.export()
        let connections = fixture.store.connections
        let occupation = try await OccupiedQueue(isRemoval ? connections.removing : connections.writing)
        for (count, form) in (isRemoval ? Self.removals : Self.writes).enumerated() {
            let task = Task { try await form.call(fixture.store, token) }
            #expect(await occupation.hasWaiting(count + 1), "\(form.testDescription)")
            task.cancel()
            await #expect(throws: CancellationError.self, "\(form.testDescription)") { try await task.value }
        }
        occupation.end()
        try await fixture.store.perform { _ in }
        #expect(try fixture.export() == before)
    }

    /// A form that works on files, with the lock for which it waits.
    typealias FileWork = Form<@Sendable (StorePath, StoreOptions) async throws -> Void>

    static let fileWork: [FileWork] = [
        FileWork("open") { path, options in
            _ = try await TokenStore.open(at: StorePath(path.directory + "/new.db"), options: options)
        },
        FileWork("repair") { path, options in _ = try await TokenStore.repair(at: path, options: options) },
        FileWork("purgeAll") { path, options in _ = try await TokenStore.purgeAll(at: path, options: options) },
        FileWork("removeCopies") { path, options in
            let removed = try await TokenStore.removeCopies(at: path, options: options).removed
            #expect(removed.count == 1)
        },
    ]

    @Test(arguments: fileWork)
    func `what waits for another process leaves the thread of its task to others`(form: FileWork) async throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let (path, options) = (fixture.path, fixture.options)
        _ = try await TokenStore.repair(at: path, options: options)
        let locks = LockedValue<[KernelLock]>([])
        for place in [path, StorePath(path.directory + "/new.db")] {
            for range in [KernelLock.Range.schema, .pendingAnswers] {
                let lock = try KernelLock(range, of: place, timeout: .zero)
                locks.withLock { $0.append(lock) }
            }
        }
        let executor = OwnThread()
        let waiting = Task(executorPreference: executor) { try await form.call(path, options) }
        let other = Task(executorPreference: executor) { locks.withLock { $0 = [] } }
        await other.value
        try await waiting.value
    }

    @Test(arguments: fileWork)
    func `what works on files is not done after its task was cancelled`(form: FileWork) async throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let (path, options) = (fixture.path, fixture.options)
        let before = try FileManager.default.contentsOfDirectory(atPath: path.directory).sorted()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await form.call(path, options)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path.directory).sorted() == before)
        await #expect(try TokenStore.open(at: path, options: options).accounts().count == 1)
    }

    /// Records, where it is called, whether that is in a task.
    private final class Caller: Sendable {
        private let calls = LockedValue<[Bool]>([])

        var isNeverATask: Bool { calls.withLock { !$0.isEmpty && !$0.contains(true) } }

        func note() {
            let isTask = withUnsafeCurrentTask { $0 != nil }
            calls.withLock { $0.append(isTask) }
        }
    }

    typealias CallingBack = Form<
        @Sendable (StorePath, StoreOptions, @escaping @Sendable () -> Void) async throws -> Void
    >

    static let callingBack: [CallingBack] = [
        CallingBack("open") { path, options, note in
            _ = try await TokenStore.open(at: path, options: asking(options, note))
        },
        CallingBack("inspect") { path, options, note in
            _ = try await TokenStore.inspect(at: path, options: asking(options, note))
        },
        CallingBack("repair") { path, options, note in
            _ = try await TokenStore.repair(at: path, options: asking(options, note))
        },
        CallingBack("changeTags") { path, options, note in
            let store = try await TokenStore.open(at: path, options: options)
            try await store.changeTags(of: Fixture.account) { _ in note() }
        },
        CallingBack("forEachAccount") { path, options, note in
            try await TokenStore.inspect(at: path, options: options)?.forEachAccount { _ in note() }
        },
        CallingBack("exportMSALCache") { path, options, note in
            try await TokenStore.inspect(at: path, options: options)?.exportMSALCache { _ in note() }
        },
    ]

    private static func asking(_ options: StoreOptions, _ note: @escaping @Sendable () -> Void) -> StoreOptions {
        var options = options
        options.askPassphrase = { _ in
            note()
            return Secret("correct horse battery staple")
        }
        return options
    }

    @Test(arguments: callingBack)
    func `what a form calls back is not called on the thread of a task`(form: CallingBack) async throws {
        let fixture = try TestStore {
            $0.keySource = .passphrase
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
            $0.askPassphrase = { _ in Secret("correct horse battery staple") }
        }
        try fixture.signIn(.signIn())
        #expect(fixture.store.close())
        let caller = Caller()
        try await form.call(fixture.path, fixture.options) { caller.note() }
        #expect(caller.isNeverATask)
    }

    typealias Piecewise = Form<@Sendable (TokenStore, @escaping @Sendable () -> Void) async throws -> Void>

    static let piecewise: [Piecewise] = [
        Piecewise("forEachAccount") { store, note in try await store.forEachAccount { _ in note() } },
        Piecewise("exportMSALCache") { store, note in try await store.exportMSALCache { _ in note() } },
    ]

    @Test(arguments: piecewise)
    func `what comes in pieces ends when its task is cancelled`(form: Piecewise) async throws {
        let accounts = (0..<400).map { JSONValue.account(["home_account_id": .string("u\($0).t1")]) }
        let fixture = try TestStore(.cache(accounts: accounts))
        let pieces = LockedValue(0)
        let gate = DispatchSemaphore(value: 0)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await form.call(fixture.store) {
                pieces.withLock { $0 += 1 }
                continuation.yield()
                gate.wait()
            }
        }
        await begun.first { _ in true }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(pieces.withLock(\.self) == 1)
    }
}
