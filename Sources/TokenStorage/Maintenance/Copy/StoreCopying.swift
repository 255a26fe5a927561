import Database
import OAuth
import Sealing

/// The steps of a copy from one store to another.
struct StoreCopying {
    let source: StoreLocation
    let target: StoreLocation
    let reading: StoreOptions
    let writing: StoreOptions
    let keepsSource: Bool

    func run(_ progress: TokenStore.ProgressHandler?) throws -> CopyReport {
        do {
            return try copy(progress)
        } catch is TakenBackMove {
            throw TokenStoreError.invalidArgument(
                "the move from \(source) was taken back meanwhile, and \(target) holds part of it",
                .correct("go on with \(source), and delete what is at the other place")
            ).at(source)
        }
    }

    private func copy(_ progress: TokenStore.ProgressHandler?) throws -> CopyReport {
        let frozen = try frozenSource()
        let open = frozen == nil ? try openSource(progress) : nil
        defer { open?.close() }
        let store = try openTarget()
        defer { store.close() }
        let id = try frozen?.id ?? open?.read { $0.header.storeID.hexadecimal } ?? ""
        // Fails before anything is frozen.
        let mark = try begin(id, in: store, isFrozen: frozen != nil, isFinished: frozen?.isFinished ?? false)
        guard !mark.isDone else {
            let totals = try store.read { try $0.totals() }
            if let frozen { try noteFinish(of: frozen.move, accounts: totals.accounts) }
            return CopyReport(totals, wasDone: true)
        }
        if frozen == nil, mark.last == 0 { try store.read { try $0.requireFillable() } }
        var move = frozen?.move
        if let open, !keepsSource { move = try freeze(open, progress) }
        open?.close()
        let leftAlone = try orUnfinished {
            let (end, leftAlone) = try fill(store, after: mark, progress)
            if let move, !keepsSource { try noteFinish(of: move, accounts: store.read { try $0.totals().accounts }) }
            try store.write { session in
                try session.lockForManyAccounts()
                try session.endCopy(end)
            }
            return leftAlone
        }
        return try CopyReport(store.read { try $0.totals() }, wasResumed: frozen != nil, leftAlone: leftAlone)
    }

