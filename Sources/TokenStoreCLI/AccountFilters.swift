import ArgumentParser
import TokenStorage

/// The selector and the filters that say which accounts are meant.
struct AccountFilters: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "One account: its home account id, username or local account id, or a unique prefix of at least 4 "
                + "characters of the first.",
            valueName: "account"
        )
    )
    var account: String?

    @Option(help: ArgumentHelp("Accounts of a B2C user flow, such as B2C_1_SUSI.", valueName: "policy"))
    var policy: String?

    @Option(help: ArgumentHelp("Accounts seen in a tenant.", valueName: "tenant"))
    var tenant: String?

    @Option(help: ArgumentHelp("Accounts of an issuer.", valueName: "url"))
    var issuer: String?

    @Option(help: ArgumentHelp("Accounts with a token of a client.", valueName: "id"))
    var clientID: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Accounts by a claim: NAME=VALUE, NAME~=TEXT (contains) or NAME (present). Dots reach into objects; a "
                + "list fits when one element does. Repeatable.",
            valueName: "claim"
        ),
        transform: { try ClaimCondition(parsing: $0) }
    )
    var conditions: [ClaimCondition] = []

    /// What the filters say, without `--account`; nil if there are none.
    var filter: AccountPolicy? {
        let policies: [AccountPolicy] =
            [policy.map { .userFlow($0) }, tenant.map { .tenant($0) }, issuer.map { .issuer($0) }].compactMap(\.self)
            + [clientID.map { .client($0) }].compactMap(\.self) + conditions.map(\.policy)
        return policies.reduce(nil) { $0?.and($1) ?? $1 }
    }

    /// What all of them say, `account` standing in for `--account`; nil if nothing is said.
    func policy(account positional: String? = nil) -> AccountPolicy? {
        guard let account = account ?? positional else { return filter }
        let selector = AccountPolicy.identifier(account)
        return filter.map { selector.and($0) } ?? selector
    }

    /// Whether what an account is in `tenant` is meant: a guest has other names and claims than at home.
    func includes(tenant other: String) -> Bool {
        tenant.map { $0.lowercased() == other.lowercased() } ?? true
    }

    var isEmpty: Bool { account == nil && filter == nil }

    /// Whether claims have to be looked at, for which the store's key is needed.
    var needsKey: Bool { !conditions.isEmpty }
}
