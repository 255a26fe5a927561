import Database
import Dispatch
import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A second connection that reads a file at the same moment as the first one, on a thread of its own: what takes long
/// uses two cores.
///
/// What it does not read, or cannot, the first one reads.
final class SecondReader: Sendable {
    /// `@unchecked Sendable`: the thread alone uses the session, from when it takes it to when it has ended.
    private struct Lent: @unchecked Sendable {
        let session: StoreConnection
    }

    private struct State {
        /// Until the thread takes it.
        var lent: Lent?
        var work: [any SharedWork] = []
        var isOver = false
        var hasFailed = false
    }

    private let state: LockedValue<State>
    private let news = DispatchSemaphore(value: 0)
    private let end = DispatchSemaphore(value: 0)

    /// Begins with a session in a transaction, which is the thread's alone until ``finish()`` has returned.
    fileprivate init(_ session: StoreConnection) {
        state = LockedValue(State(lent: Lent(session: session)))
        DispatchQueue(label: "tokenstore.second").async {
            if self.helpUntilOver() { self.end.signal() }
        }
    }

    /// Has it help with `work`.
    func help(with work: any SharedWork) {
        state.withLock { $0.work.append(work) }
        news.signal()
    }

    /// Says that nothing of `work` is left.
    func forget(_ work: any SharedWork) { state.withLock { $0.work.removeAll { $0 === work } } }

    /// Waits until it has let go of its session.
    ///
    /// - Returns: whether it read without an error.
    fileprivate func finish() -> Bool {
        let isAtWork = state.withLock { state in
            state.isOver = true
            defer { state.lent = nil }
            return state.lent == nil
        }
        if isAtWork {
            news.signal()
            end.wait()
        }
        return state.withLock { !$0.hasFailed }
    }

    /// - Returns: false where all was over before it could begin.
    private func helpUntilOver() -> Bool {
        let lent = state.withLock { state in
            defer { state.lent = nil }
            return state.lent
        }
        guard let lent else { return false }
        while !state.withLock(\.isOver) {
            news.wait()
            do {
                while let work = next() { if try !work.advance(by: lent.session) { forget(work) } }
            } catch {
                // Its transaction may be over; the first reader meets the error itself, or none.
                state.withLock { ($0.isOver, $0.hasFailed) = (true, true) }
            }
        }
        return true
    }

    private func next() -> (any SharedWork)? { state.withLock { $0.isOver ? nil : $0.work.first } }
}

/// Work that both readers do, piece by piece.
protocol SharedWork: AnyObject, Sendable {
    /// Does the next piece of it.
    ///
    /// - Returns: false if none is left.
    func advance(by session: StoreConnection) throws -> Bool
}

/// Work in one piece, for the second reader where there is one.
final class SharedTask<Found: Sendable>: SharedWork {
    private enum State {
        case waiting
        case underWay
        case found(Found?)
    }

    private let read: @Sendable (StoreConnection) throws -> Found
    private let state = LockedValue(State.waiting)
    private let end = DispatchSemaphore(value: 0)

    init(_ read: @escaping @Sendable (StoreConnection) throws -> Found) { self.read = read }

    func advance(by session: StoreConnection) throws -> Bool {
        guard take() else { return false }
        var found: Found?
        defer {
            state.withLock { $0 = .found(found) }
            end.signal()
        }
        found = try session.inOneTransaction { try read(session) }
        return true
    }

    /// What was found, by `session` itself where the second reader is not at it or could not do it.
    func result(by session: StoreConnection) throws -> Found {
        if take() { return try read(session) }
        end.wait()
        guard case .found(let found?) = state.withLock(\.self) else { return try read(session) }
        return found
    }

    private func take() -> Bool {
        state.withLock { state in
            guard case .waiting = state else { return false }
            state = .underWay
            return true
        }
    }
}

/// SQLite ended a transaction by itself, as it does where memory or the disk fails; what is read after it is of another
/// moment.
private struct EndedTransaction: Error {}

/// What tells whether something was committed to a file between two looks, within the second of which it is read.
///
/// Where no writer has the file open, an inspection cannot trust the index of the log. While the log is empty as
/// well, SQLite then counts a version for each transaction. But who reads a file with an empty log, and with locks, keeps
/// others from moving what they commit out of the log, so that a log which is empty still shows that they did not. What
/// is read without locks is looked at when the reading ends.
private struct CommitMark {
    private let version: Int64
    private let isLogEmpty: Bool

    init(of session: StoreConnection) throws {
        version = try session.connection.dataVersion()
        isLogEmpty = FileStatus(session.path.log)?.size == 0
    }

    func isSameMoment(as earlier: CommitMark) -> Bool {
        version == earlier.version || isLogEmpty && earlier.isLogEmpty
    }
}

extension StoreConnection {
    /// What `body` read, all of it in the transaction that is open.
    func inOneTransaction<Read>(_ body: () throws -> Read) throws -> Read {
        let read = try body()
        guard connection.isInTransaction else { throw EndedTransaction() }
        return read
    }

    /// Reads one moment, with a second reader where that is worth it.
    func readLong<Result>(
        _ isLong: Bool = true,
        of connections: StoreConnections,
        _ body: () throws -> Result
    ) throws -> Result {
        guard isLong, mayHaveSecondReader else { return try connection.read(body) }
        return try connections.withSecond(to: self) { other, isFit in
            // While others commit again and again it is read alone.
            for _ in 1...3 where isFit {
                if let other, let result = try readTogether(with: other, &isFit, body) { return result }
            }
            return try connection.read(body)
        }
    }

    /// - Returns: nil where the two would not read the same moment, so that nothing was read.
    private func readTogether<Result>(
        with other: StoreConnection,
        _ isFit: inout Bool,
        _ body: () throws -> Result
    ) throws -> Result? {
        isFit = false
        let before = try CommitMark(of: self)
        var outcome: Swift.Result<Result?, any Error>?
        do {
            isFit = try other.connection.read {
                guard try other.readsAlso(what: self) else { return false }
                var isSound = true
                outcome = Swift.Result {
                    try connection.read {
                        // The other has begun between the two looks. Where nothing was committed between them, it reads
                        // the moment that this one reads.
                        guard try CommitMark(of: self).isSameMoment(as: before) else { return nil }
                        let reader = SecondReader(other)
                        second = reader
                        defer {
                            second = nil
                            isSound = reader.finish()
                        }
                        return try body()
                    }
                }
                return isSound
            }
        } catch {
            // Of the other connection alone, which is not used again.
        }
        return try outcome?.get() ?? nil
    }

    /// Whether it has the same file, and all keys for it; its first look.
    private func readsAlso(what first: StoreConnection) throws -> Bool {
        guard file == first.file, header.storeID == first.header.storeID, let ring = first.keyRing else { return false }
        // One without locks keeps what it has read, and knows of nothing that was written since it was opened.
        guard mode == first.mode, beside == first.beside else { return false }
        guard !connection.hasMoved, !first.connection.hasMoved else { return false }
        keyRing = ring
        return try Set(connection.dataKeyIDs()) == ring.ids
    }

    /// The highest id stands for how many there are.
    private var mayHaveSecondReader: Bool {
        guard !connection.isServer, !connection.isInTransaction, file != nil, keyRing != nil else { return false }
        let newest = (try? newestAccountRow()) ?? 0
        if let wanted = options.accountsForTwoReaders { return newest >= wanted }
        return newest >= 4_096 && ProcessInfo.processInfo.activeProcessorCount > 1
    }
}
