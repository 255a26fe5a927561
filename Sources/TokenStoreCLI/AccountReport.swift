import OAuth
import TokenStorage

/// Who somebody is.
struct AccountReport {
    let account: Account
    let summary: AccountSummary?

    /// Those of one tenant, where that is what is asked for.
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
        try console.line("\(deed) \(name)\(username)".printable)
        try console.output.flush()
    }

    /// Writes the name alone.
    func writeName(asJSON isJSON: Bool, on console: Console) throws {
        guard !isJSON else { return try document(on: console) }
        try console.line(console.terminal.isTerminal ? name.printable : name)
        try console.output.flush()
    }

    /// What JSON says of a store that is not there yet.
    static func nobody(on console: Console) throws {
        try console.document {
            $0.member("displayName", JSON.null)
            $0.member("account", JSON.null)
        }
    }

    private func document(on console: Console) throws {
        guard let summary else { return try Self.nobody(on: console) }
        try console.document {
            $0.member("displayName", name)
            $0.object("account") { $0.members(of: summary) }
        }
    }
}