    /// What `body` returns; an error of it that the source waits behind says so.
    private func orUnfinished<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as TokenStoreError where !keepsSource {
            throw TokenStoreError(
                error.code,
                "the move from \(source) is not finished, and nothing is written there until it is "
                    + "(\(error.problemWithoutOutcome))",
                Remedy(.resumeMove, "mend that and move it again, or take the move back")
            ).at(target)
        }
    }

    /// Brings what the copy has not brought, and opens all that the target holds then.
    ///
    /// - Returns: how far the copy is then, and how many accounts it left alone.
    private func fill(
        _ store: TokenStore,
        after mark: CopyMark,
        _ progress: TokenStore.ProgressHandler?
    ) throws -> (end: CopyMark, leftAlone: Int) {
        guard let inspection = try inspectSource() else { throw TokenStoreError.noStore(at: source) }
        // The target has the rows by then.
        let (end, leftAlone) = try inspection.connections.read(isTold: true) { session in
            let rows = RowCopying(from: session, to: store, after: mark)
            try session.keepingMoment {
                try rows.copyAccounts(progress)
                try rows.copyRest()
            }
            return (rows.mark, rows.leftAlone)
        }
        if let problem = try store.check(progress: progress).first {
            throw TokenStoreError.damaged(
                "\(target) does not hold what it was given (\(problem.problem))",
                .check
            ).at(target)
        }
        return (end, leftAlone)
    }

    /// Notes at the source that the target has all of it, unless that is noted already.
    ///
    /// - Throws: ``TakenBackMove`` where the source is not what `move` has left any more.
    private func noteFinish(of move: Int64, accounts: Int) throws {
        let known = try inspectSource()?.read {
            (keys: try $0.keys(), move: try $0.lastMove(), isNoted: try $0.accountsOfFinishedMove() != nil)
        }
        guard let known else { return }
        guard known.move == move else { throw TakenBackMove() }
        guard !known.isNoted else { return }
        var options = reading
        // No program with the key may write there any more; the note is sealed with it all the same.
        options.unlocks = false
        let store = try TokenStore.open(at: source, options: options)
        defer { store.close() }
        try store.withWriter { session in
            session.keyRing = known.keys
            try session.connection.write {
                // No other process can take the move back between the look and the note.
                try session.lockForManyAccounts()
                guard try session.lastMove() == move else { throw TakenBackMove() }
                try session.noteFinishedMove(to: target.description, accounts: accounts)
            }
        }
    }

    // MARK: The source

    private func inspectSource() throws -> StoreInspection? {
        var options = reading
        options.keepsInspectionOpen = true
        // A standby may lack what was written last.
        options.mayReadStandby = false
        return try TokenStore.inspect(at: source, options: options)
    }

    /// The id of the source, its last move and whether all of it was moved, if a move to the same target was begun
    /// before; nil if programs may write to it.
    private func frozenSource() throws -> (id: String, move: Int64, isFinished: Bool)? {
        do {
            guard let inspection = try inspectSource() else { throw TokenStoreError.noStore(at: source) }
            let (place, id, move, accounts) = try inspection.read {
                (try $0.newPlace(), $0.header.storeID.hexadecimal, try $0.lastMove(), try $0.accountsOfFinishedMove())
            }
            guard let place, let move else { return nil }
            guard let address = place.address, target.isDescribed(by: address) else {
                throw TokenStoreError.moved(from: source, to: place)
            }
            return (id, move, accounts != nil)
        } catch let error as TokenStoreError where error.code == .olderStore {
            return nil
        }
    }

    /// Opens the source, which makes it current, stores answers that wait in files, and makes sure that it is whole.
    private func openSource(_ progress: TokenStore.ProgressHandler?) throws -> TokenStore {
        let store = try TokenStore.open(at: source, options: reading)
        do {
            try store.takeInAnswers()
            if let problem = try store.check(progress: progress).first {
                let remedy = problem.remedy ?? .repair
                throw TokenStoreError.damaged("\(source) is damaged (\(problem.problem))", remedy).at(source)
            }
            try store.read {
                if !keepsSource { try $0.requireMovable() }
                try $0.requireFit(for: target)
            }
            return store
        } catch {
            store.close()
            throw error
        }
    }

    /// Makes sure that nothing is written to the source from now on, unless the move is taken back.
    ///
    /// - Returns: the entry of the move.
    private func freeze(_ store: TokenStore, _ progress: TokenStore.ProgressHandler?) throws -> Int64 {
        let end = ContinuousClock.now + reading.busyTimeout
        var pauses = Pauses()
        while true {
            if let move = try frozen(store, progress) { return move }
            guard ContinuousClock.now < end else {
                throw TokenStoreError.busy("\(source) has tokens that are being refreshed", .retryLater)
            }
            pauses.next(until: end)
        }
    }

    /// - Returns: nil while a refresh is under way, whose answer would have no place to go.
    private func frozen(_ store: TokenStore, _ progress: TokenStore.ProgressHandler?) throws -> Int64? {
        try store.write { session in
            // Otherwise another node could begin a refresh behind this look.
            try session.holdWriters()
            // Who ended the work while it waited for the writers has moved nothing.
            try RowProgress(progress, total: nil, unit: "rows").start()
            guard try session.refreshesUnderWay() == 0, try !session.awaitsAnswer(),
                try source.path?.pendingAnswers().isEmpty ?? true
            else {
                return nil
            }
            try session.freeze(for: target)
            return try session.lastMove()
        }
    }

    // MARK: The target

    private func openTarget() throws -> TokenStore {
        do {
            let store = try TokenStore.open(at: target, options: writing)
            // A server lets programs that only read open it.
            let place = try store.read { try $0.newPlace() }
            guard let place else { return store }
            store.close()
            throw TokenStoreError.moved(from: target, to: place)
        } catch let error as TokenStoreError where error.code == .moved {
            throw TokenStoreError(
                .moved,
                "\(target) cannot take a copy, as it was moved itself",
                Remedy(.undoMove, "take that move back, delete what is there, and copy then")
            ).at(target)
        }
    }

    /// Whether a copy would find all of the source at the target, and do nothing; an error where it would be refused for
    /// what is there.
    ///
    /// `id` is the source's.
    func isDone(_ id: String) throws -> Bool {
        let frozen = try frozenSource()
        var options = writing
        (options.unlocks, options.mayReadStandby) = (false, false)
        do {
            guard let store = try TokenStore.inspect(at: target, options: options) else { return false }
            return try store.read { session in
                let isFinished = frozen?.isFinished ?? false
                return try mark(of: id, in: session, isFrozen: frozen != nil, isFinished: isFinished)?.isDone ?? false
            }
        } catch let error as TokenStoreError where error.code == .olderStore {
            // The copy brings it up to date.
            return false
        }
    }

    /// Marks the target as the copy of this source, before the source is frozen: what other programs write there from
    /// now on is left alone.
    ///
    /// - Returns: how far the copy is; it goes on only if nothing was written to the source since it was begun.
    private func begin(_ id: String, in store: TokenStore, isFrozen: Bool, isFinished: Bool) throws -> CopyMark {
        // A store that was moved itself refuses what is written.
        try store.write { session in
            try session.lockForManyAccounts()
            return try mark(of: id, in: session, isFrozen: isFrozen, isFinished: isFinished)
                ?? session.beginCopy(from: id)
        }
    }

    /// How far the copy is that goes on; nil where one can begin.
    ///
    /// - Throws: ``TokenStoreError`` where none can.
    private func mark(
        of id: String,
        in session: StoreConnection,
        isFrozen: Bool,
        isFinished: Bool
    ) throws -> CopyMark? {
        guard session.header.storeID.hexadecimal != id else {
            let problem = "\(source) and \(target) are the same store, by two names"
            throw TokenStoreError.invalidArgument(problem, .correct("name two stores"))
        }
        let mark = try session.copyMark(from: id)
        if let mark, isFrozen || mark.isDone && keepsSource { return mark }
        guard !isFinished else {
            // What was deleted at the target since then must not come back unasked.
            throw TokenStoreError.invalidArgument(
                "all of \(source) was moved to \(target) before, and was deleted there since",
                Remedy(.undoMove, "to have the accounts that are at the old place again, take the move back")
            )
        }
        if let problem = try problem(of: session.totals(), mark) {
            throw TokenStoreError.invalidArgument("\(target) \(problem)", .correct("name an empty store"))
        }
        // They are told by the target's own key, under which those of the source would not be found.
        guard try session.rowCount([.signOut]) == 0 else {
            throw TokenStoreError.invalidArgument(
                "\(target) remembers who signed out there, and a copy would mix two stores",
                .correct("name an empty store, or delete everything that is there")
            )
        }
        return nil
    }

    /// Why a target is not one that a copy can begin with; nil for an empty one.
    private func problem(of totals: PurgeCounts, _ mark: CopyMark?) -> String? {
        if let mark, mark.isDone { return "has a copy of \(source) already, and lacks what was written there since" }
        if totals.accounts == 0, totals.accessTokens == 0 { return nil }
        guard mark == nil else { return "holds part of a copy of \(source) that was cut off, or was taken back" }
        return "holds \(totals.accounts) accounts already, and a copy would mix two stores"
    }
}

/// The source is in use again, or was moved anew.
private struct TakenBackMove: Error {}
