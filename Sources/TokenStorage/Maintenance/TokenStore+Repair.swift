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

extension TokenStore {
    /// Copies every row that can be read into a new file, which takes the place of the damaged one; that is kept
    /// beside it.
    ///
    /// Sealed values that do not open are left out: they could never be read again.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` if not even the data keys can be read, without which nothing opens.
    public static func repair(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> RepairReport {
        try TokenStoreError.translating(at: path) {
            try StoreRepair(path: path, options: options, progress: progress).run()
        }
    }

    /// What a repair would save: everything is tried beside the store, which stays as it is.
    ///
    /// - Throws: as ``repair(at:options:progress:)``.
    package static func planRepair(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> RepairPlan {
        try TokenStoreError.translating(at: path) {
            try StoreRepair(path: path, options: options, progress: progress).plan()
        }
    }
}

/// What a repair saves, and what it cannot.
package struct RepairPlan: Hashable, Sendable {
    package let salvaged: [RepairReport.SavedRows]
    package let lost: [RepairReport.LostRows]
    package let lostSignIns: [LostSignIn]
    package let mayHaveLostOthers: Bool

    /// Whether a change of keys that was interrupted is left to finish.
    package let isRekeyUnfinished: Bool
}

/// What a repair saved, and what it could not.
public struct RepairReport: Hashable, Sendable {
    /// Where the damaged file is kept.
    public let damagedCopy: String

    package let plan: RepairPlan

    /// The rows that were saved, by table.
    public var salvaged: [SavedRows] { plan.salvaged }

    /// The rows that are known to be lost, by table.
    public var lost: [LostRows] { plan.lost }

    /// The sign-ins that are lost, as far as anything in the damaged file still names them.
    public var lostSignIns: [LostSignIn] { plan.lostSignIns }

    /// Whether other sign-ins may be lost besides, of which no trace could be read.
    public var mayHaveLostOthers: Bool { plan.mayHaveLostOthers }

    /// How many rows of a table were saved.
    public struct SavedRows: Hashable, Sendable {
        /// The table's name in the database.
        public let table: String

        /// The number of rows.
        public let rows: Int
    }

    /// How many rows of a table are lost.
    public struct LostRows: Hashable, Sendable {
        /// The table's name in the database.
        public let table: String

        /// The number of rows; nil where it is not known.
        public let rows: Int?
    }
}

/// A sign-in that a repair could not save: its account has to sign in again.
///
/// It is told from what the damaged file says elsewhere, so that each part of it may be missing; identifiers may be in
/// the lower case in which the store compares them.
public struct LostSignIn: Hashable, Sendable {
    /// The user name; nil if it was lost.
    public let username: String?

    /// What the issuer calls the account; nil if it was lost.
    public let homeAccountID: String?

    /// The authority of the account; nil if it was lost.
    public let authority: String?

    /// The client whose refresh token, or its key, is lost; nil if the account itself is.
    public let clientID: String?

    /// False where the index of refresh tokens is lost with them: the client has other things of the account, and may
    /// never have had a refresh token.
    public let isCertain: Bool
}

/// Makes a sound store of a damaged one.
private struct StoreRepair {
    let path: StorePath
    let options: StoreOptions
    let progress: TokenStore.ProgressHandler?

    private var file: StoreFile { StoreFile(path: path, timeout: options.busyTimeout) }
    private var copy: String { path.salvage }

    func run() throws -> RepairReport {
        try withUnusedStore {
            let plan = try makeFresh()
            return RepairReport(
                damagedCopy: try file.replaceDatabase(keeping: "damaged", at: options.seconds),
                plan: plan
            )
        }
    }

    func plan() throws -> RepairPlan {
        try withUnusedStore {
            defer { file.remove(path.unfinished) }
            return try makeFresh()
        }
    }

    /// Runs `body` while no other process uses the store.
    private func withUnusedStore<Result>(_ body: () throws -> Result) throws -> Result {
        try path.requireFile()
        let files = FilePermissions(path: path, isInspection: false)
        try files.checkDirectory()
        if FileStatus.isAbsent(path.database) { try StoreOpener(path: path, options: options).refuseOrphanedLog() }
        try files.checkDatabase()
        try StoreFiles(path, source: options.keySource).requireOwnDatabase()
        try refuseSoundDatabase()
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        // What another connection committed while its file is being replaced would be lost.
        let access = try ExclusiveAccess.wait(for: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(access) {} }
        try StoreFiles(path, source: options.keySource).removeDraft(copy)
        defer { file.remove(copy) }
        return try body()
    }

    /// Refuses to rewrite a database that nothing is wrong with, because of files beside it that no repair touches.
    private func refuseSoundDatabase() throws {
        guard try !PendingFile.all(of: path).isEmpty, let answer = onlyUnreadableAnswer() else { return }
        throw TokenStoreError.file("\(answer.problem), and the database needs no repair", answer.remedy)
    }

    /// Why a file is not taken in, if such files are all that is wrong; nil otherwise.
    private func onlyUnreadableAnswer() -> UnreadableAnswer? {
        do {
            guard let session = try StoreOpener(path: path, options: options).inspect() else { return nil }
            let (problems, answers) = try session.connection.read {
                (try session.problems(nil), try session.unreadableAnswers())
            }
            guard problems.isEmpty, let answer = answers.first else { return nil }
            // An inspection reads what a program that writes refuses.
            _ = try file.openForWriting()
            return answer.error
        } catch {
            // What cannot be opened or read through is for the repair.
            return nil
        }
    }

    /// Makes the new database beside the damaged one: what can be read, migrated and checked.
    private func makeFresh() throws -> RepairPlan {
        let damaged = try DamagedStore(copy: copy, of: path, restore: copyDamaged)
        var made: RepairPlan?
        var options = options
        options.isSalvage = true
        try file.create(as: path.unfinished) { fresh in
            var tables = TableSalvage(from: damaged, to: fresh, progress: progress)
            let session = try tables.run { try StoreConnection.unlocked(fresh, at: path, options: options) }
            // An unfinished rekey leaves values under an older key, while what is computed from them is under this one.
            _ = try session.resealEverything(nil)
            if let problem = try session.problems(progress).first {
                throw TokenStoreError.damaged(
                    "what can be read of \(path.database) does not make a sound store (\(problem.location): "
                        + "\(problem.problem)), and nothing was changed",
                    .restore
                )
            }
            // The connections have to be closed before their files take other names.
            let (signIns, isComplete) = try LostSignIns.found(
                in: damaged.connection,
                since: fresh,
                lacksTokens: tables.lost.contains { $0.table == SealedTable.refreshToken.name }
            )
            made = RepairPlan(
                salvaged: try tables.saved(),
                lost: tables.lost,
                lostSignIns: signIns,
                // A refresh token that no longer says whose it was.
                mayHaveLostOthers: !isComplete || tables.lostRefreshTokens > signIns.count,
                isRekeyUnfinished: try fresh.dataKeyCount() > 1
            )
        }
        guard let made else { throw TokenStoreError.storage("no new store was made", .retry) }
        return made
    }

    /// Copies the damaged file and its log to where the copy may be changed.
    private func copyDamaged() throws {
        file.remove(copy)
        try file.copy(path.database, to: copy)
        let log = FileStatus(path.log).map { $0.size > 0 } ?? false ? path.log : try interruptedLog()
        if let log { try file.copy(log, to: copy + "-wal") }
        guard path.hasJournal else { return }
        // Only a database without a write-ahead log has a journal of its own.
        let header = try Connection(path: copy, mode: .immutable, busyTimeout: .zero).bytes(at: 18, count: 2)
        guard header == [1, 1] else { throw StoreFiles.inTheWay(path.journal) }
        // The name of a super-journal is at the end of a journal: behind it a byte more, SQLite looks for no such file.
        try file.copy(path.journal, to: copy + "-journal", endingIn: [0])
    }

    /// The log that belongs to the damaged file, if a repair was killed after it had put the log aside.
    private func interruptedLog() throws -> String? {
        for kept in StoreFiles(path).damagedCopies where FileStatus(kept + "-wal") != nil {
            if try file.isSame(kept, path.database) { return kept + "-wal" }
        }
        return nil
    }
}

extension StoreConnection {
    /// A session on a file that is being made, with its keys.
    static func unlocked(_ connection: Connection, at path: StorePath, options: StoreOptions) throws -> StoreConnection
    {
        let header = try StoreHeader(connection, at: path)
        let session = StoreConnection(connection, at: StoreLocation(path), header: header, options: options)
        _ = try session.keys()
        return session
    }
}
