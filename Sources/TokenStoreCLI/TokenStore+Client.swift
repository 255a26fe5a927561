import OAuth
import TokenStorage

extension TokenStore {
    /// The one account that `filters` select, and the client whose tokens are meant.
    func account(_ filters: AccountFilters) throws -> (Account, client: String) {
        let policy = filters.policy()
        let account = try account(policy ?? .only, isNamed: policy != nil)
        if let client = filters.clientID { return (account, client) }
        let clients = try summary(of: account)?.clientIDs ?? []
        guard let client = clients.first else {
            throw CommandFailure(.interactionRequired, "no client has tokens of the account", "sign in again")
        }
        guard clients.count == 1 else {
            let names = clients.joined(separator: ", ")
            throw CommandFailure(.ambiguous, "the account has tokens of \(names)", "name one with --client-id")
        }
        return (account, client)
    }
}

extension CommandFailure {
    /// How accounts come into a store.
    static let filling = "sign in with 'tokenstore login', or fill it with 'tokenstore import FILE'"

    static func noStore(at path: StorePath) -> CommandFailure {
        CommandFailure(.noMatch, "no account fits, for there is no store at \(path.database)", filling)
    }
}
