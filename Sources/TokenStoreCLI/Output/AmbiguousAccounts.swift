import OAuth
import Sealing
import TokenStorage

extension CommandFailure {
    /// Several accounts fit: `accounts` are the first of `total`.
    init(ambiguous accounts: [Account], of total: Int, isNamed: Bool = true) {
        let message = "\(total.counting("account")) \(isNamed ? "fit" : "are in the store")"
        // Of those that are not listed nothing is known.
        let advice = accounts.count == total ? Self.choice(of: accounts, isNamed) : Self.choice(ofFirst: accounts)
        self.init(.ambiguous, message, advice, candidates: accounts, of: total)
    }

    private static let byID = "name one by its home account id"

    /// The option that tells the accounts apart, or the two: an id can be 90 letters long, or be that of both.
    private static func choice(of accounts: [Account], _ isNamed: Bool) -> String {
        let others: [(name: String, value: (Account) -> String?)] = [
            ("--policy", { $0.userFlow }), ("--issuer", { $0.issuer ?? $0.environment }),
            // An issuer may be known at several hosts, each of which the option takes, too.
            ("--issuer", { $0.environment }), ("--tenant", { $0.tenantProfiles.first?.tenantID }),
        ]
        let single = [("--account", { isNamed ? nil : $0.username })] + others + [("--account", { $0.username })]
        let isNameID = accounts.contains { named in accounts.contains { isID(named.username, of: $0, not: named) } }
        for (name, value) in single where name != "--account" || !isNameID {
            if let value = distinct(accounts.map(value), of: name) { return advice([name], [value]) }
        }
        for (name, value) in others where !isNameID {
            if let values = pair(accounts, name, value) { return advice(["--account", name], values) }
        }
        return claim(of: accounts) ?? byID
    }

    /// Whether the name of one account is an id of another, so that it names both.
    private static func isID(_ name: String, of account: Account, not own: Account) -> Bool {
        let ids = [account.id.homeAccountID] + account.tenantProfiles.compactMap(\.localAccountID)
        return account.id != own.id && ids.contains { $0.folded == name.folded }
    }

    /// The option that narrows the choice, where only the first of the accounts are known.
    private static func choice(ofFirst accounts: [Account]) -> String {
        Set(accounts.map { $0.username.lowercased() }).count > 1 ? "name one with --account" : byID
    }

    /// The username and the value of an account, where no two of the same username have the same value; one of them may
    /// have none.
    private static func pair(_ accounts: [Account], _ name: String, _ value: (Account) -> String?) -> [String]? {
        let named = Dictionary(grouping: accounts) { $0.username.lowercased() }
        let isToldApart = named.values.allSatisfy { same in
            Set(same.map { value($0).map { asFound($0, by: name) } }).count == same.count
        }
        guard named[""] == nil, isToldApart,
            let account = accounts.first(where: { named[$0.username.lowercased()]?.count != 1 && value($0) != nil }),
            let example = value(account)
        else { return nil }
        return [account.username, example]
    }

    /// The claim that tells an account of a provider from one whose username is its subject.
    private static func claim(of accounts: [Account]) -> String? {
        let subjects = Set(accounts.map { $0.id.homeAccountID.lowercased() })
        let isMixed = accounts.contains { account in
            let name = account.username.lowercased()
            return name != account.id.homeAccountID.lowercased() && subjects.contains(name)
        }
        guard isMixed, let account = accounts.first(where: { $0.issuer != nil }) else { return nil }
        return "name one by a claim, as --where \("sub=\(account.id.homeAccountID)".shellWord) does"
    }

    /// The value of the first account, where every account has one, and no two the same.
    private static func distinct(_ values: [String?], of name: String) -> String? {
        let known = values.compactMap(\.self).filter { !$0.isEmpty }
        let isToldApart = Set(known.map { asFound($0, by: name) }).count == values.count
        return isToldApart ? known.first : nil
    }

    /// The form in which an option compares a value: letter case counts in the address of an issuer alone.
    private static func asFound(_ value: String, by name: String) -> String {
        name == "--issuer" && value.isIssuer ? value : value.lowercased()
    }

    private static func advice(_ names: [String], _ values: [String]) -> String {
        let isPlain = values.joined().utf8.allSatisfy { $0.isLetterOrDigit || "/._:@-".utf8.contains($0) }
        let example = zip(names, values).flatMap(ProposedCommand.words).joined(separator: " ")
        return "name one with \(names.joined(separator: " and "))" + (isPlain ? ", such as '\(example)'" : "")
    }
}
