import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    static let account = SealedTable(
        "account",
        isOwned: false,
        clear: [
            "authority", "home_account_id", "account_key", "uid", "utid", "environment", "issuer", "username",
            "username_fold", "policy", "created_at", "last_used_at",
        ],
        sealed: ["name"]
    )
}

extension StoreConnection {
    /// The last sign-in, refresh or import of an account, in Unix seconds.
    func lastUse(ofAccount row: Int64) throws -> Int64? {
        try connection.integer("SELECT last_used_at FROM account WHERE id = ?1", .integer(row))
    }

    /// What sealed values of an account's rows are bound to of it.
    func boundValues(ofAccount row: Int64) throws -> [Value]? {
        try connection.first("SELECT authority, account_key FROM account WHERE id = ?1", .integer(row)) {
            [.text($0.text(0)), .text($0.text(1))]
        }
    }

    /// Adds the account, or updates its row; what is not known now stays as it was.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    ///
    /// `ask` is called with the row of one that is there, before anything else is asked about it.
    ///
    /// - Returns: its row, and whether it is new: of a new one there is nothing else in the store.
    func saveAccount(
        _ identity: AccountIdentity,
        _ account: AccountProfile,
        isHome: Bool,
        askingAhead ask: (Int64) throws -> Void
    ) throws -> (row: Int64, isNew: Bool) {
        let known = try accountRow(identity.id)
        if isWriting, presumption == nil { experience?.learn(isNewcomer: known == nil) }
        guard let id = known else { return (try insertAccount(identity, account), true) }
        try ask(id)
        let changed: Void? = try intact {
            try changeAccount(id) { row in
                row.take(account, isHome: isHome)
                row.lastUsedAt = now
            }
        }
        // An altered row cannot be trusted, and the sign-in says who the account is.
        if changed == nil { try write(AccountRow(identity, account, now: now), id: id) }
        return (id, false)
    }

