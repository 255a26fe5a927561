import Database
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Whether the bytes of what was deleted are gone from every file.
public enum Erasure: Equatable, Sendable {
    case complete
    /// The rows are deleted; old pages, sealed, stay in the files for this reason.
    case unfinished(TokenStoreError)
}

extension StoreConnection {
    /// Erases what was deleted from every file, as far as other processes let it within the limit.
    ///
    /// Single rows are overwritten as they are deleted, and only the log holds them still. A purge of everything leaves
    /// them in free pages, with an entry in the record of use that says so until the pages are given back: whoever
    /// opens or purges the store next finishes what a killed process, or a full disk, left undone.
    ///
    /// Who writes waits for that no longer than a second at a time; `limit`: how long those who read the log may keep
    /// it.
    func erasure(within limit: Duration) throws -> Erasure {
        removeDrafts(\.unfinished, \.salvage)
        do {
            if try isErasureUnfinished() { try giveBackPages() }
        } catch let error as SQLiteError {
            return .unfinished(unfinished(error))
        }
        return try erasureOfLog(within: limit)
    }

    /// Goes on with an erasure where nothing but the log was left; `patience`: how long the first try may take.
    func erasureOfLog(within limit: Duration, patience: Duration = shortestTry) throws -> Erasure {
        let erasure = try emptiedLog(within: limit, patience)
        guard try erasure == .complete && isErasureUnfinished() else { return erasure }
        do {
            try deleteErasure()
        } catch let error as SQLiteError {
            return .unfinished(unfinished(error))
        }
        return .complete
    }

    /// Goes on with an erasure that was interrupted; where it cannot be finished now, the next opening tries again.
    func resumeErasure() throws {
        guard try isErasureUnfinished() else { return }
        // A command that has something else to do does not wait long for another process that reads.
        let limit = min(connection.busyTimeout, .milliseconds(200))
        // Where it is unfinished again, the entry that says so stays.
        _ = try connection.withBusyTimeout(limit) { try erasure(within: limit) }
    }

    /// Removes the whole copies that a restore, a repair or a backup has left that was killed, unless one is at work:
    /// those under `names`, and backups that are not finished.
    func removeDrafts(_ names: KeyPath<StorePath, String>...) {
        guard let path = location.path else { return }
        BackupDraft.removeAbandoned(in: path.directory)
        let drafts = names.map { path[keyPath: $0] }.filter { !FileStatus.isAbsent($0) }
        guard !drafts.isEmpty, let lock = try? KernelLock(of: path), (try? lock.tryLock(.schema, of: path)) ?? false
        else { return }
        // What does not show that it is ours stays.
        for draft in drafts { try? StoreFiles(path, source: options.keySource).removeDraft(draft) }
        withExtendedLifetime(lock) {}
    }

    private func giveBackPages() throws {
        do {
            try connection.vacuum()
        } catch let error as SQLiteError where error.code.primary == .diskFull {
            // The pages that are written anew may find room where the log was.
            guard try connection.checkpointTruncating() else { throw error }
            try connection.vacuum()
        }
    }

    private func unfinished(_ error: SQLiteError) -> TokenStoreError {
        let rest = "everything is deleted, but free pages of \(location) still hold old rows sealed"
        let remedy = Remedy(.purge, "purge expired access tokens when that process has ended: that erases them too")
        let space = Remedy(.freeSpace, "free some space, and the next program that writes to the store erases them")
        return switch error.code.primary {
        case .busy, .locked: .busy("\(rest), as another process uses it", remedy)
        case .diskFull: .storage("\(rest), as the disk is full", space)
        default: .storage("\(rest) (\(error.message))", remedy)
        }
    }

    /// Removes what a rekey has to leave in no file besides the database: the log, which holds old pages, and drafts of
    /// the whole store, which open with the old keys.
    ///
    /// What a killed repair was reading is among the copies, about which a person is asked.
    func removeOldPages() throws {
        removeDrafts(\.unfinished)
        if case .unfinished(let error) = try emptiedLog(within: connection.busyTimeout) { throw error }
    }

    /// How long the first try to empty the log takes.
    static let shortestTry = Duration.milliseconds(10)

    /// The next try outlasts readers that this one did not; what is between two tries is for those who write.
    static func longerTry(than patience: Duration) -> Duration { min(patience * 2, .seconds(1)) }

    /// Empties the log as soon as others let it, or gives up after `limit`.
    private func emptiedLog(within limit: Duration, _ patience: Duration = shortestTry) throws -> Erasure {
        // The copies of deleted rows in a server's log and backups cannot be erased from here.
        guard let path = location.path else { return .complete }
        let end = ContinuousClock.now + limit
        var patience = patience
        do {
            while try !connection.triesToEmptyLog(for: patience) {
                guard ContinuousClock.now < end else { return .unfinished(.logIsRead(at: path)) }
                Pauses.wait(patience * Double.random(in: 0.5...1))
                patience = Self.longerTry(than: patience)
            }
        } catch let error as SQLiteError {
            return .unfinished(
                .storage(
                    "the change is made, but the files of \(path.database) hold the old rows sealed, as its log could "
                        + "not be emptied (\(error.message))",
                    Remedy(.retry, "check the disk, and purge expired access tokens: that empties it too")
                )
            )
        }
        return .complete
    }
}

extension Connection {
    /// Empties the log; false if it is still being read.
    ///
    /// SQLite keeps every writer out for as long as it waits for readers, so it waits for a time only.
    fileprivate func triesToEmptyLog(for patience: Duration) throws -> Bool {
        try withBusyTimeout(min(busyTimeout, patience)) { try checkpointTruncating() }
    }
}

extension TokenStoreError {
    /// What was deleted is in the log, or still in the database where the log has the page without it; the log cannot
    /// be emptied yet.
    static func logIsRead(at path: StorePath) -> TokenStoreError {
        .busy(
            "the change is made, but the files of \(path.database), which hold the old rows sealed, are still being read",
            Remedy(.purge, "purge expired access tokens when that has ended: that empties it too")
        )
    }
}
