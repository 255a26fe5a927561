import Database
import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StoreFile {
    /// Puts the unfinished database in the place of the one that is there, of which a copy is kept, named for why.
    ///
    /// Killed at any moment this leaves the old file or the new one under the name, and what the other commands and a
    /// repair need; an error leaves the old one with all that it had. The caller has kept every other connection out,
    /// and has seen that the old file is ours: what SQLite keeps beside it is so too.
    ///
    /// - Returns: the copy.
    func replaceDatabase(keeping reason: String, at seconds: Int64) throws -> String {
        let kept = nameOfCopy(reason, at: seconds)
        do {
            try keep(path.database, as: kept)
            if FileStatus(path.log).map({ $0.size > 0 }) ?? false { try keep(path.log, as: kept + "-wal") }
            try synchronize(path.directory)
            try takePlace(keeping: kept)
        } catch {
            remove(path.unfinished)
            // What could not be put back is only there.
            let isBack = FileStatus.isAbsent(kept + "-wal") || (try? isSame(kept + "-wal", path.log)) ?? false
            if isBack { remove(kept) }
            throw error
        }
        try synchronize(path.directory)
        return kept
    }

    /// Puts the unfinished database under the name, which nothing has; what the log has of the file that had it is kept.
    ///
    /// - Returns: the log, under the name of that of a copy; nil if there was none.
    func takeName(keeping reason: String, at seconds: Int64) throws -> String? {
        guard let log = FileStatus(path.log), log.size > 0 else {
            try takeName()
            return nil
        }
        let kept = nameOfCopy(reason, at: seconds) + "-wal"
        do {
            // That of a database which has come back is in use.
            guard FileStatus.isAbsent(path.database) else { throw databaseInTheWay }
            // It would be played into the new database, whose readers would take its index for theirs.
            guard rename(path.log, kept) == 0 else { throw Self.failure("renamed", path.log) }
            guard unlink(path.sharedMemory) == 0 || errno == ENOENT else {
                throw Self.failure("removed", path.sharedMemory)
            }
            try takeName()
        } catch {
            remove(path.unfinished)
            guard FileStatus(kept) != nil else { throw error }
            // Not beside a database that another program has just put there.
            guard FileStatus.isAbsent(path.database), renameExclusively(kept, to: path.log) else {
                throw TokenStoreError.busy("\(databaseInTheWay.problem), and the log that was there is \(kept)", .retry)
            }
            throw error
        }
        return kept
    }

    /// A name for a copy that neither one nor its log has.
    private func nameOfCopy(_ reason: String, at seconds: Int64) -> String {
        let name = "\(path.database).\(reason)-\(seconds)"
        var kept = name
        var number = 2
        while !FileStatus.isAbsent(kept) || !FileStatus.isAbsent(kept + "-wal") {
            kept = "\(name)-\(number)"
            number += 1
        }
        return kept
    }

    /// What a journal beside a copy is called: one that SQLite took for the copy's would be played back, and what it
    /// names deleted, by any program that opens the copy.
    static let keptJournal = ".journal"

    /// Puts the unfinished database under the name; the old log has to be gone by then, or it would be played into it.
    private func takePlace(keeping kept: String) throws {
        // What only the log had is in the old file too from here on, where that is sound enough: it stays if this is
        // killed before it is replaced.
        try? foldLog()
        do {
            for name in [path.log, path.sharedMemory] where unlink(name) != 0 && errno != ENOENT {
                throw Self.failure("removed", name)
            }
            guard !path.hasJournal || rename(path.journal, kept + Self.keptJournal) == 0 else {
                throw Self.failure("renamed", path.journal)
            }
            guard rename(path.unfinished, path.database) == 0 else { throw Self.failure("replaced", path.database) }
        } catch {
            if FileStatus(kept + Self.keptJournal) != nil { rename(kept + Self.keptJournal, path.journal) }
            if FileStatus.isAbsent(path.log), FileStatus(kept + "-wal") != nil { try keep(kept + "-wal", as: path.log) }
            throw error
        }
    }

    /// Writes the log's pages into the database, without a lock: the caller keeps every other connection out.
    private func foldLog() throws {
        // A journal would be played back into the file that is kept; the new one has all of both.
        guard let log = FileStatus(path.log), log.size > 0, !path.hasJournal else { return }
        let connection = try Connection(path: path.database, mode: .alone, busyTimeout: .zero)
        // Only a look at the database opens its log.
        if try connection.headerCount() > 0 { _ = try connection.checkpointTruncating() }
    }

    private func keep(_ name: String, as kept: String) throws {
        do {
            try copy(name, to: kept)
            try synchronize(kept)
        } catch {
            unlink(kept)
            throw error
        }
    }
}
