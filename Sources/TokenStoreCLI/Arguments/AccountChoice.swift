import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The one account that a command is about: what its arguments say; where several accounts fit the filters, or none are
/// given, `TOKENSTORE_ACCOUNT`, else the default account.
struct AccountChoice {
    static let variableName = "TOKENSTORE_ACCOUNT"

    let policy: AccountPolicy

    /// Whether the command's arguments name an account or narrow the choice.
    let isNamed: Bool

    /// The account as the arguments name it.
    let name: String?

    /// What `TOKENSTORE_ACCOUNT` holds, where nothing else names the account.
    let variable: String?

    /// Accounts of the user flow at `authority` go before others, as its tokens are theirs alone.
    init(
        _ filters: AccountFilters,
        account positional: String? = nil,
        byClient: Bool = true,
        at authority: Authority? = nil
    ) {
        let filter = filters.filter(byClient: byClient)
        let named = filters.account ?? positional
        name = named
        isNamed = named != nil || filter != nil
        let variable = Self.variable
        self.variable = isNamed ? nil : variable
        var policy: AccountPolicy
        if named != nil {
            policy = filters.policy(account: positional, byClient: byClient) ?? .all
        } else if let variable {
            let chosen = AccountPolicy.identifier(variable)
            policy = filter.map { $0.and(chosen).otherwise($0) } ?? chosen
        } else {
            policy = (filter ?? .all).and(.defaultAccount)
        }
        if let userFlow = authority?.userFlow { policy = policy.and(.userFlow(userFlow)).otherwise(policy) }
        self.policy = policy
    }

    /// What `TOKENSTORE_ACCOUNT` holds; nil where it is empty.
    static var variable: String? {
        StoreArguments.environment[variableName].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension StoreReading {
    /// The one account that is chosen; it fails otherwise, in words that depend on what named it.
    func account(_ choice: AccountChoice) throws -> Account {
        guard let variable = choice.variable else {
            do {
                return try account(choice.policy, isNamed: choice.isNamed)
            } catch let failure as CommandFailure where failure.status == .noMatch {
                guard let name = choice.name, let guess = try similarUsername(to: name),
                    guess.folded != name.folded
                else { throw failure }
                throw failure.hinting("did you mean '\(guess)'? 'tokenstore list' shows the accounts")
            }
        }
        if case .none = try outcome(of: choice.policy).outcome {
            try requireFilled()
            throw CommandFailure(
                .noMatch,
                "no account fits \(AccountChoice.variableName), which is '\(variable)'",
                "see the accounts with 'tokenstore list', and unset or change the variable"
            )
        }
        return try account(choice.policy)
    }
}

extension StoreReading {
    /// The username that was meant; nil where there are too many to compare all: a guess must not take longer in a
    /// larger store, and the best of some may be another person's.
    private func similarUsername(to name: String) throws -> String? {
        let limit = 1_000
        var names: [String] = []
        try forEachAccount(limit: limit + 1) { names.append($0.account.username) }
        return names.count > limit ? nil : name.nearest(in: names)
    }
}
