import OAuth

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

/// The accounts that the record of use is about: one that is gone is in it by its mark alone.
struct MarkedAccounts {
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

    /// Whether there may be such accounts after entries that are yet to be told.
    func mayLack(after events: [StoreEvent], areMany: Bool) -> Bool {
        mayLack || areMany || events.contains { StoreChange($0, about: $0.account) == .many }
    }

    mutating func learn(_ accounts: [[UInt8]: Account.ID]) {
        known.merge(accounts) { _, new in new }
        if known.count >= Self.limit { known = accounts }
        // Without a key of marks none is known, and it comes with the next entry about an account.
        mayLack = accounts.isEmpty
    }
}
