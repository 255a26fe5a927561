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
        let isResumed = try prepareSource(progress)
        let store = try TokenStore.open(at: target, options: writing)
        defer { store.close() }
        guard let inspection = try inspectSource() else { throw TokenStoreError.noStore(at: source) }
        try inspection.read { session in
            try session.connection.read {
                let header = session.header.storeID.hexadecimal
                try begin(header, in: store, isResumed: isResumed)
                let rows = RowCopying(from: session, to: store)
                try rows.copyAccounts(progress)
                try rows.copyRest(unless: Self.done(header), progress)
                try requireSame(session, store)
            }
        }
        if let problem = try store.check(progress: progress).first {
            throw TokenStoreError.damaged("\(target) does not hold what it was given (\(problem.problem))", .check)
        }
        return try CopyReport(store.read { try $0.totals() }, wasResumed: isResumed)
    }

    // MARK: The source

    private func inspectSource() throws -> StoreInspection? {
        var options = reading
        options.keepsInspectionOpen = true
        return try TokenStore.inspect(at: source, options: options)
    }

    /// Makes sure that the source is whole and, unless it is to be kept, that nothing is written to it from now on.
    ///
    /// - Returns: whether a move to the same target was begun before.
    private func prepareSource(_ progress: TokenStore.ProgressHandler?) throws -> Bool {
        if let place = try placeOfSource() {
            guard place == target.description else { throw TokenStoreError.moved(from: source, to: place) }
            return true
        }
        // Makes it current, and stores answers that wait in files.
        let store = try TokenStore.open(at: source, options: reading)
        defer { store.close() }
        try store.takeInAnswers()
        if let problem = try store.check(progress: progress).first {
            throw TokenStoreError.damaged("\(source) is damaged (\(problem.problem))", .repair)
        }
        // Fails before anything is frozen.
        try requireUsableTarget()
        guard !keepsSource else { return false }
        let end = ContinuousClock.now + reading.busyTimeout
        var pauses = Pauses()
        while try !frozen(store) {
            guard ContinuousClock.now < end else {
                throw TokenStoreError.busy("\(source) has tokens that are being refreshed", .retryLater)
            }
            pauses.next(until: end)
        }
        return false
    }

    private func placeOfSource() throws -> String? {
        do {
            guard let inspection = try inspectSource() else { throw TokenStoreError.noStore(at: source) }
            return try inspection.read { try $0.newPlace() }
        } catch let error as TokenStoreError where error.code == .olderStore {
            return nil
        }
    }

    /// - Returns: false while a refresh is under way, whose answer would have no place to go.
    private func frozen(_ store: TokenStore) throws -> Bool {
        try store.write { session in
            // Otherwise another node could begin a refresh behind this look.
            try session.holdWriters()
            guard try session.refreshesUnderWay() == 0, try source.path?.pendingAnswers().isEmpty ?? true else {
                return false
            }
            try session.freeze(for: target)
            return true
        }
    }

    // MARK: The target

    private func requireUsableTarget() throws {
        let store = try TokenStore.open(at: target, options: writing)
        defer { store.close() }
        // A store that was moved itself refuses what is written.
        try store.write { try requireEmpty($0.totals()) }
    }

    private func requireEmpty(_ totals: PurgeCounts) throws {
        guard totals.accounts == 0, totals.accessTokens == 0 else {
            throw TokenStoreError.invalidArgument(
                "\(target) holds \(totals.accounts) accounts already, and a copy would mix two stores",
                .correct("name an empty one, or delete everything there first")
            )
        }
    }

    private static func begun(_ id: String) -> String { "from \(id) begun" }
    private static func done(_ id: String) -> String { "from \(id) done" }

    /// Marks the target as the copy of this source; what another program keeps there is left alone.
    private func begin(_ id: String, in store: TokenStore, isResumed: Bool) throws {
        try store.write { session in
            try session.lockForManyAccounts()
            let isBegun = try session.hasMoved(Self.begun(id))
            if !isBegun || !isResumed { try requireEmpty(session.totals()) }
            if !isBegun { try session.record(.move, outcome: Self.begun(id)) }
        }
    }

    /// Compares how much both hold, now that all was copied.
    private func requireSame(_ session: StoreConnection, _ store: TokenStore) throws {
        for table in RowCopying.comparedTables {
            let wanted = try session.rowCount([table])
            let found = try store.read { try $0.rowCount([table]) }
            guard wanted == found else {
                throw TokenStoreError.damaged(
                    "\(target) has \(found ?? 0) rows of \(table.name), and \(source) has \(wanted ?? 0)",
                    .correct("delete everything at \(target), and copy again")
                )
            }
        }
    }
}
