import OAuth
import SQLite

extension TokenStore {
    /// What commits of this process and of others change from now on.
    ///
    /// Waiting costs nothing: the file system wakes it up. A subscriber too slow for the record of use, which keeps
    /// the last few thousand entries, is told ``StoreChange/many``. The sequence ends when its task is cancelled or
    /// the store can no longer be read.
    public func changes() throws -> AsyncStream<StoreChange> {
        let watch = try StoreWatch(path)
        let (start, accounts) = try read { session in
            try session.connection.read { (try session.lastEvent(), try session.accountsByMark()) }
        }
        let (stream, continuation) = AsyncStream.makeStream(of: StoreChange.self)
        continuation.onTermination = { _ in watch.stop() }
        watch.start { [self] in report(from: start, about: accounts, to: continuation, waitingWith: watch) }
        return stream
    }

    /// Runs on the watch's thread until it is stopped.
    private func report(
        from start: Int64,
        about known: [[UInt8]: Account.ID],
        to continuation: AsyncStream<StoreChange>.Continuation,
        waitingWith watch: StoreWatch
    ) {
        var last = start
        // An account that is gone is in the record by its mark alone.
        var known = known
        var quietLooks = 0
        while true {
            // A store that cannot be read any more has no changes to tell; reading it again says why.
            guard let events = try? read({ try $0.events(after: last) }) else { break }
            if let first = events.first, first.id > last + 1 { continuation.yield(.many) }
            for event in events {
                if let mark = event.accountMark, let account = event.account, known.count < StoreEvent.limit * 2 {
                    known[mark] = account
                }
                continuation.yield(StoreChange(event, about: event.account ?? event.accountMark.flatMap { known[$0] }))
            }
            last = events.last?.id ?? last
            let wake = watch.wait(quietLooks < Self.looks.count ? Self.looks[quietLooks] : -1)
            if wake == .stopped { break }
            quietLooks = wake == .quiet ? quietLooks + 1 : 0
        }
        continuation.finish()
    }

    /// After how many milliseconds to look again for a commit whose process was killed before it could announce it.
    private static let looks: [Int32] = [20, 200, 2_000]
}
