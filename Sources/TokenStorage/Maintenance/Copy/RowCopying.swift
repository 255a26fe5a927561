import Database
import OAuth
import SQL
import Sealing

/// A row on its way from one store to another: opened, and no longer bound to its place.
private struct CarriedRow {
    let id: Int64
    let owner: Int64
    let clear: [Value]
    let sealed: [Secret?]
    let derived: [Value]

    init(_ row: Row, of table: SealedTable, by session: StoreConnection) throws {
        (id, owner) = (row.integer(0), row.integer(1))
        clear = table.clear.map { row.value(table[$0]) }
        sealed = try table.sealed.indices.map { try session.openIfPresent(row, of: table, $0) }
        derived = table.derived.map { row.value(table[$0]) }
    }
}

/// Some accounts with everything they own.
private struct CarriedPage {
    var accounts: [(id: Account.ID, row: CarriedRow)] = []
    var rows: [(table: SealedTable, rows: [CarriedRow])] = []
    var attempts: [CarriedRow] = []
}

/// Reads the rows of one store and writes them to another, which gives them new places and seals them anew.
final class RowCopying {
    private let source: StoreConnection
    private let target: TokenStore

    /// The rows that accounts got in the target, by those of the source.
    private var places: [Int64: Int64] = [:]

    init(from source: StoreConnection, to target: TokenStore) {
        (self.source, self.target) = (source, target)
    }

    /// What the two stores have the same number of: what ends by itself may have ended meanwhile.
    static let comparedTables = SealedTable.all.filter {
        !["event", "issuer_document", "throttle", "refresh_attempt"].contains($0.name)
    }

    /// One transaction of the target each: few enough that nobody waits long, many enough that commits cost little.
    private static let pageSize = 64

    private static let ownedTables = SealedTable.all.filter(\.isOwned)

    // MARK: Accounts

    func copyAccounts(_ progress: TokenStore.ProgressHandler?) throws {
        try copyMarkKey()
        let total = try source.rowCount([.account])
        let count = RowProgress(progress, total: total, unit: "accounts", step: 1)
        try count.start()
        var last: Int64 = 0
        while true {
            let page = try nextPage(after: last)
            guard let end = page.accounts.last else { break }
            let found = try target.write { session in try self.write(page, by: session) }
            places.merge(found) { $1 }
            last = end.row.id
            try count.advance(by: page.accounts.count)
        }
        try count.end()
    }

    private static let accountPage = SQL(
        SealedTable.account.selection + "WHERE t.id > ?1 ORDER BY t.id LIMIT \(pageSize)"
    )

    /// Owned rows, by the table's place among ``ownedTables``.
    private static let ownedRows = ownedTables.map {
        SQL($0.selection + "WHERE t.account_id BETWEEN ?1 AND ?2 ORDER BY t.account_id, t.id")
    }

    private static let attempts = SQL(
        SealedTable.refreshAttempt.selection
            + "WHERE t.id IN (SELECT r.id FROM refresh_token r WHERE r.account_id BETWEEN ?1 AND ?2)"
    )

    private func nextPage(after last: Int64) throws -> CarriedPage {
        var page = CarriedPage()
        let table = SealedTable.account
        page.accounts = try source.connection.all(Self.accountPage, .integer(last)) { row in
            let id = Account.ID(issuer: row.text(table["authority"]), homeAccountID: row.text(table["home_account_id"]))
            return (id, try CarriedRow(row, of: table, by: source))
        }
        guard let first = page.accounts.first, let end = page.accounts.last else { return page }
        let range = (Value.integer(first.row.id), Value.integer(end.row.id))
        for (table, sql) in zip(Self.ownedTables, Self.ownedRows) {
            let rows = try source.connection.all(sql, range.0, range.1) { try CarriedRow($0, of: table, by: source) }
            if !rows.isEmpty { page.rows.append((table, rows)) }
        }
        page.attempts = try source.connection.all(Self.attempts, range.0, range.1) {
            try CarriedRow($0, of: .refreshAttempt, by: source)
        }
        return page
    }

