import OAuth
import TokenStorage

extension TokenStore {
    /// The one account that `policy` selects; it fails otherwise, in words that depend on whether a person named an
    /// account (`isNamed`) or relied on there being only one.
    func account(_ policy: AccountPolicy, isNamed: Bool = true) throws -> Account {
        switch try select(policy).outcome {
        case .account(let account): return account
        case .none:
            throw CommandFailure(
                .noMatch,
                isNamed ? "no account fits" : "the store has no account",
                isNamed ? "see the accounts with 'tokenstore list'" : CommandFailure.filling
            )
        case .ambiguous(let accounts):
            let message = "\(accounts.count) accounts \(isNamed ? "fit" : "are in the store")"
            throw CommandFailure(.ambiguous, message, "name one by its home account id", candidates: accounts)
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
