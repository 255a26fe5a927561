import Database
import OAuth
import SQLite
import Synchronization

/// The commits of this process to a file, by their numbers in its log.
///
/// Of what others commit the record of use has to tell all; of its own commits a process knows that an entry is missing
/// because there was nothing to enter.
final class OwnCommits: Sendable {
    private struct State {
        var isWanted = false

        /// How many entries of the record of use each commit made, until that is asked for.
        var entries: [UInt32: Int] = [:]
    }

    private let state = LockedValue(State())

    /// More commits than these between two looks are not told apart.
    static let longestLook = 1_000

    /// Begins or ends the noting; a store that is only written has no watcher that needs it.
    var isWanted: Bool {
        get { state.withLock { $0.isWanted } }
        set { state.withLock { $0 = State(isWanted: newValue) } }
    }

    /// Notes a commit that is about to be made, so that no watcher sees it before it is known.
    func note(_ number: UInt32, entries: Int) {
        state.withLock { state in
            if state.entries.count >= Self.longestLook { state.entries = [:] }
            state.entries[number] = entries
        }
    }

    /// A commit was not made after all.
    func withdraw(_ number: UInt32) { state.withLock { $0.entries[number] = nil } }

    func removeAll() { state.withLock { $0.entries = [:] } }

    /// How many commits of these numbers were this process's, and how many entries those made.
    func take(_ numbers: some Sequence<UInt32>) -> (commits: Int, entries: Int) {
        state.withLock { state in
            let entries = numbers.compactMap { state.entries.removeValue(forKey: $0) }
            return (entries.count, entries.reduce(0, +))
        }
    }
}

extension StoreConnection {
    /// Runs `body` in a write transaction on the file, whose commit is noted for those who notice commits.
    func writeOnFile<Result>(_ body: () throws -> Result) throws -> Result {
        guard let ownCommits, ownCommits.isWanted, !connection.isInTransaction else {
            return try connection.write(body)
        }
        var noted: UInt32?
        do {
            return try connection.write {
                let (before, entriesBefore) = (connection.sqlite.totalChanges, entryCount)
                let result = try body()
                // Nothing is committed where nothing was changed. Until the end no other process can commit.
                if connection.sqlite.totalChanges != before, let header = try LogHeader(of: connection.sqlite) {
                    let number = header.words.commitCount &+ 1
                    ownCommits.note(number, entries: entryCount - entriesBefore)
                    noted = number
                }
                return result
            }
        } catch {
            if let noted { ownCommits.withdraw(noted) }
            throw error
        }
    }
}
