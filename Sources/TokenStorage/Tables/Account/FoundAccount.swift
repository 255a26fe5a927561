import Database
import OAuth
import SQL

/// An account that an index has found, as its rows themselves say it.
///
/// An index finds rows, and does not decide: it is not sealed.
private struct FoundAccount {
    let authority: String
    let homeAccountID: String
    let key: String
    let environment: String
    let issuer: String?
    let username: String
    let policy: String?
    let profiles: [(tenant: String, localAccountID: String?)]

    /// Whether a folded id is the account's, however it is spelled.
    func isCalled(_ id: String) -> Bool {
        key.hasSameBytes(as: id) || key.utf8.starts(with: (id + Account.ID.separator).utf8)
    }

    /// Whether a folded name is the account's user name, or its id in a tenant.
    func isNamed(_ name: String) -> Bool {
        !name.isEmpty && username.hasSameBytes(as: name) || hasLocalID(name)
    }

    func hasLocalID(_ id: String) -> Bool { profiles.contains { $0.localAccountID?.hasSameBytes(as: id) ?? false } }

    func isOf(_ other: String) -> Bool {
        if issuer?.hasSameBytes(as: other) ?? false || authority.hasSameBytes(as: other) { return true }
        guard !other.isIssuer else { return false }
        return authority.hasSameBytes(as: Cloud.group(of: other)) || environment.folded.hasSameBytes(as: other.folded)
    }

    /// Whether the account is called so letter by letter; or otherwise, where a person may have meant that.
    func isCalledExactly(_ id: String, or criterion: AccountCriterion) -> Bool {
        let isKey = Account.ID.keys(of: id).contains { $0.hasSameBytes(as: key) }
        if isKey, homeAccountID.hasSameBytes(as: id) { return true }
        guard case .identifier(let text) = criterion else { return false }
        return isNamed(text) && !isCalled(text)
    }
}

extension AccountCriterion {
    /// Whether an index may have answered it from what is in the rows of accounts and tenants as well.
    var isInRows: Bool {
        switch self {
        case .identifier, .exactly, .unlessExactly, .identifierPrefix, .username, .homeAccountID, .localAccountID,
            .userFlow, .tenant, .issuer:
            true
        case .client, .claim, .tag, .unusedSince, .expired: false
        }
    }

    fileprivate var isInProfiles: Bool {
        switch self {
        case .identifier, .exactly, .localAccountID, .tenant: true
        case .unlessExactly(_, let criterion): criterion.isInProfiles
        default: false
        }
    }

    /// Asks what the SQL of an ``AccountQuery`` asks.
    fileprivate func isMet(by account: FoundAccount) -> Bool {
        switch self {
        case .identifier(let text): account.isCalled(text) || account.isNamed(text)
        case .exactly(let id, let criterion): account.isCalledExactly(id, or: criterion)
        // What other rows say is no index's word about this one.
        case .unlessExactly(_, let criterion): criterion.isMet(by: account)
        case .identifierPrefix(let text): account.key.utf8.starts(with: text.utf8)
        case .username(let name): account.username.hasSameBytes(as: name)
        case .homeAccountID(let id): account.isCalled(id)
        case .localAccountID(let id): account.hasLocalID(id)
        case .userFlow(let name): account.policy?.hasSameBytes(as: name) ?? false
        case .tenant(let tenant): account.profiles.contains { $0.tenant.hasSameBytes(as: tenant) }
        case .issuer(let issuer): account.isOf(issuer)
        case .client, .claim, .tag, .unusedSince, .expired: true
        }
    }
}

extension StoreConnection {
    /// Whether the rows of an account say what an index has said.
    ///
    /// A server keeps its indexes itself: who may write to its tables cannot make one say something else.
    func rowsMeet(_ criteria: [AccountCriterion], account: Int64) throws -> Bool {
        guard !criteria.isEmpty, !connection.isServer else { return true }
        let profiles = try criteria.contains(where: \.isInProfiles) ? tenants(account) : []
        let found = try connection.first(
            """
            SELECT authority, home_account_id, account_key, environment, issuer, username_fold, policy
            FROM account WHERE id = ?1
            """,
            .integer(account)
        ) { row in
            FoundAccount(
                authority: row.text(0),
                homeAccountID: row.text(1),
                key: row.text(2),
                environment: row.text(3),
                issuer: row.optionalText(4),
                username: row.text(5),
                policy: row.optionalText(6),
                profiles: profiles
            )
        }
        guard let found else { return false }
        return criteria.allSatisfy { $0.isMet(by: found) }
    }

    /// The tenants of an account, each from its row, which is looked up by its number: what an index has is not read
    /// from the row that it names.
    private func tenants(_ account: Int64) throws -> [(tenant: String, localAccountID: String?)] {
        var tenants: [(tenant: String, localAccountID: String?)] = []
        try connection.forEach(
            """
            SELECT r.account_id, r.realm_fold, r.local_account_fold
            FROM tenant_profile p JOIN tenant_profile r ON r.id = p.id WHERE p.account_id = ?1
            """,
            .integer(account)
        ) { row in
            if row.integer(0) == account { tenants.append((row.text(1), row.optionalText(2))) }
        }
        return tenants
    }
}
