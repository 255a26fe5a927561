import Database
import OAuth
import SQL

/// What a rekey did.
public struct RekeyReport: Sendable {
    /// How many values were sealed anew; none when only the key source changed.
    public let resealed: Int

    /// How many rows had been altered outside the program, so that nothing of them was sealed anew.
    ///
    /// Those that count for nothing were deleted, such as a wait or an entry of the record of use. A sign-in state, and
    /// the tenant that an authority stands for, are refused as before until the program writes them again.
    public let altered: Int

    /// Where the key comes from now.
    public let keySource: String

    /// Whether this finished an earlier rekey that was cut off.
    public let resumed: Bool

    /// What is left for a person to do, a sentence without a full stop; nil if nothing is.
    public let note: String?
}

/// Rows that do not open, and what that means for a rekey.
struct AlteredRows {
    /// How many count for nothing, or keep nothing sealed: no data key has to stay for them.
    var givenUp = 0

    /// How many may hold what is stored nowhere else.
    private var kept = 0

    /// The first of those, and the account that a row of a token is of.
    private var first: (place: String, owner: Int64?)?

    mutating func add(_ row: Row, of table: SealedTable) {
        guard table.whenAltered == .isKept else {
            givenUp += 1
            return
        }
        kept += 1
        guard first == nil else { return }
        let owner = table === SealedTable.account ? row.integer(0) : table.isOwned ? row.integer(1) : 0
        first = ("\(table.name) row \(row.integer(0))", owner == 0 ? nil : owner)
    }

    mutating func add(_ other: AlteredRows) {
        givenUp += other.givenUp
        kept += other.kept
        first = first ?? other.first
    }

    /// - Throws: ``TokenStoreError/Code/damaged`` where there are rows that no rekey gives up.
    func requireNoneKept(in session: StoreConnection) throws {
        guard let first else { return }
        let account = try first.owner.flatMap { try session.accountID($0) }
        let place = first.place + (account.map { " of the account \($0.homeAccountID)" } ?? "")
        let others = kept > 1 ? ", and \(kept - 1) other \(kept > 2 ? "rows do" : "row does") not either" : ""
        throw TokenStoreError.damaged(
            "\(place) does not open\(others), and the old data key stays until that is gone and a rekey has ended",
            !session.connection.isServer ? .repair : account != nil ? Self.purge : Self.restore
        )
    }

    private static let purge = Remedy(
        .correctArgument,
        "purge the account, sign in again and rekey once more, or restore the database to a moment before the damage"
    )

    private static let restore = Remedy(
        .restore,
        "restore the database to a moment before the damage, or have the row deleted in SQL and rekey once more"
    )
}

extension StoreConnection {
    /// The rows that do not open.
    func alteredRows(_ progress: TokenStore.ProgressHandler?) throws -> AlteredRows {
        var altered = AlteredRows()
        let total = try progress.flatMap { _ in try rowCount(SealedTable.all) }
        let rows = RowProgress(progress, total: total, unit: "rows")
        for table in SealedTable.all {
            try connection.walk(table.everyRow) { row in
                if try intact({ try openAll(row, of: table) }) == nil { altered.add(row, of: table) }
                try rows.advance()
            }
        }
        try rows.end()
        return altered
    }
}
