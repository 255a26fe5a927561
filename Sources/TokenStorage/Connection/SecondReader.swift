import Database
import Dispatch
import OAuth

/// A second connection that reads a file at the same moment as the first one, on a thread of its own: what takes long
/// uses two cores.
///
/// Whatever it does not read, or cannot, the first one reads.
final class SecondReader: Sendable {
    private struct State {
        var work: [any SharedWork] = []
        var isOver = false
    }

    private let state = LockedValue(State())
    private let news = DispatchSemaphore(value: 0)
    private let end = DispatchSemaphore(value: 0)

    /// Has it help with `work`.
    func help(with work: any SharedWork) {
        state.withLock { $0.work.append(work) }
        news.signal()
    }

    /// Waits until its connection is free again.
    fileprivate func finish() {
        state.withLock { $0.isOver = true }
        news.signal()
        end.wait()
    }

    /// Begins to read the file that `first` has open.
    ///
    /// - Returns: nil where it cannot at once.
    fileprivate static func begin(beside first: StoreConnection, of connections: StoreConnections) -> SecondReader? {
        let (reader, start) = (SecondReader(), DispatchSemaphore(value: 0))
        let (file, store) = (first.file, first.header.storeID)
        let hasBegun = LockedValue(false)
        DispatchQueue(label: "tokenstore.second").async {
            // Nothing depends on an error of it.
            try? connections.read(isTold: true) { session in
                guard session.file == file, session.header.storeID == store, session.keyRing != nil else { return }
                try session.connection.read {
                    // The first look at a table is the moment that is read from then on.
                    _ = try session.newestAccountRow()
                    hasBegun.withLock { $0 = true }
                    start.signal()
                    reader.work(by: session)
                }
            }
            start.signal()
            reader.end.signal()
        }
        _ = start.wait(timeout: .now() + .milliseconds(100))
        if hasBegun.withLock(\.self) { return reader }
        reader.state.withLock { $0.isOver = true }
        reader.news.signal()
        return nil
    }

    private func work(by session: StoreConnection) {
        while true {
            news.wait()
            while let work = next() {
                if !work.advance(by: session) { state.withLock { $0.work.removeAll { $0 === work } } }
            }
            if state.withLock(\.isOver) { return }
        }
    }

    private func next() -> (any SharedWork)? { state.withLock { $0.isOver ? nil : $0.work.first } }
}

/// Work whose pieces are done by whoever is free.
protocol SharedWork: AnyObject, Sendable {
    /// Does the next piece of it.
    ///
    /// - Returns: false if none is left.
    func advance(by session: StoreConnection) -> Bool
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

    func advance(by session: StoreConnection) -> Bool {
        guard take() else { return false }
        // What it cannot do the first reader does again, and says why it cannot.
        let found = try? read(session)
        state.withLock { $0 = .found(found) }
        end.signal()
        return true
    }

    /// What was found, by `session` itself where the second reader is not at it.
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

extension StoreConnection {
    /// Reads one moment, with a second reader where that is worth it.
    func readLong<Result>(of connections: StoreConnections, _ body: () throws -> Result) throws -> Result {
        guard try mayHaveSecondReader() else { return try connection.read(body) }
        for _ in 1...3 {
            let version = try connection.dataVersion()
            guard let reader = SecondReader.begin(beside: self, of: connections) else { break }
            defer { reader.finish() }
            let result: Result? = try connection.read {
                // The second reader has begun between the two looks. Where nothing was committed between them, it reads
                // the moment that this one reads.
                guard try connection.dataVersion() == version else { return nil }
                second = reader
                defer { second = nil }
                return try body()
            }
            if let result { return result }
        }
        return try connection.read(body)
    }

    private func mayHaveSecondReader() throws -> Bool {
        guard !connection.isServer, !connection.isInTransaction, second == nil, file != nil, keyRing != nil else {
            return false
        }
        return try newestAccountRow() ?? 0 >= options.accountsForTwoReaders
    }
}
