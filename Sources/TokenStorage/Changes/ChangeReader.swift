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
        // What keeps the caller from reading, as a server that is away, or its own write where the file was replaced,
        // is met here: the thread that reads for all would wait for it.
        try store.read { _ in }
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
        while isWanted(endingUnlessSo: true) {
            var pause: Duration? = .seconds(1)
            do {
                let areNew = try look(from: &cursor, naming: &accounts, store, signal)
                if areNew { quietLooks = 0 }
                pause = cursor?.pause(after: quietLooks)
            } catch let error as TokenStoreError where [.busy, .unreachable].contains(error.code) {
                // What is committed meanwhile is told once the store can be read again.
            } catch {
                // A store that cannot be read any more has no changes to tell; reading it again says why.
                finish()
                (cursor, accounts) = (nil, MarkedAccounts())
            }
            quietLooks = signal.wait(isWanted() ? pause : .zero) ? 0 : quietLooks + 1
        }
    }

    /// Tells what has come since the last look, and begins the subscriptions that were asked for before this one.
    ///
    /// - Returns: whether there were entries.
    private func look<Cursor: RecordCursor>(
        from cursor: inout Cursor?,
        naming accounts: inout MarkedAccounts,
        _ store: TokenStore,
        _ signal: any ChangeSignal
    ) throws -> Bool {
        let newcomers = watchedNewcomers(by: signal)
        do {
            let (news, known) = try store.read { session in
                try session.connection.read { () -> (Cursor.News, [[UInt8]: Account.ID]?) in
                    let news: Cursor.News = try cursor?.news(session) ?? ([], false, Cursor(behindAllOf: session))
                    let isToLearn = !newcomers.isEmpty && accounts.mayLack(after: news.events, areMany: news.areMany)
                    return (news, isToLearn ? try session.accountsByMark() : nil)
                }
            }
            tell(accounts.changes(news.events, areMany: news.areMany))
            if let known { accounts.learn(known) }
            cursor = news.cursor
            admit(newcomers, before: news.cursor.waiting)
            return !news.events.isEmpty
        } catch {
            for newcomer in newcomers { newcomer.refuse(error) }
            throw error
        }
    }

    /// Those who want to subscribe, once commits wake the thread; where these cannot, only they are refused, and who
    /// subscribes already is told what the look finds.
    private func watchedNewcomers(by signal: any ChangeSignal) -> [Newcomer] {
        let newcomers = state.withLock { state in
            defer { state.newcomers = [] }
            return state.newcomers
        }
        guard !newcomers.isEmpty else { return [] }
        do {
            try signal.watch()
            return newcomers
        } catch {
            for newcomer in newcomers { newcomer.refuse(error) }
            return []
        }
    }

    /// Whether anybody subscribes, or wants to; where nobody does, the next one begins another thread.
    private func isWanted(endingUnlessSo: Bool = false) -> Bool {
        state.withLock { state in
            let isWanted = !state.subscribers.isEmpty || !state.newcomers.isEmpty
            if endingUnlessSo, !isWanted { state.signal = nil }
            return isWanted
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
