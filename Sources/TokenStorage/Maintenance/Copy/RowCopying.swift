import Database
import OAuth
import SQL
import Sealing

/// Reads the rows of one store and writes them to another, which gives them new places and seals them anew.
///
/// Programs may write to the target meanwhile. What they have there stays as it is, and what they have deleted there
/// does not come back.
final class RowCopying {
    private let source: StoreConnection
    private let target: TokenStore

    /// How far the copy was in the last transaction of the target.
    private(set) var mark: CopyMark

    /// How many accounts stayed as programs had made them in the target meanwhile.
    private(set) var leftAlone = 0

    init(from source: StoreConnection, to target: TokenStore, after mark: CopyMark) {
        (self.source, self.target, self.mark) = (source, target, mark)
    }

    /// One transaction of the target each: few enough that other writers do not wait long, many enough that commits
    /// cost little.
    private static let pageSize = 64

    private static let ownedTables = SealedTable.all.filter(\.isOwned)

    // MARK: Accounts

    func copyAccounts(_ progress: TokenStore.ProgressHandler?) throws {
        if mark.last < .max { try copyMarkKey() }
        let total = try source.rowCount([.account])
        let count = RowProgress(progress, total: total, unit: "accounts", step: 1)
        try count.start()
        if mark.last > 0 { try count.advance(by: accountCount(through: mark.last)) }
        while true {
            let page = try source.connection.read { try nextPage(after: mark.last) }
            guard !page.accounts.isEmpty else { break }
            let skipped: Int
            (mark, skipped) = try target.write { session in try self.write(page, by: session) }
            leftAlone += skipped
            try count.advance(by: page.accounts.count)
        }
        try count.end()
    }

