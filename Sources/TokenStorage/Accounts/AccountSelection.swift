public import OAuth
import SQLite

/// The answer of a policy: one account, none, or several, with the reasons.
public struct AccountSelection: Sendable {
    /// Which account was taken, or why none was.
    public let outcome: Outcome

    /// How many accounts fit; the outcome of an ambiguous policy names a few dozen of them.
    public let fitting: Int

    /// The accounts looked at, with the reason each was taken or left; at most a few dozen.
    public let considered: [Consideration]

    /// What a policy leaves.
    public enum Outcome: Sendable {
        case account(Account)
        case none
        case ambiguous([Account])
    }

    /// An account and why it was taken or left.
    public struct Consideration: Sendable {
        /// The account that was looked at.
        public let account: Account

        /// Whether the policy takes it.
        public let isTaken: Bool

        /// A sentence without a full stop.
        public let reason: String
    }
}

extension StoreConnection {
    /// How many accounts an explanation names.
    private static let explained = 50

    /// What `policy` selects, and how many accounts fit; without the reasons, for which every account is looked at.
    func outcome(of policy: AccountPolicy) throws -> (outcome: AccountSelection.Outcome, fitting: Int) {
        let found = try accountRows(matching: policy, limit: 2)
        guard let first = found.first else {
            try requireUnaltered()
            return (.none, 0)
        }
        if found.count == 1 { return (.init([try account(first)].compactMap(\.self)), 1) }
        let taken = try accountRows(matching: policy, limit: Self.explained)
        return (.init(try taken.compactMap { try account($0) }), try fittingCount(taken, policy))
    }

    /// Makes sure that "none fits" is not the sight of an account that was altered.
    private func requireUnaltered() throws {
        for row in try sound(accountRows(matching: .all, limit: Self.explained)) { _ = try account(row) }
    }

    private func fittingCount(_ taken: [Int64], _ policy: AccountPolicy) throws -> Int {
        try taken.count < Self.explained ? taken.count : accountCount(matching: policy)
    }

    /// What `policy` selects, and why.
    func select(_ policy: AccountPolicy) throws -> AccountSelection {
        let taken = try accountRows(matching: policy, limit: Self.explained)
        let accounts = try taken.compactMap { try account($0) }
        var considered: [AccountSelection.Consideration] = []
        for account in accounts {
            let reason = accounts.count > 1 ? "it fits, and so do others" : takingReason(policy)
            considered.append(.init(account: account, isTaken: accounts.count == 1, reason: reason))
        }
        let others = try accountRows(matching: .all, limit: Self.explained).filter { !taken.contains($0) }
        for row in others {
            guard let account = try account(row) else { continue }
            considered.append(.init(account: account, isTaken: false, reason: try leavingReason(row, account, policy)))
        }
        return AccountSelection(
            outcome: .init(accounts),
            fitting: try fittingCount(taken, policy),
            considered: considered
        )
    }

    private func takingReason(_ policy: AccountPolicy) -> String {
        if policy.alternatives.contains(where: \.prefersMostRecent) { return "it fits and was used last" }
        return policy == .all ? "it is the only account" : "it alone fits"
    }

    /// The first criterion of the policy's first alternative that the account fails.
    private func leavingReason(_ row: Int64, _ account: Account, _ policy: AccountPolicy) throws -> String {
        for criterion in policy.alternatives.first?.criteria ?? [] {
            let alone = AccountPolicy.Alternative(criteria: [criterion])
            if try !matches(row, alone) { return criterion.failure(account) }
        }
        return "another account was used later"
    }
}

extension AccountSelection.Outcome {
    fileprivate init(_ accounts: [Account]) {
        self =
            switch accounts.count {
            case 0: .none
            case 1: .account(accounts[0])
            default: .ambiguous(accounts)
            }
    }
}

extension AccountCriterion {
    /// Why an account that does not meet the criterion was left.
    func failure(_ account: Account) -> String {
        switch self {
        case .exactly(_, let criterion): criterion.failure(account)
        case .identifier(let text): "no id or name of it is \(text)"
        case .identifierPrefix(let text): "its id does not begin with \(text)"
        case .username(let name):
            "its username is \(account.username.isEmpty ? "empty" : account.username), not \(name)"
        case .homeAccountID(let id): "its id is \(account.id.homeAccountID), not \(id)"
        case .localAccountID(let id): "it is \(id) in none of its tenants"
        case .userFlow(let name):
            account.userFlow.map { "it signed in with \($0), not \(name)" } ?? "it signed in with no user flow"
        case .tenant(let tenant): "it was not seen in tenant \(tenant)"
        case .issuer(let issuer): "its issuer is \(account.issuer ?? account.environment), not \(issuer)"
        case .client(let client): "it has no token of client \(client)"
        case .claim(.present(let name)): "it has no claim \(name)"
        case .claim(.equals(let name, let value)): "its claim \(name) is not \(value)"
        case .claim(.contains(let name, let text)): "its claim \(name) does not contain \(text)"
        case .tag(let tag):
            tag.value.map { "its tag \(tag.name) is not \($0)" } ?? "it has no tag \(tag.name)"
        case .unusedSince: "it was used since"
        case .expired: "it has an access token that has not ended, or none at all"
        }
    }
}
