import Database
import Dispatch
import OAuth
import Sealing
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads what is committed to a store, on one thread for all who subscribe to its changes.
///
/// The thread is there as long as somebody subscribes. A subscription begins with a look of that thread: who was there
/// before is told what it finds, and the new subscriber what comes behind it.
final class ChangeReader: Sendable {
    private struct State {
        /// What the thread waits for; nil while there is no thread.
        var signal: (any ChangeSignal)?
        var newcomers: [Newcomer] = []
        var subscribers: [Int: ChangeTeller] = [:]
        var lastNumber = 0
    }

    private let state = LockedValue(State())

    /// What the thread waits for; nil while nobody subscribes.
    var signal: (any ChangeSignal)? { state.withLock(\.signal) }

    func subscribe(to store: TokenStore, about account: Account.ID?) throws -> AsyncStream<StoreChange> {
        let (stream, teller) = ChangeTeller.stream(only: account)
        let newcomer = Newcomer(teller)
        try state.withLock { state in
            if state.signal == nil {
                state.signal = try start(store)
            } else if state.newcomers.isEmpty {
                state.signal?.wake()
            }
            state.newcomers.append(newcomer)
        }
        try newcomer.waitForAdmission()
        return stream
    }

    /// The thread waits for the lock, which the first subscriber holds until it is among the newcomers.
    private func start(_ store: TokenStore) throws -> any ChangeSignal {
        let signal: any ChangeSignal
        let isStarted: Bool
        if let path = store.location.path {
            let observer = try CommitObserver(path)
            isStarted = DetachedThread.start { [self] in run(store, FileCursor.self, observer) }
            signal = observer
        } else {
            let wakes = ServerSignal(store.connections)
            isStarted = DetachedThread.start { [self] in run(store, EventCursor.self, wakes) }
            signal = wakes
        }
        guard isStarted else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw TokenStoreError.storage(
                "no thread can be started that waits for changes, \(reason)",
                Remedy(.retry, "allow this program more threads, and try again")
            ).at(store.location)
        }
        return signal
    }

    private func run<Cursor: RecordCursor>(_ store: TokenStore, _: Cursor.Type, _ signal: any ChangeSignal) {
        var (cursor, accounts, quietLooks) = (Cursor?.none, MarkedAccounts(), 0)
        while let newcomers = takeNewcomers() {
            var pause: Duration? = .seconds(1)
            do {
                if !newcomers.isEmpty { try signal.watch() }
                let (news, known) = try store.read { session in
                    try session.connection.read { () -> (Cursor.News, [[UInt8]: Account.ID]?) in
                        let news = try cursor?.news(session) ?? ([], false, Cursor(behindAllOf: session))
                        let isToLearn = accounts.mayLack && !newcomers.isEmpty
                        return (news, isToLearn ? try session.accountsByMark() : nil)
                    }
                }
                tell(accounts.changes(news.events, areMany: news.areMany))
                if let known { accounts.learn(known) }
                admit(newcomers, before: news.cursor.waiting)
                cursor = news.cursor
                if !news.events.isEmpty { quietLooks = 0 }
                pause = news.cursor.pause(after: quietLooks)
            } catch let error as TokenStoreError where [.busy, .unreachable].contains(error.code) {
                // What is committed meanwhile is told once the store can be read again.
                for newcomer in newcomers { newcomer.refuse(error) }
            } catch {
                // A store that cannot be read any more has no changes to tell; reading it again says why.
                for newcomer in newcomers { newcomer.refuse(error) }
                finish()
                cursor = nil
            }
            let isWanted = state.withLock { !$0.subscribers.isEmpty }
            quietLooks = signal.wait(isWanted ? pause : .zero) ? 0 : quietLooks + 1
        }
        signal.end()
    }

    /// Those who want to subscribe; nil if nobody does or has, and then the thread ends.
    private func takeNewcomers() -> [Newcomer]? {
        state.withLock { state in
            guard !state.subscribers.isEmpty || !state.newcomers.isEmpty else {
                state.signal = nil
                return nil
            }
            defer { state.newcomers = [] }
            return state.newcomers
        }
    }

    /// Nobody's code runs while the lock is held: a subscriber may leave at any time, also by what it is told.
    private func tell(_ changes: [ChangeTeller.Change]) {
        guard !changes.isEmpty else { return }
        for teller in state.withLock({ $0.subscribers }).values { teller.tell(changes) }
    }

    private func admit(_ newcomers: [Newcomer], before: Set<Int64>) {
        for newcomer in newcomers {
            var teller = newcomer.teller
            teller.before = before
            state.withLock { [teller] state in
                state.lastNumber += 1
                state.subscribers[state.lastNumber] = teller
                teller.onEnd { [self, number = state.lastNumber] in leave(number) }
            }
            newcomer.admit()
        }
    }

    private func leave(_ number: Int) {
        state.withLock { state in
            guard state.subscribers.removeValue(forKey: number) != nil, state.subscribers.isEmpty else { return }
            state.signal?.wake()
        }
    }

    private func finish() {
        let subscribers = state.withLock { state in
            defer { state.subscribers = [:] }
            return state.subscribers
        }
        for teller in subscribers.values { teller.finish() }
    }
}

