import Database
public import OAuth

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

        /// A few words, such as `other user flow`.
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
        let accounts = try taken.compactMap { try account($0) }
        guard accounts.count < 2 || accounts.contains(where: { $0.id != accounts[0].id }) else { throw severalRows() }
        return (.init(accounts), try fittingCount(taken, policy))
    }

    /// Makes sure that "none fits" is not the sight of an account that was altered, or that an index has lost.
    private func requireUnaltered() throws {
        try requireSoundness()
        for row in try accountRows(matching: .all, limit: Self.explained) { _ = try account(row) }
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
            let reason = try accounts.count > 1 ? "fits, and so do others" : takingReason(taken[0], policy)
            considered.append(.init(account: account, isTaken: accounts.count == 1, reason: reason))
        }
        // What the taken account meets is what the others are held against.
        let alternative = try taken.first.flatMap { row in try policy.alternatives.first { try matches(row, $0) } }
        let others = try accountRows(matching: .all, limit: Self.explained).filter { !taken.contains($0) }
        for row in others {
            guard let account = try account(row) else { continue }
            let criteria = try alternative ?? policy.alternatives.first { try isNamed(row, by: $0) }
            let reason = try leavingReason(row, (criteria ?? policy.alternatives.last)?.criteria ?? [], policy)
            considered.append(.init(account: account, isTaken: false, reason: reason))
        }
        return AccountSelection(
            outcome: .init(accounts),
            fitting: try fittingCount(taken, policy),
            considered: considered
        )
    }

    /// Whether an alternative names an account in a way that fits it, whatever else it asks.
    private func isNamed(_ row: Int64, by alternative: AccountPolicy.Alternative) throws -> Bool {
        let names = alternative.criteria.filter(\.namesAccount)
        return try !names.isEmpty && matches(row, AccountPolicy.Alternative(criteria: names))
    }

    private func takingReason(_ row: Int64, _ policy: AccountPolicy) throws -> String {
        if try policy.alternatives.contains(where: \.prefersDefault) && row == defaultAccountRow() {
            return "the default account"
        }
        if policy.alternatives.contains(where: \.prefersMostRecent) { return "used last of those that fit" }
        return policy.isUnconditional ? "the only account" : "the only one that fits"
    }

    /// The first criterion that the account fails.
    private func leavingReason(_ row: Int64, _ criteria: [AccountCriterion], _ policy: AccountPolicy) throws -> String {
        for criterion in criteria {
            let alone = AccountPolicy.Alternative(criteria: [criterion])
            if try !matches(row, alone) { return criterion.failure }
        }
        return policy.alternatives.contains(where: \.prefersMostRecent)
            ? "another was used later" : "another is the default"
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
    var failure: String {
        switch self {
        case .exactly(_, let criterion), .unlessExactly(_, let criterion): criterion.failure
        case .identifier(let text): "not \(text)"
        case .identifierPrefix(let text): "id does not begin with \(text)"
        case .username: "other username"
        case .homeAccountID: "other id"
        case .localAccountID: "other local id"
        case .userFlow: "other user flow"
        case .tenant(let tenant): "not seen in tenant \(tenant)"
        case .issuer: "other issuer"
        case .client(let client): "no token of client \(client)"
        case .claim(.present(let name)): "no claim \(name)"
        case .claim(.equals(let name, let value)): "claim \(name) is not \(value)"
        case .claim(.contains(let name, let text)): "claim \(name) does not contain \(text)"
        case .tag(let tag): tag.value.map { "tag \(tag.name) is not \($0)" } ?? "no tag \(tag.name)"
        case .unusedSince: "used since"
        case .expired: "an access token has not ended, or there is none"
        }
    }
}
