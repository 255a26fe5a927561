import Database
import SQL

/// The sign-ins of a damaged database that are not in the one made of it.
///
/// The indexes of accounts and refresh tokens are on separate pages: they still name what a lost page held. These
/// statements read two files at once, one of which may be damaged, and therefore stand here and not in `Tables`.
struct LostSignIns {
    private let damaged: Connection
    private let fresh: Connection
    private let keptAccount: Statement
    private var found: [LostSignIn] = []
    private var isComplete = true

    /// The sign-ins that are lost, and whether the indexes could be read to their ends, so that no other is.
    ///
    /// Where `lacksTokens`, refresh tokens are missing in the new database. If the index does not name them either,
    /// every client that has had something else of an account counts, and none of its refresh tokens.
    static func found(
        in damaged: Connection,
        since fresh: Connection,
        lacksTokens: Bool
    ) throws -> ([LostSignIn], isComplete: Bool) {
        let lost = try LostSignIns(damaged, fresh, lacksTokens)
        return (lost.found, lost.isComplete)
    }

    fileprivate struct Account {
        var username: String?
        var homeAccountID: String?
        var authority: String?
    }

    /// What the client with this folded id had of a kept account.
    private struct Session: Hashable {
        let account: Int64
        let client: String
    }

    private init(_ damaged: Connection, _ fresh: Connection, _ lacksTokens: Bool) throws {
        self.damaged = damaged
        self.fresh = fresh
        keptAccount = try fresh.prepare("SELECT 1 FROM account WHERE id = ?1")
        let accounts = try lostAccounts()
        try findLostTokens(accounts, lacksTokens)
    }

    /// The accounts that an index names and the new database does not have.
    private mutating func lostAccounts() throws -> [Int64: Account] {
        var lost: [Int64: Account] = [:]
        // Before schema version 11 the column had another name.
        let hasKey = (try? damaged.prepare("SELECT account_key FROM account")) != nil
        let key = hasKey ? "account_key" : "home_account_fold"
        let ids = "SELECT id, \(key), authority FROM account ORDER BY \(key), authority"
        note(
            try scan(ids) { row in
                guard try keptAccount.isEmpty(row.integer(0)) else { return }
                // The exact id follows the folded one where they differ.
                let id = row.text(1).split(separator: "\u{1F}").last.map(String.init)
                lost[row.integer(0)] = Account(homeAccountID: id, authority: row.text(2))
            }
        )
        note(
            try scan("SELECT id, username_fold FROM account ORDER BY username_fold") { row in
                guard try keptAccount.isEmpty(row.integer(0)) else { return }
                lost[row.integer(0), default: Account()].username = row.text(1).isEmpty ? nil : row.text(1)
            }
        )
        return lost
    }

    /// The sessions of kept accounts whose last refresh token is lost; the accounts that are lost altogether.
    private mutating func findLostTokens(_ accounts: [Int64: Account], _ lacksTokens: Bool) throws {
        let isKept = try fresh.prepare("SELECT 1 FROM refresh_token WHERE account_id = ?1 AND client_fold = ?2")
        // A row that was saved says itself whose it is, whatever an index says.
        let isSaved = try fresh.prepare("SELECT 1 FROM refresh_token WHERE id = ?1")
        var accounts = accounts
        var sessions: Set<Session> = []
        let tokens = "SELECT account_id, client_fold, id FROM refresh_token ORDER BY account_id, client_fold"
        let isWhole =
            try scan(tokens) { row in
                guard try isSaved.isEmpty(row.integer(2)) else { return }
                let owner = row.integer(0)
                if try keptAccount.isEmpty(owner) {
                    accounts[owner] = accounts[owner] ?? Account()
                } else if try isKept.isEmpty(owner, .text(row.text(1))) {
                    sessions.insert(Session(account: owner, client: row.text(1)))
                }
            }
        note(isWhole)
        sessions.formUnion(try lostKeys())
        let certain = sessions
        if !isWhole, lacksTokens { sessions.formUnion(try sessionsWithoutToken()) }
        for (_, account) in accounts.sorted(by: { $0.key < $1.key }) {
            found.append(LostSignIn(account, client: nil, isCertain: true))
        }
        for session in sessions {
            let account = try fresh.first(
                "SELECT username, home_account_id, authority FROM account WHERE id = ?1",
                .integer(session.account)
            ) { Account(username: $0.text(0), homeAccountID: $0.text(1), authority: $0.text(2)) }
            guard let account else { continue }
            found.append(LostSignIn(account, client: session.client, isCertain: certain.contains(session)))
        }
        found.sort { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }

    /// The sessions of the new database that have no refresh token, neither their own nor one of a family.
    private func sessionsWithoutToken() throws -> [Session] {
        let sessions: StaticString = """
            SELECT account_id, client_fold FROM (
                SELECT account_id, client_fold FROM access_token WHERE account_id IS NOT NULL
                UNION SELECT account_id, client_fold FROM id_token
                UNION SELECT account_id, client_fold FROM account_state WHERE state = 'signed_in'
            ) t WHERE NOT EXISTS (
                SELECT 1 FROM refresh_token r WHERE r.account_id = t.account_id
                    AND (r.client_fold = t.client_fold OR coalesce(r.family_id, '') <> '')
            )
            """
        return try fresh.all(sessions) { Session(account: $0.integer(0), client: $0.text(1)) }
    }

    /// The sessions of kept accounts whose DPoP key is lost, without which their refresh tokens are of no use.
    private mutating func lostKeys() throws -> Set<Session> {
        // Before schema version 12 there were none.
        let keys = "SELECT account_id, client_fold, id FROM dpop_key ORDER BY account_id, client_fold"
        guard (try? damaged.prepare(keys)) != nil else { return [] }
        let isKept = try fresh.prepare("SELECT 1 FROM dpop_key WHERE account_id = ?1 AND client_fold = ?2")
        let isSaved = try fresh.prepare("SELECT 1 FROM dpop_key WHERE id = ?1")
        var sessions: Set<Session> = []
        note(
            try scan(keys) { row in
                guard try isSaved.isEmpty(row.integer(2)) else { return }
                let owner = row.integer(0)
                guard try !keptAccount.isEmpty(owner), try isKept.isEmpty(owner, .text(row.text(1))) else { return }
                sessions.insert(Session(account: owner, client: row.text(1)))
            }
        )
        return sessions
    }

    private mutating func note(_ isWhole: Bool) { isComplete = isComplete && isWhole }

    /// - Returns: whether all rows could be read; an error of `body` is thrown.
    private func scan(_ sql: String, _ body: (Row) throws -> Void) throws -> Bool {
        guard let statement = try? damaged.prepare(sql) else { return false }
        var failure: (any Error)?
        do {
            try statement.forEach([]) { row in
                do {
                    try body(row)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch {
            // Damage is what is expected here.
            return false
        }
        if let failure { throw failure }
        return true
    }
}

extension LostSignIn {
    fileprivate init(_ account: LostSignIns.Account, client: String?, isCertain: Bool) {
        self.init(
            username: account.username.flatMap { $0.isEmpty ? nil : $0 },
            homeAccountID: account.homeAccountID,
            authority: account.authority,
            clientID: client,
            isCertain: isCertain
        )
    }

    fileprivate var sortKey: [String] { [username, homeAccountID, authority, clientID].map { $0 ?? "" } }
}

extension Statement {
    fileprivate func isEmpty(_ id: Int64, _ values: Value...) throws -> Bool {
        try first([.integer(id)] + values) { _ in true } == nil
    }
}