    private func accountCount(through row: Int64) throws -> Int {
        Int(count: try source.connection.integer("SELECT count(*) FROM account WHERE id <= ?1", .integer(row)) ?? 0)
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

    /// Writes the accounts of a page that the copy has not come to, with everything they own.
    ///
    /// - Returns: how far the copy is then, and how many accounts it left alone.
    private func write(_ page: CarriedPage, by session: StoreConnection) throws -> (mark: CopyMark, leftAlone: Int) {
        // Of two that copy the same at once one finds it done.
        try session.lockForManyAccounts()
        let mark = try session.current(self.mark)
        guard let end = page.accounts.last, mark.last < end.row.id else { return (mark, 0) }
        let used = try session.accountMarks(since: mark)
        var new: [Int64: Int64] = [:]
        let accounts = page.accounts.filter { $0.row.id > mark.last }
        for (id, row) in accounts {
            // A program has signed it in or out there meanwhile, which is the newer.
            let isUsed = try !used.isEmpty && session.mark(of: id).map { used.contains($0) } ?? false
            guard try !isUsed && session.accountRow(id) == nil else { continue }
            new[row.id] = try session.write(row, of: .account, new: session.newAccountRow(id))
        }
        let counts = try write(page, of: new, by: session)
        try requireCounts(counts, of: new.values.sorted(), by: session)
        return (try session.advance(mark, to: end.row.id), accounts.count - new.count)
    }

    /// Writes what the `new` accounts own, which are given with their rows in the target.
    ///
    /// - Returns: how many rows of each table it wrote.
    private func write(
        _ page: CarriedPage,
        of new: [Int64: Int64],
        by session: StoreConnection
    ) throws -> [String: Int] {
        var tokens: [Int64: (id: Int64, owner: Int64)] = [:]
        var counts: [String: Int] = [:]
        for (table, rows) in page.rows {
            let isDefault = table === SealedTable.defaultAccount
            // There is one default account.
            if isDefault, try session.rowCount([table]) ?? 0 > 0 { continue }
            for row in rows {
                guard let owner = new[row.owner] else { continue }
                let id = try session.write(row, of: table, new: isDefault ? 1 : nil, owner: owner)
                if table === SealedTable.refreshToken { tokens[row.id] = (id, owner) }
                counts[table.name, default: 0] += 1
            }
        }
        for row in page.attempts {
            guard let token = tokens[row.id] else { continue }
            try session.write(row, of: .refreshAttempt, new: token.id, owner: token.owner)
        }
        return counts
    }

    /// Compares how much accounts own with how much was written, while no other process can change them.
    private func requireCounts(_ counts: [String: Int], of accounts: [Int64], by session: StoreConnection) throws {
        guard !accounts.isEmpty else { return }
        let rows = accounts.map(String.init).joined(separator: ", ")
        for table in Self.ownedTables {
            let wanted = counts[table.name] ?? 0
            let count = try session.connection.prepare(
                "SELECT count(*) FROM \(table.name) WHERE account_id IN (\(rows))"
            )
            let found = try count.first([]) { Int(count: $0.integer(0)) } ?? 0
            guard wanted == found else {
                throw TokenStoreError.damaged(
                    "\(target.location) took \(found) rows of \(table.name) for \(wanted), and none of them was kept",
                    .retry
                )
            }
        }
    }

    // MARK: What belongs to no account

    /// A table of it, and what tells whether the target has a row already.
    private struct LooseTable {
        let table: SealedTable
        let all: SQL
        let key: [String]
        let known: SQL?

        init(_ table: SealedTable, key: [String] = []) {
            (self.table, self.key) = (table, key)
            all = SQL(table.selection(after: "?1"))
            let conditions = key.enumerated().map { "\($1) = ?\($0 + 1)" }
            known =
                key.isEmpty
                ? nil : SQL("SELECT 1 FROM \(table.name) WHERE " + conditions.joined(separator: " AND "))
        }

        func isKnown(_ row: CarriedRow, to session: StoreConnection) throws -> Bool {
            guard let known else { return false }
            let values = Dictionary(zip(table.clear, row.clear)) { first, _ in first }
            return try session.connection.integer(known, key.compactMap { values[$0] }) != nil
        }
    }

    /// Of an entry of an import that both have, its new hash decides, when it is written.
    private static let looseTables = [
        LooseTable(.appMetadata, key: ["client_fold", "environment"]), LooseTable(.foreignEntry),
        LooseTable(.issuerDocument, key: ["url"]), LooseTable(.signOut, key: ["account_mark", "client_fold"]),
    ]

    private static let markKeys = SQL(SealedTable.markKey.selection(after: "?1"))

    /// With it the hashes of accounts in the record of use, and of sign-outs of accounts that are gone, stay what they
    /// are.
    private func copyMarkKey() throws {
        let keys = try source.connection.all(Self.markKeys, .integer(Int64.min)) {
            try CarriedRow($0, of: .markKey, by: source)
        }
        let mark = self.mark
        try target.write { session in
            guard let key = keys.first, try session.givesUpMarkKey(since: mark) else { return }
            try session.write(key, of: .markKey, new: 1)
        }
    }

    /// Copies the rest in one transaction, unless that was done before.
    func copyRest() throws {
        let (ownTokens, tables, events) = try source.connection.read { try rest() }
        mark = try target.write { session in
            try session.lockForManyAccounts()
            let mark = try session.current(self.mark)
            guard mark.last < .max else { return mark }
            for row in ownTokens { try session.write(row, of: .accessToken) }
            for (loose, rows) in tables {
                for row in rows where try !loose.isKnown(row, to: session) { try session.write(row, of: loose.table) }
            }
            for event in events {
                let owner = try session.owner(of: event.row, about: event.account)
                try session.write(event.row, of: .event, derived: [session.owner(owner)])
            }
            return try session.advance(mark, to: .max)
        }
    }

    private typealias Rest = (
        ownTokens: [CarriedRow], tables: [(LooseTable, [CarriedRow])],
        events: [(row: CarriedRow, account: Account.ID?)]
    )

    private func rest() throws -> Rest {
        let ownTokens = try source.connection.all(Self.ownTokens) {
            try CarriedRow($0, of: .accessToken, by: source)
        }
        let tables = try Self.looseTables.map { loose in
            let rows = try source.connection.all(loose.all, .integer(Int64.min)) {
                try CarriedRow($0, of: loose.table, by: source)
            }
            return (loose, rows)
        }
        return (ownTokens, tables, try events())
    }

    private static let ownTokens = SQL { dialect in
        SealedTable.accessToken.selection + "WHERE "
            + dialect.owner("t.account_id", is: dialect == .sqlite ? "NULL" : "0")
    }

    private static let events = SQL(SealedTable.event.selection + "ORDER BY t.id DESC LIMIT \(StoreEvent.limit)")

    /// The newest entries of the record of use, oldest first; what was altered is left out, as it counts for nothing.
    ///
    /// So is what was copied to the source: in the target it would say that it was copied to there.
    private func events() throws -> [(row: CarriedRow, account: Account.ID?)] {
        let table = SealedTable.event
        let found = try source.connection.all(Self.events) { row -> (row: CarriedRow, owner: Int64?)? in
            let isMark =
                row.text(table["kind"]) == StoreEvent.Kind.move.rawValue
                && CopyMark.isOutcome(row.text(table["outcome"]))
            guard try !isMark && source.isIntact(row, of: table) else { return nil }
            return (try CarriedRow(row, of: table, by: source), row.optionalInteger(table["account_id"]))
        }.compactMap(\.self)
        var accounts: [Int64: Account.ID] = [:]
        for owner in Set(found.compactMap { $0.owner }) { accounts[owner] = try source.accountID(owner) }
        return found.reversed().map { ($0.row, $0.owner.flatMap { accounts[$0] }) }
    }
}