/// Somebody who wants to subscribe, and waits for the next look.
private final class Newcomer: Sendable {
    let teller: ChangeTeller
    private let failure = LockedValue<(any Error)?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ teller: ChangeTeller) { self.teller = teller }

    func admit() { semaphore.signal() }

    func refuse(_ error: any Error) {
        failure.withLock { $0 = error }
        semaphore.signal()
    }

    func waitForAdmission() throws {
        semaphore.wait()
        if let error = failure.withLock(\.self) { throw error }
    }
}

/// Wakes the thread that reads changes.
protocol ChangeSignal: AnyObject, Sendable {
    /// Has commits wake the thread from now on; before each look by which somebody subscribes.
    func watch() throws

    /// Waits until there may be something new, for no longer than `limit`.
    ///
    /// - Returns: whether the thread was woken.
    func wait(_ limit: Duration?) -> Bool

    func wake()

    /// Has commits wake the thread no more.
    func end()
}

/// Up to where the record of use was read.
protocol RecordCursor: Sendable {
    /// Entries in the order of their commits, or that they are too many or not known, and the next place.
    typealias News = (events: [StoreEvent], areMany: Bool, cursor: Self)

    /// The place behind everything that is there now.
    init(behindAllOf session: StoreConnection) throws

    /// The entries behind the place that have come to count.
    func news(_ session: StoreConnection) throws -> News

    /// Entries that are there, and count later.
    var waiting: Set<Int64> { get }

    /// When to look again though nothing was heard, after some looks that found nothing; nil: not at all.
    func pause(after quietLooks: Int) -> Duration?
}

/// The accounts that the record of use is about: one that is gone is in it by its mark alone.
private struct MarkedAccounts {
    private var known: [[UInt8]: Account.ID] = [:]

    /// Whether there may be accounts in the store that are not known.
    private(set) var mayLack = true

    private static let limit = 2 * Int(StoreEvent.limit)

    /// What entries say; `areMany`: entries before them are not known.
    mutating func changes(_ events: [StoreEvent], areMany: Bool) -> [ChangeTeller.Change] {
        var changes: [ChangeTeller.Change] = areMany ? [(nil, .many)] : []
        for event in events {
            if let mark = event.accountMark, let account = event.account, known.count < Self.limit {
                known[mark] = account
            }
            let account = event.account ?? event.accountMark.flatMap { known[$0] }
            changes.append((event.id, StoreChange(event, about: account)))
        }
        if known.count >= Self.limit || changes.contains(where: { $0.what == .many }) { mayLack = true }
        return changes
    }

    mutating func learn(_ accounts: [[UInt8]: Account.ID]) {
        known.merge(accounts) { _, new in new }
        if known.count >= Self.limit { known = accounts }
        // Without a key of marks none is known, and it comes with the next entry about an account.
        mayLack = accounts.isEmpty
    }
}

/// Tells a subscriber what changes.
struct ChangeTeller: Sendable {
    /// What the entry of a number says; without one: what entries said that are not known.
    typealias Change = (entry: Int64?, what: StoreChange)

    private let continuation: AsyncStream<StoreChange>.Continuation

    /// The account that the subscriber asks about; nil: all.
    private let account: Account.ID?

    /// Entries that were there when the subscription began, and come to count later.
    var before: Set<Int64> = []

    /// How many changes may wait for a subscriber.
    private static let limit = 1_000

    /// What a subscriber reads, which keeps the newest changes, and who tells them.
    static func stream(only account: Account.ID? = nil) -> (AsyncStream<StoreChange>, ChangeTeller) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreChange.self,
            bufferingPolicy: .bufferingNewest(limit)
        )
        return (stream, ChangeTeller(continuation: continuation, account: account))
    }

    private init(continuation: AsyncStream<StoreChange>.Continuation, account: Account.ID?) {
        (self.continuation, self.account) = (continuation, account)
    }

    func onEnd(_ body: @escaping @Sendable () -> Void) { continuation.onTermination = { _ in body() } }

    func tell(_ changes: [Change]) {
        for change in changes {
            if let entry = change.entry, before.contains(entry) { continue }
            tell(change.what)
        }
    }

    func tell(_ change: StoreChange) {
        if let account, !change.concerns(account) { return }
        // The oldest one gave way, and what it said is said by one that comes later.
        if case .dropped = continuation.yield(change) { continuation.yield(.many) }
    }

    func finish() { continuation.finish() }
}
