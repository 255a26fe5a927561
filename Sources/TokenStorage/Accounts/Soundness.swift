import Database
import OAuth

// One flipped bit makes an index of a file lose a row that its table still has. So before "there is none" has a
// consequence, the table is looked through without its indexes. That takes time by the size of a table: it is done only
// where something is missing or deleted, and not in a large file, where it would keep others waiting; there `check`
// tells.
//
// A server looks after its indexes itself.

extension StoreConnection {
    /// The pages of the largest file that is looked through, of four kibibytes each: some 1,000 accounts, and 3 ms.
    private static let mostPages: Int64 = 2_048

    private func looksThrough() throws -> Bool {
        guard !connection.isServer else { return false }
        return try connection.integer("PRAGMA page_count") ?? 0 <= Self.mostPages
    }

    /// Makes sure that "no account" is not the sight of a damaged file.
    func requireSoundness() throws {
        guard !connection.isServer else { return }
        let isVacant = try newestAccountRow() == 0
        guard try !isVacant && listsAccounts() else {
            return try requireNone(connection.integrityProblems(quick: isVacant))
        }
        guard try looksThrough() else { return }
        for table in [SealedTable.account, .tenantProfile] {
            try requireNone(connection.integrityProblems(ofTable: table.name).filter(Self.isLostEntry))
        }
    }

    /// What was found, which is nothing only in a sound file.
    func sound<Found>(_ found: [Found]) throws -> [Found] {
        if found.isEmpty { try requireSoundness() }
        return found
    }

    /// The row of an account; nil only where the table has none.
    func confirmedAccountRow(_ id: Account.ID) throws -> Int64? {
        if let row = try accountRow(id) { return row }
        guard try looksThrough() else { return nil }
        let isThere = try scanned {
            try connection.first(
                "SELECT 1 FROM account NOT INDEXED WHERE account_key = ?1 AND authority = ?2",
                .text(id.key),
                .text(id.issuer)
            ) { _ in true }
        }
        if isThere ?? false { throw lostEntry(of: .account) }
        return nil
    }

    /// Makes sure, before accounts or what clients have of them are deleted, or "no token" is an answer, that no index
    /// has lost tokens of theirs: they would stay in the file, and would not be revoked.
    func requireAllTokensFound(of rows: [Int64]) throws {
        guard try !rows.isEmpty && looksThrough() else { return }
        for table in [SealedTable.refreshToken, .accessToken, .idToken] {
            let found = try connection.prepare("SELECT count(*) FROM \(table.name) WHERE account_id = ?1")
            for (row, count) in try tokenCounts(in: table, of: rows) {
                guard try found.first([.integer(row)], { $0.integer(0) }) == count else { throw lostEntry(of: table) }
            }
        }
    }

    /// How many tokens of each account a table has, without asking its indexes; accounts without any are left out.
    private func tokenCounts(in table: SealedTable, of rows: [Int64]) throws -> [Int64: Int64] {
        let wanted = Set(rows)
        let statement = try connection.prepare(
            """
            SELECT account_id, count(*) FROM \(table.name) NOT INDEXED
            WHERE account_id BETWEEN ?1 AND ?2 GROUP BY account_id
            """
        )
        return try scanned {
            var counts: [Int64: Int64] = [:]
            try statement.forEachRow([.integer(wanted.min() ?? 0), .integer(wanted.max() ?? 0)]) {
                if wanted.contains($0.integer(0)) { counts[$0.integer(0)] = $0.integer(1) }
            }
            return counts
        } ?? [:]
    }

    /// What a scan of a table finds; nil where it meets a damaged page, which may be about others.
    private func scanned<Found>(_ scan: () throws -> Found?) throws -> Found? {
        do {
            return try scan()
        } catch let error as SQLiteError where error.code.primary == .corrupt {
            return nil
        }
    }

    private func lostEntry(of table: SealedTable) -> TokenStoreError {
        .damaged("\(path.database) is damaged (an index has lost a row of \(table.name))", .repair)
    }

    private func requireNone(_ problems: [String]) throws {
        guard let problem = problems.first else { return }
        throw TokenStoreError.damaged("\(path.database) is damaged (\(problem))", .repair)
    }

    /// Whether a problem makes "none" untrue; of others `check` tells.
    private static func isLostEntry(_ problem: String) -> Bool {
        ["missing from index", "wrong # of entries in index"].contains { problem.firstRange(of: $0) != nil }
    }
}
