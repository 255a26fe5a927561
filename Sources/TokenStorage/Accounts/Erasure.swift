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
    func erasure() throws -> Erasure {
        removeDrafts()
        guard try isErasureUnfinished() else { return try emptiedLog() }
        do {
            try giveBackPages()
            let erasure = try emptiedLog()
            if erasure == .complete { try deleteErasure() }
            return erasure
        } catch let error as SQLiteError {
            return .unfinished(unfinished(error))
        }
    }

    /// Goes on with an erasure that was interrupted; where it cannot be finished now, the next opening tries again.
    func resumeErasure() throws {
        guard try isErasureUnfinished() else { return }
        let timeout = connection.busyTimeout
        // A command that has something else to do does not wait long for another process that reads.
        connection.busyTimeout = min(timeout, .milliseconds(200))
        defer { connection.busyTimeout = timeout }
        // Where it is unfinished again, the entry that says so stays.
        _ = try erasure()
    }

    /// Removes the whole copies that a restore or a repair has left that was killed, unless one is at work.
    private func removeDrafts() {
        guard let path = location.path else { return }
        let drafts = [path.unfinished, path.salvage].filter { !FileStatus.isAbsent($0) }
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

    /// Empties the write-ahead log, which holds old pages until then.
    func emptyLog() throws {
        if case .unfinished(let error) = try emptiedLog() { throw error }
    }

    /// Empties the log as soon as others let it, or gives up after the time limit.
    ///
    /// SQLite waits for readers by itself, and not for another connection that is emptying the log.
    private func emptiedLog() throws -> Erasure {
        // What a server keeps of deleted rows, in its log and in backups, nobody can empty.
        guard !connection.isServer else { return .complete }
        let start = ContinuousClock.now
        while try !connection.checkpointTruncating() {
            guard ContinuousClock.now - start < connection.busyTimeout else {
                return .unfinished(
                    .busy(
                        "the change is made, but another process still reads the log of \(path.database), which holds "
                            + "the old rows sealed",
                        Remedy(.purge, "purge expired access tokens when that process has ended: that empties it too")
                    )
                )
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...5_000_000))
            nanosleep(&pause, nil)
        }
        return .complete
    }
}
