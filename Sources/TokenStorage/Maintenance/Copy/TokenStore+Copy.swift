import Database
package import OAuth
import Sealing

extension TokenStore {
    /// Moves a store to another place, or copies it there: between files and servers, in any direction.
    ///
    /// Every value is sealed anew under the target's key, counted, and opened there again. The target must hold
    /// nothing; a file is made, a server's store is there already (``create(at:options:granting:isDistributed:)``).
    /// Both need a role that owns the tables.
    ///
    /// From the beginning nothing is written any more where the store was: of two stores that use the same refresh
    /// tokens one would end the sessions of the other. A move that is killed at any moment goes on when it runs again,
    /// and ``undoMove(at:options:dryRun:)`` takes it back. A copy that `keepsSource` leaves the source as it is, for a
    /// trial or an archive; one that was cut off is made again, in an empty store.
    ///
    /// Programs may use the target before all is there. An account comes once: what they have changed or signed out
    /// there stays so. Where all of it came before, nothing is written: see ``CopyReport/wasDone``.
    ///
    /// - Throws: ``TokenStoreError``.
    @discardableResult
    public static func copy(
        from source: StoreLocation,
        to target: StoreLocation,
        reading: StoreOptions = StoreOptions(),
        writing: StoreOptions = StoreOptions(),
        keepsSource: Bool = false,
        progress: ProgressHandler? = nil
    ) throws -> CopyReport {
        guard source != target else {
            throw TokenStoreError.invalidArgument("\(source) would be copied onto itself", .correct("name two stores"))
        }
        let copying = StoreCopying(
            source: source,
            target: target,
            reading: reading,
            writing: writing,
            keepsSource: keepsSource
        )
        return try copying.run(progress)
    }

    /// What ``copy(from:to:reading:writing:keepsSource:progress:)`` would copy.
    ///
    /// The report says also whether the source holds only part of a copy, and whether all is at the target already.
    ///
    /// - Throws: ``TokenStoreError``, also where the copy would be refused for what is at either place.
    public static func planCopy(
        from source: StoreLocation,
        to target: StoreLocation? = nil,
        reading: StoreOptions = StoreOptions(),
        writing: StoreOptions = StoreOptions(),
        keepsSource: Bool = false
    ) throws -> CopyReport {
        var options = reading
        (options.unlocks, options.mayReadStandby) = (false, false)
        guard let store = try inspect(at: source, options: options) else { throw TokenStoreError.noStore(at: source) }
        let (id, totals, isPartial) = try store.read {
            try $0.requireWritableSchema()
            if target != nil, !keepsSource, try !$0.isMoved() { try $0.requireMovable() }
            return ($0.header.storeID.hexadecimal, try $0.totals(), try $0.holdsPartOfCopy())
        }
        guard let target else { return CopyReport(totals, isPartial: isPartial) }
        let copying = StoreCopying(
            source: source,
            target: target,
            reading: options,
            writing: writing,
            keepsSource: keepsSource
        )
        return try CopyReport(totals, wasDone: copying.isDone(id), isPartial: isPartial)
    }

    /// Lets programs write again to a store that was moved, or whose move was cut off.
    ///
    /// What the target got stays there: use one of the two. Nothing is done to a store that was not moved. A trial
    /// (`dryRun`) only says what would be done.
    ///
    /// - Throws: ``TokenStoreError``.
    @discardableResult
    public static func undoMove(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) throws -> MoveUndo {
        var options = options
        options.unlocks = false
        let undo = try MoveUndo(of: location, options)
        if !dryRun, undo.place != nil {
            let store = try open(at: location, options: options)
            defer { store.close() }
            try store.withWriter { try $0.thaw() }
        }
        return undo
    }
}

/// What is left at the target of a move that was taken back.
public struct MoveUndo: Hashable, Sendable {
    /// Where the store was moved to; nil if it was not moved.
    public let place: String?

    /// How many accounts are there: of a file now, of a server when the move was finished; nil where that is not known.
    ///
    /// A server that the store alone names is not asked: anyone who could write to the store may have named any there.
    public let accounts: Int?

    fileprivate init(of location: StoreLocation, _ options: StoreOptions) throws {
        guard let store = try TokenStore.inspect(at: location, options: options) else {
            throw TokenStoreError.noStore(at: location)
        }
        let (place, moved) = try store.read { (try $0.newPlace(), try $0.accountsOfFinishedMove()) }
        self.place = place?.name
        let target = place?.address.flatMap { PathParts.isAbsolute($0) ? StorePath($0) : nil }
        accounts = place == nil ? nil : try target.map { try Self.accounts(in: $0, options) } ?? moved
    }

    /// nil where the file cannot be read, which does not keep anyone from taking the move back.
    private static func accounts(in file: StorePath, _ options: StoreOptions) throws -> Int? {
        var options = options
        options.keySource = nil
        do {
            return try TokenStore.inspect(at: file, options: options)?.read { try $0.totals().accounts } ?? 0
        } catch is TokenStoreError {
            return nil
        }
    }
}

/// What a copy took along.
public struct CopyReport: Hashable, Sendable {
    /// How many accounts the new store has.
    public let accounts: Int

    /// How many access tokens it has.
    public let accessTokens: Int

    /// How many refresh tokens it has.
    public let refreshTokens: Int

    /// How many ID tokens it has.
    public let idTokens: Int

    /// Whether it went on with a move that had been cut off.
    public let wasResumed: Bool

