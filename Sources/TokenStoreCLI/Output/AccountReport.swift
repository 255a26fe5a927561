import OAuth
import TokenStorage

/// What a sign-in or `whoami` says of an account.
struct AccountReport {
    let account: Account
    let summary: AccountSummary

    /// Why the store has nothing of the sign-in yet.
    var pendingReason: String?

    /// Those of one tenant, if a tenant is named.
    var claims: Claims?

    /// The name to show: the `name` claim, else the username, else the id.
    var name: String {
        let names = [claims?.name ?? "", claims?.username ?? "", account.name ?? "", account.username]
        return names.first { !$0.isEmpty } ?? account.id.homeAccountID
    }

    /// Writes `deed` with the name and the username.
    func write(_ deed: String, asJSON isJSON: Bool, on console: Console) throws {
        guard !isJSON else { return try document(on: console) }
        guard !console.isQuiet else { return }
        let username = account.username.isEmpty || account.username == name ? "" : " (\(account.username))"
        try console.line("\(deed) \(name)\(username)".bounded.printable)
        try console.output.flush()
    }

    /// Writes the name alone.
    func writeName(asJSON isJSON: Bool, on console: Console) throws {
        guard !isJSON else { return try document(on: console) }
        try console.line(console.terminal.isTerminal ? name.bounded.printable : name)
        try console.output.flush()
    }

    /// What JSON says of a store that is not there yet.
    static func noAccount(on console: Console) throws {
        try console.document {
            $0.member("displayName", JSONValue.null)
            $0.member("account", JSONValue.null)
        }
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.member("displayName", name)
            $0.object("account") { $0.members(of: summary) }
            if let pendingReason { $0.member("pending", pendingReason) }
        }
    }
}
