import Database
import OAuth
import Sealing

/// A row on its way from one store to another: opened, and no longer bound to its place.
struct CarriedRow {
    let id: Int64
    let owner: Int64
    let clear: [Value]
    let sealed: [Secret?]
    let derived: [Value]

    init(_ row: Row, of table: SealedTable, by session: StoreConnection) throws {
        (id, owner) = (row.integer(0), row.integer(1))
        clear = table.clear.map { row.value(table[$0]) }
        sealed = try session.openAll(row, of: table)
        derived = table.derived.map { row.value(table[$0]) }
    }
}

/// Some accounts with everything they own.
struct CarriedPage {
    var accounts: [(id: Account.ID, row: CarriedRow)] = []
    var rows: [(table: SealedTable, rows: [CarriedRow])] = []
    var attempts: [CarriedRow] = []
}

extension StoreConnection {
    /// Runs `body`, in which another store is written to as well, with all that it reads from one moment.
    ///
    /// Behind a pooler each of its transactions has a moment of its own: one that stayed open would keep the session
    /// that the other store may wait for, and the pooler may have no second one.
    func keepingMoment(_ body: () throws -> Void) throws {
        if case .server(let server) = connection.engine, server.address.pooler != .none { return try body() }
        try connection.read {
            if connection.isServer { try connection.run(Self.patienceOfSource) }
            try body()
        }
    }

    /// A source waits while the target writes, which may be away for as long as its options allow.
    private static let patienceOfSource: StaticString = "SET LOCAL idle_in_transaction_session_timeout = '1h'"

    /// Writes a row that came from another store, with hashes under this store's keys.
    @discardableResult
    func write(
        _ row: CarriedRow,
        of table: SealedTable,
        new: Int64? = nil,
        owner: Int64? = nil,
        derived: [Value]? = nil
    ) throws -> Int64 {
        let id = try write(
            table,
            id: nil,
            new: new,
            account: owner,
            clear: row.clear,
            sealed: row.sealed,
            derived: derived ?? row.derived
        )
        try rehash(id, of: owner ?? 0, in: table)
        return id
    }

    /// The owner that an entry of another store, about an account there, has here: the account's row, unless the account
    /// is gone or has another mark here.
    func owner(of event: CarriedRow, about account: Account.ID?) throws -> Int64? {
        let mark = zip(SealedTable.event.clear, event.clear).first { $0.0 == "account_mark" }?.1
        guard let mark, mark != .null else { return nil }
        guard let account, try self.mark(of: account).map(Value.blob) == mark else { return absentOwner }
        return try accountRow(account) ?? absentOwner
    }
}