    private func insertAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        let row = AccountRow(identity, account, now: now)
        let id = try write(.account, id: nil, new: newAccountRow(identity.id), clear: row.clear, sealed: row.sealed)
        newAccounts.insert(id)
        latestOwner = (id, [.text(identity.issuer), .text(identity.id.key)])
        if isWriting { lockedRows[identity.id] = id }
        let isBare = try !takeBackSignOuts(of: identity.id, row: id)
        bareAccount = isBare && isWriting ? id : nil
        return id
    }

    /// The row of the account, made if it is missing; in an existing row gaps are filled and nothing is replaced.
    func describeAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        guard let row = try accountRow(identity.id) else {
            // Of an import more entries follow.
            defer { bareAccount = nil }
            return try insertAccount(identity, account)
        }
        try changeAccount(row) { known in
            if known.username.isEmpty { known.username = account.username }
            known.policy = known.policy ?? account.policy
            known.issuer = known.issuer ?? account.issuer
        }
        return row
    }

    /// Gives an account the names of an imported row; empty ones change nothing.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    func nameAccount(_ row: Int64, username: String, name: String?, issuer: String? = nil, isHome: Bool) throws {
        try changeAccount(row) { known in
            known.issuer = issuer ?? known.issuer
            if !username.isEmpty, isHome || known.username.isEmpty { known.username = username }
            known.name = isHome ? name ?? known.name : known.name ?? name
        }
    }

    private static let row = SQL(SealedTable.account.selection + "WHERE t.id = ?1")

    /// Asks a server what ``changeAccount(_:_:)`` will ask.
    func askAheadForChange(ofAccount row: Int64) throws { try connection.askAhead(Self.row, .integer(row)) }

    /// Changes the row of an account, which must not have been altered, and seals it anew.
    func changeAccount(_ id: Int64, _ body: (inout AccountRow) throws -> Void) throws {
        let stored = try connection.first(Self.row, .integer(id)) { row in
            AccountRow(row, name: try accountName(row))
        }
        guard var row = stored else { return }
        let before = row
        try body(&row)
        if row != before { try write(row, id: id) }
    }

    private func write(_ row: AccountRow, id: Int64) throws {
        try write(.account, id: id, clear: row.clear, sealed: row.sealed)
    }

    /// The person's name, which is sealed in the proof of the row.
    private func accountName(_ row: Row) throws -> String? {
        guard !isWithoutKey else { return nil }
        let name = try openIfPresent(row, of: .account)?.reveal() ?? ""
        return name.isEmpty ? nil : name
    }

    private static let rows = SQL(SealedTable.account.selection)

    /// Makes sure that no row of an account was altered.
    func verifyAccounts() throws { try connection.walk(Self.rows) { try verify($0, of: .account) } }

    /// An account with its profiles, a row for each of them, and `further` columns.
    static func accountWithProfiles(and further: String? = nil) -> String {
        let profile = profileColumns(of: "p", account: "t")
        return SealedTable.account.selection(with: [profile, further].compactMap(\.self).joined(separator: ", "))
            + "LEFT JOIN tenant_profile p ON p.account_id = t.id WHERE t.id = ?1"
    }

    /// Where the further columns of ``accountWithProfiles(and:)`` begin.
    static var endOfAccountWithProfiles: CInt { SealedTable.account.end + endOfProfile }

    private static let rowWithProfiles = SQL(accountWithProfiles())

    /// Asks a server what ``account(_:)`` will ask.
    func askAheadForAccount(_ row: Int64) throws { try connection.askAhead(Self.rowWithProfiles, .integer(row)) }

    /// The account of a row.
    func account(_ row: Int64) throws -> Account? { try account(row, by: Self.rowWithProfiles) { _ in } }

    /// The account of a row by a statement that ``accountWithProfiles(and:)`` made; `body` gets the first row.
    func account(_ id: Int64, by statement: SQL, _ body: (Row) throws -> Void) throws -> Account? {
        var stored: AccountRow?
        var profiles = ProfileList()
        try connection.forEach(statement, .integer(id)) { row in
            if stored == nil {
                stored = AccountRow(row, name: try accountName(row))
                try body(row)
            }
            try add(row, from: SealedTable.account.end, to: &profiles)
        }
        return stored.map { Account($0, profiles: profiles.inOrder) }
    }

    /// The greatest id of a row; nil where there is none.
    func newestAccountRow() throws -> Int64? { try connection.integer("SELECT max(id) FROM account") }

    /// Whether the index that lists and counts come from names an account; it may be damaged where the table is not.
    func listsAccounts() throws -> Bool {
        guard !connection.isServer else { return try newestAccountRow() != nil }
        return try connection.integer(
            "SELECT EXISTS (SELECT 1 FROM account INDEXED BY account_username WHERE username_fold >= '')"
        ) != 0
    }

    /// Gives an account the names that the ID token of a refresh has, from the tenant of the request.
    func renameAccount(_ id: Int64, _ account: AccountProfile, tenant: String) throws {
        try changeAccount(id) { row in
            let isHome = row.utid.map { $0.folded == tenant || !Cloud.hasTenants(row.environment) } ?? true
            let (issuer, policy) = (row.issuer, row.policy)
            row.take(account, isHome: isHome)
            if !isHome { (row.issuer, row.policy) = (issuer ?? row.issuer, policy ?? row.policy) }
            row.lastUsedAt = now
        }
    }

    func touchAccount(_ row: Int64) throws { try changeAccount(row) { $0.lastUsedAt = now } }
}

extension Account {
    fileprivate init(_ row: AccountRow, profiles: [TenantProfile]) {
        self.init(
            id: Account.ID(issuer: row.authority, homeAccountID: row.homeAccountID),
            environment: row.environment,
            issuer: row.issuer,
            username: row.username,
            name: row.name,
            userFlow: row.policy,
            uid: row.uid,
            utid: row.utid,
            tenantProfiles: profiles
        )
    }
}

// MARK: - Without a key

extension Connection {
    /// How many accounts the database has.
    func accountCount() throws -> Int { Int(count: try integer("SELECT count(*) FROM account") ?? 0) }

    /// What people call the first accounts of the database, each with its user flow.
    func accountNames(limit: Int) throws -> [String] {
        try all(
            "SELECT username, home_account_id, coalesce(policy, '') FROM account ORDER BY id LIMIT ?1",
            .integer(Int64(limit))
        ) { PurgeCounts.name($0.text(0), $0.text(1), $0.text(2)) }
    }
}
