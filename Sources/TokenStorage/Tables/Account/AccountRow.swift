import Database
import OAuth
import Sealing

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

    /// Takes over what a new ID token says; a tenant that the account is a guest of only fills gaps of its names.
    mutating func take(_ account: AccountProfile, isHome: Bool) {
        if !account.username.isEmpty, isHome || username.isEmpty { username = account.username }
        policy = account.policy ?? policy
        issuer = account.issuer ?? issuer
        name = isHome ? account.name ?? name : name ?? account.name
    }

    /// The name is in the row's proof.
    var sealed: [Secret?] { [Secret(name ?? "")] }

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
    let username: String
    let policy: String?
    let issuer: String?
    let name: String?

    /// What cannot be stored is left out: it describes the account, and does not tell which it is.
    init(username: String, policy: String?, issuer: String?, name: String?) {
        self.username = username.keyFlaw == nil ? username : ""
        self.policy = policy.flatMap { $0.keyFlaw == nil ? $0 : nil }
        self.issuer = issuer.flatMap { $0.keyFlaw == nil ? $0 : nil }
        self.name = name
    }
}
