import OAuth
import SQL
import SQLite
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
    /// The row of an account, or nil.
    func accountRow(_ id: Account.ID) throws -> Int64? {
        try connection.integer(
            "SELECT id FROM account WHERE account_key = ?1 AND authority = ?2",
            .text(id.key),
            .text(id.issuer)
        )
    }

    /// The account of a row, or nil.
    func accountID(_ row: Int64) throws -> Account.ID? {
        try connection.first("SELECT authority, home_account_id FROM account WHERE id = ?1", .integer(row)) {
            Account.ID(issuer: $0.text(0), homeAccountID: $0.text(1))
        }
    }

    /// The host that an account signed in at, or nil.
    func environment(of id: Account.ID) throws -> String? {
        try connection.first(
            "SELECT environment FROM account WHERE account_key = ?1 AND authority = ?2",
            .text(id.key),
            .text(id.issuer)
        ) { $0.text(0) }
    }

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

    /// The authority of the one account of this name at a host, where a document itself does not tell the issuer.
    func knownAuthority(homeAccountID: String, environment: String) throws -> String? {
        let keys = Account.ID.keys(of: homeAccountID)
        let known = try connection.all(
            "SELECT authority FROM account WHERE account_key IN (?1, ?2) AND lower(environment) = ?3",
            .text(keys[0]),
            .text(keys[1]),
            .text(environment.folded)
        ) { $0.text(0) }
        return known.count == 1 ? known[0] : nil
    }

    /// Adds the account, or updates its row; what is not known now stays as it was.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    ///
    /// - Returns: its row, and whether it is new: of a new one there is nothing else in the store.
    func saveAccount(
        _ identity: AccountIdentity,
        _ account: AccountProfile,
        isHome: Bool
    ) throws -> (row: Int64, isNew: Bool) {
        guard let id = try accountRow(identity.id) else { return (try insertAccount(identity, account), true) }
        let changed: Void? = try intact {
            try changeAccount(id) { row in
                if !account.username.isEmpty, isHome || row.username.isEmpty { row.username = account.username }
                row.policy = account.policy ?? row.policy
                row.issuer = account.issuer ?? row.issuer
                row.name = isHome ? account.name ?? row.name : row.name ?? account.name
                row.lastUsedAt = now
            }
        }
        // An altered row cannot be trusted, and the sign-in says who the account is.
        if changed == nil { try write(AccountRow(identity, account, now: now), id: id) }
        return (id, false)
    }

    private func insertAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        let id = try nextID("SELECT max(id) FROM account")
        try write(AccountRow(identity, account, now: now), id: id)
        latestOwner = (id, [.text(identity.issuer), .text(identity.id.key)])
        try takeBackSignOuts(of: identity.id, row: id)
        return id
    }

    /// The row of the account, made if it is missing; in an existing row gaps are filled and nothing is replaced.
    func describeAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        guard let row = try accountRow(identity.id) else { return try insertAccount(identity, account) }
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
    func nameAccount(_ row: Int64, username: String, name: String?, isHome: Bool) throws {
        try changeAccount(row) { known in
            if !username.isEmpty, isHome || known.username.isEmpty { known.username = username }
            known.name = isHome ? name ?? known.name : known.name ?? name
        }
    }

    private static let row = SQL(SealedTable.account.selection + "WHERE t.id = ?1")

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
        try write(.account, id: id, clear: row.clear, sealed: [Secret(row.name ?? "")])
    }

    /// The person's name, which is sealed in the proof of the row.
    private func accountName(_ row: Row) throws -> String? {
        guard !isWithoutKey else { return nil }
        let name = try openIfPresent(row, of: .account)?.reveal() ?? ""
        return name.isEmpty ? nil : name
    }

    private static let rowOfID = SQL(
        SealedTable.account.selection + "WHERE t.account_key = ?1 AND t.authority = ?2"
    )

    /// Makes sure that the row of an account was not altered.
    func verifyAccount(_ id: Account.ID) throws {
        _ = try connection.first(Self.rowOfID, .text(id.key), .text(id.issuer)) { try verify($0, of: .account) }
    }

    private static let rows = SQL(SealedTable.account.selection)

    /// Makes sure that no row of an account was altered.
    func verifyAccounts() throws { try connection.forEach(Self.rows) { try verify($0, of: .account) } }

    /// The account of a row.
    func account(_ row: Int64) throws -> Account? {
        let profiles = try tenantProfiles(row)
        return try connection.first(Self.row, .integer(row)) { try account($0, profiles: profiles) }
    }

    /// Builds an account from a row that was selected with ``SealedTable/selection``.
    func account(_ row: Row, profiles: [TenantProfile]) throws -> Account {
        let stored = AccountRow(row, name: try accountName(row))
        return Account(
            id: Account.ID(issuer: stored.authority, homeAccountID: stored.homeAccountID),
            environment: stored.environment,
            issuer: stored.issuer,
            username: stored.username,
            name: stored.name,
            userFlow: stored.policy,
            uid: stored.uid,
            utid: stored.utid,
            tenantProfiles: profiles
        )
    }

    /// The marks of accounts, at most as many as the record of use has entries.
    func accountsByMark() throws -> [[UInt8]: Account.ID] {
        var accounts: [[UInt8]: Account.ID] = [:]
        try connection.forEach(
            "SELECT authority, home_account_id FROM account ORDER BY id DESC LIMIT ?1",
            .integer(StoreEvent.limit)
        ) { row in
            let id = Account.ID(issuer: row.text(0), homeAccountID: row.text(1))
            if let mark = try mark(of: id) { accounts[mark] = id }
        }
        return accounts
    }

    func touchAccount(_ row: Int64) throws { try changeAccount(row) { $0.lastUsedAt = now } }
}

