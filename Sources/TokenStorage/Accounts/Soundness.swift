import Database
import OAuth
import SQL

// One flipped bit makes an index of a file lose a row that its table still has. So before "there is none" has a
// consequence, the tables concerned are looked through, with every entry of their indexes. That takes time by the size
// of a table, and is done where something is missing only, once for each commit of others, and not in a large file,
// where it would keep others waiting: there `check` tells.
//
// A server looks after its indexes itself.

extension StoreConnection {
    /// Makes sure that "no account" is not the sight of a damaged file.
    func requireSoundness() throws {
        guard !connection.isServer else { return }
        let isVacant = try newestAccountRow() == 0
        let isListed = try listsAccounts()
        guard isVacant || !isListed else { return try requireSound([.account, .tenantProfile]) }
        try requireNone(connection.integrityProblems(quick: isVacant))
    }

    /// What was found, which is nothing only in a sound file.
    func sound<Found>(_ found: [Found]) throws -> [Found] {
        if found.isEmpty { try requireSoundness() }
        return found
    }

    /// The row of an account; nil only where a sound file has none.
    func confirmedAccountRow(_ id: Account.ID) throws -> Int64? {
        if let row = try accountRow(id) { return row }
        try requireSoundness()
        return nil
    }

    /// Makes sure that "no tokens" is not the sight of a damaged file.
    func requireSoundTokens() throws { try requireSound(Self.tokenTables) }

    /// Makes sure that "no token that is good to use or gets one" of an account is not the sight of a damaged file.
    func requireNoUsableToken(of account: Account.ID) throws {
        if try confirmedAccountRow(account) != nil { try requireSound([.refreshToken, .accessToken]) }
    }

    private static let tokenTables: [SealedTable] = [.refreshToken, .accessToken, .idToken]

    /// The clients of an account, folded, as the index of each of these tables names them.
    private static let clientsOfTokens = tokenTables.map {
        SQL("SELECT client_fold FROM \($0.name) WHERE account_id = ?1")
    }

    /// Makes sure, before accounts or what clients have of them are deleted, that no index has lost tokens of theirs,
    /// which would stay in the file and would not be revoked.
    ///
    /// In the usual case it reads no table: each client that is known of an account has tokens of each kind. So it does
    /// not notice a token that an index has lost beside another of the same kind and client, nor a row without a token.
    func requireAllTokensFound(of rows: [Int64]) throws {
        guard !connection.isServer else { return }
        var doubtful = Set<String>()
        for row in rows where doubtful.count < Self.tokenTables.count {
            let clients = try Self.clientsOfTokens.map { Set(try connection.all($0, .integer(row)) { $0.text(0) }) }
            let known = try clients.reduce(into: Set(signedInClients(row))) { $0.formUnion($1) }
            for (table, found) in zip(Self.tokenTables, clients) where known.isEmpty || found != known {
                doubtful.insert(table.name)
            }
        }
        try requireSound(Self.tokenTables.filter { doubtful.contains($0.name) })
    }

    /// The pages of the largest file that is looked through, of four kibibytes each: some 5,000 accounts, and 30 ms.
    private static let mostPages: Int64 = 4_096

    /// Looks through tables and their indexes, unless that was done since the last commit of another connection.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged``.
    private func requireSound(_ tables: [SealedTable]) throws {
        guard !connection.isServer, !tables.isEmpty else { return }
        guard try connection.integer("PRAGMA page_count") ?? 0 <= Self.mostPages else { return }
        let version = try connection.dataVersion()
        if soundTables.version != version { soundTables = (version, []) }
        for table in tables where !soundTables.names.contains(table.name) {
            try requireNone(connection.integrityProblems(ofTable: table.name))
            soundTables.names.insert(table.name)
        }
    }

    private func requireNone(_ problems: [String]) throws {
        guard let problem = problems.first else { return }
        throw TokenStoreError.damaged("\(path.database) is damaged (\(problem))", .repair)
    }
}