    /// - Returns: the rows of the accounts; one that is there already came with everything it owns.
    private func write(_ page: CarriedPage, by session: StoreConnection) throws -> [Int64: Int64] {
        var (places, new): ([Int64: Int64], [Int64: Int64]) = ([:], [:])
        for (id, row) in page.accounts {
            if let known = try session.accountRow(id) {
                places[row.id] = known
            } else {
                new[row.id] = try session.write(row, of: .account, new: session.newAccountRow(id))
            }
        }
        var tokens: [Int64: (id: Int64, owner: Int64)] = [:]
        for (table, rows) in page.rows {
            for row in rows {
                guard let owner = new[row.owner] else { continue }
                // There is one default account.
                let id = try session.write(row, of: table, new: table.name == "default_account" ? 1 : nil, owner: owner)
                if table.name == "refresh_token" { tokens[row.id] = (id, owner) }
            }
        }
        for row in page.attempts {
            guard let token = tokens[row.id] else { continue }
            try session.write(row, of: .refreshAttempt, new: token.id, owner: token.owner)
        }
        return places.merging(new) { $1 }
    }

    // MARK: What belongs to no account

    private static let looseTables: [(table: SealedTable, sql: SQL)] =
        [SealedTable.appMetadata, .foreignEntry, .issuerDocument, .signOut].map {
            ($0, SQL($0.selection(after: "?1")))
        }

    private static let markKeys = SQL(SealedTable.markKey.selection(after: "?1"))

    /// The hashes of accounts in the record of use stay what they are.
    private func copyMarkKey() throws {
        let keys = try rows(of: .markKey, Self.markKeys)
        try target.write { session in
            guard let key = keys.first, try session.rowCount([.markKey]) == 0 else { return }
            try session.write(key, of: .markKey, new: 1)
        }
    }

    /// Copies the rest in one transaction, unless a record of use with this outcome says that it was.
    func copyRest(unless outcome: String, _ progress: TokenStore.ProgressHandler?) throws {
        let ownTokens = try source.connection.all(Self.ownTokens) {
            try CarriedRow($0, of: .accessToken, by: source)
        }
        let loose = try Self.looseTables.map { ($0.table, try rows(of: $0.table, $0.sql)) }
        let events = try events()
        try target.write { session in
            // Of two that copy the same at once one finds it done.
            try session.lockForManyAccounts()
            guard try !session.hasMoved(outcome) else { return }
            for row in ownTokens { try session.write(row, of: .accessToken) }
            for (table, rows) in loose {
                for row in rows { try session.write(row, of: table) }
            }
            for event in events {
                let owner = event.owner.flatMap { self.places[$0] }
                try session.write(event.row, of: .event, derived: [session.owner(owner)])
            }
            try session.record(.move, outcome: outcome)
        }
    }

    private static let ownTokens = SQL { dialect in
        SealedTable.accessToken.selection + "WHERE "
            + dialect.owner("t.account_id", is: dialect == .sqlite ? "NULL" : "0")
    }

    private func rows(of table: SealedTable, _ sql: SQL) throws -> [CarriedRow] {
        try source.connection.all(sql, .integer(Int64.min)) {
            try CarriedRow($0, of: table, by: source)
        }
    }

    private static let events = SQL(SealedTable.event.selection + "ORDER BY t.id DESC LIMIT \(StoreEvent.limit)")

    /// The newest entries of the record of use, oldest first; what was altered is left out, as it counts for nothing.
    private func events() throws -> [(row: CarriedRow, owner: Int64?)] {
        let account = SealedTable.event["account_id"]
        return try source.connection.all(Self.events) { row in
            guard try source.isIntact(row, of: .event) else { return nil }
            return (try CarriedRow(row, of: .event, by: source), row.optionalInteger(account))
        }.compactMap(\.self).reversed()
    }
}

extension StoreConnection {
    /// Writes a row that came from another store, with the hashes that hang on this store's keys.
    @discardableResult
    fileprivate func write(
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

    /// Whether the record of use says of a copy that it came so far.
    func hasMoved(_ outcome: String) throws -> Bool {
        try eventKinds(ofOutcome: outcome).contains(.move)
    }
}