/// The row of an account.
struct AccountRow: Equatable {
    let authority: String
    let homeAccountID: String
    let key: String
    let uid: String?
    let utid: String?
    let environment: String
    var issuer: String?
    var username: String
    var policy: String?
    var name: String?
    let createdAt: Int64

    /// The last sign-in, refresh or import.
    var lastUsedAt: Int64

    init(_ identity: AccountIdentity, _ account: AccountProfile, now: Int64) {
        authority = identity.issuer
        homeAccountID = identity.homeAccountID
        key = identity.id.key
        uid = identity.uid
        utid = identity.utid
        environment = identity.environment
        issuer = account.issuer
        username = account.username
        policy = account.policy ?? identity.userFlowOfUID
        name = account.name
        createdAt = now
        lastUsedAt = now
    }

    /// A row that was selected with ``SealedTable/selection``.
    init(_ row: Row, name: String?) {
        let columns = Self.columns
        authority = row.text(columns.authority)
        homeAccountID = row.text(columns.homeAccountID)
        key = row.text(columns.key)
        uid = row.optionalText(columns.uid)
        utid = row.optionalText(columns.utid)
        environment = row.text(columns.environment)
        issuer = row.optionalText(columns.issuer)
        username = row.text(columns.username)
        policy = row.optionalText(columns.policy)
        self.name = name
        createdAt = row.integer(columns.createdAt)
        lastUsedAt = row.integer(columns.lastUsedAt)
    }

    /// The columns by their names, looked up once: a list reads many rows.
    private struct Columns {
        let authority = SealedTable.account["authority"]
        let homeAccountID = SealedTable.account["home_account_id"]
        let key = SealedTable.account["account_key"]
        let uid = SealedTable.account["uid"]
        let utid = SealedTable.account["utid"]
        let environment = SealedTable.account["environment"]
        let issuer = SealedTable.account["issuer"]
        let username = SealedTable.account["username"]
        let policy = SealedTable.account["policy"]
        let createdAt = SealedTable.account["created_at"]
        let lastUsedAt = SealedTable.account["last_used_at"]
    }

    private static let columns = Columns()

    /// The columns that the row's proof is bound to.
    var clear: [Value] {
        [
            .text(authority), .text(homeAccountID), .text(key), .optional(uid), .optional(utid), .text(environment),
            .optional(issuer), .text(username), .text(username.folded), .optional(policy), .integer(createdAt),
            .integer(lastUsedAt),
        ]
    }
}

/// What the row of an account holds besides its identity.
struct AccountProfile {
    var username: String
    var policy: String?
    var issuer: String?
    var name: String?
}
