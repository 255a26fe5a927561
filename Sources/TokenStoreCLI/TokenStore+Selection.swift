import OAuth
import TokenStorage

extension TokenStore {
    /// The one account that `policy` selects; it fails otherwise, in words that depend on whether a person named an
    /// account (`isNamed`) or relied on there being only one.
    func account(_ policy: AccountPolicy, isNamed: Bool = true) throws -> Account {
        let (outcome, fitting) = try outcome(of: policy)
        switch outcome {
        case .account(let account): return account
        case .none:
            throw CommandFailure(
                .noMatch,
                isNamed ? "no account fits" : "the store has no account",
                isNamed ? "see the accounts with 'tokenstore list'" : CommandFailure.filling
            )
        case .ambiguous(let accounts):
            throw CommandFailure(ambiguous: accounts, of: fitting, isNamed: isNamed)
        }
    }

    /// The one account that `policy` selects, with what is known of its tokens.
    func summary(of account: Account) throws -> AccountSummary? {
        var found: AccountSummary?
        try forEachAccount(matching: .homeAccountID(account.id.homeAccountID)) { summary in
            if summary.account.id == account.id { found = summary }
        }
        return found
    }
}

extension CommandFailure {
    /// Several accounts fit: `accounts` are the first of `total`.
    init(ambiguous accounts: [Account], of total: Int, isNamed: Bool = true) {
        let message = "\(total.counting("account")) \(isNamed ? "fit" : "are in the store")"
        self.init(.ambiguous, message, Self.choice(of: accounts, isNamed), candidates: accounts, of: total)
    }

    /// The option that tells the accounts apart, where one does: an id can be 90 letters long, or be that of both.
    private static func choice(of accounts: [Account], _ isNamed: Bool) -> String {
        let options: [(name: String, value: (Account) -> String?)] = [
            ("--account", { isNamed ? nil : $0.username }), ("--policy", { $0.policy }),
            ("--issuer", { $0.issuer ?? $0.environment }),
            ("--tenant", { $0.utid ?? $0.tenantProfiles.first?.tenantID }),
            ("--account", { $0.username }),
        ]
        for (name, value) in options {
            let values = accounts.compactMap(value).filter { !$0.isEmpty }
            guard let first = values.first, values.count == accounts.count,
                Set(values.map { $0.lowercased() }).count == values.count
            else { continue }
            let isPlain = first.utf8.allSatisfy { byte in
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                    || "/._:@-".utf8.contains(byte)
            }
            return "name one with \(name)" + (isPlain ? ", such as '\(name) \(first)'" : "")
        }
        return "name one by its home account id"
    }
}