    /// Whether all of it came by a copy before, so that nothing was done.
    public let wasDone: Bool

    /// How many accounts of the source programs had signed in or out at the target meanwhile, which stayed as they were
    /// there: what other clients have of them is in the source alone.
    public let leftAlone: Int

    /// Whether the source itself holds part of a copy that was cut off, in a plan: what it lacks is not copied.
    public let isPartial: Bool

    init(
        _ totals: PurgeCounts,
        wasResumed: Bool = false,
        wasDone: Bool = false,
        leftAlone: Int = 0,
        isPartial: Bool = false
    ) {
        (accounts, accessTokens) = (totals.accounts, totals.accessTokens)
        (refreshTokens, idTokens) = (totals.refreshTokens, totals.idTokens)
        (self.wasResumed, self.wasDone, self.leftAlone) = (wasResumed, wasDone, leftAlone)
        self.isPartial = isPartial
    }
}

extension Remedy.Code {
    /// Finish a move that was cut off, or take it back.
    package static let finishMove = Remedy.Code(rawValue: "finish_move")
}

// MARK: - A store that has been moved

extension StoreConnection {
    /// The entry of the move that holds: 0 where a purge of everything has taken it along, nil where none holds.
    func lastMove() throws -> Int64? {
        guard try isMoved() else { return nil }
        let moves = try connection.all("SELECT id, outcome FROM event WHERE kind = 'move' ORDER BY id") {
            (id: $0.integer(0), outcome: $0.text(1))
        }
        return moves.last { $0.outcome.hasPrefix(Self.movedTo) }?.id ?? 0
    }

    /// How many accounts the target had when the last move from here was finished; nil where none was.
    func accountsOfFinishedMove() throws -> Int? {
        // What was moved to here has other words.
        let last = try outcomesOfMoves().last { $0.hasPrefix(Self.movedTo) || $0.hasPrefix(Self.finished) }
        return last?.droppingPrefix(Self.finished).flatMap { Int($0.prefix { $0 != " " }) }
    }

    /// Notes that all is at the target, so that what is here may be deleted.
    func noteFinishedMove(to place: String, accounts: Int) throws {
        try record(.move, outcome: "\(Self.finished)\(accounts)\(Self.accountsAt)\(place)")
    }

    /// Requires that a store which was moved is whole at its new place: what is deleted here would be missing there.
    func requireFinishedMove() throws {
        guard try isMoved(), try accountsOfFinishedMove() == nil, let place = try newPlace() else { return }
        throw TokenStoreError(
            .moved,
            "the move from \(location) to \(place.name) is not finished, as far as is known here, and nothing was deleted",
            Remedy(.finishMove, "finish the move, or take it back")
        ).at(location)
    }

    /// Waits for all who write to a server, and keeps others from it until the end of this transaction.
    func holdWriters() throws {
        // A writer holds the table until the end of its transaction, as ``holdStore()`` says.
        if connection.isServer { try connection.execute("LOCK TABLE store IN EXCLUSIVE MODE") }
    }

    /// Lets nothing be written any more, in this transaction, which holds the writers: who opened the store before is
    /// told where it is now.
    func freeze(for place: StoreLocation) throws {
        // Everyone who opens the store reads it: it has neither the mover's role nor where his password is.
        try record(.move, outcome: Self.movedTo + place.description)
        if connection.isServer {
            try connection.run("UPDATE store SET moved_to = ?1 WHERE id = 1", .text(place.description))
        } else {
            // Every transaction that writes asks for the current key, and finds none.
            try connection.run("UPDATE data_key SET is_current = 2 WHERE is_current = 1")
        }
    }

    fileprivate func thaw() throws {
        try connection.write {
            if connection.isServer {
                try connection.run("UPDATE store SET moved_to = NULL WHERE id = 1")
            } else {
                try connection.run("UPDATE data_key SET is_current = 1 WHERE is_current = 2")
            }
        }
    }

    /// A refresh that began before has ended, unless its answer waits for a server.
    var startOfRefreshes: Int64 { now - 60 }

    /// How many refreshes began in the last minute, and until `end` where that is given, and have not ended: their
    /// answers are yet to be stored.
    func refreshesUnderWay(begunBy end: Int64 = .max) throws -> Int64 {
        try connection.integer(
            "SELECT count(*) FROM refresh_attempt WHERE outcome IS NULL AND started_at > ?1 AND started_at <= ?2",
            .integer(startOfRefreshes),
            .integer(end)
        ) ?? 0
    }

    /// Whether a program may still wait with the answer to a refresh for a server that did not let it in: it has not
    /// given its lease back, and is not known to be gone.
    func awaitsAnswer() throws -> Bool {
        guard connection.isServer else { return false }
        // It renews the lease until it is cut off, and has the answer within a request's time then.
        let wait = options.serverAnswerWait.secondsRoundedUp + 60
        return try connection.all(Self.openLeases, .integer(wait)) { !ProcessIdentity($0, from: 0).isGone }.contains(
            true
        )
    }

    private static let openLeases: StaticString = """
        SELECT l.host, l.process_id, l.started_at FROM refresh_attempt t
        JOIN refresh_lease l ON l.account_id = t.account_id
        WHERE t.outcome IS NULL AND l.ends_at < clock_timestamp() + interval '2 minutes'
            AND l.ends_at > clock_timestamp() - CAST(?1 AS double precision) * interval '1 second'
        """
}
