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

    /// An option by which an account may be named: the value that an account has for it, and whether one fits a value.
    private struct Choice: Sendable {
        let name: String
        let value: @Sendable (Account) -> String?
        let fits: @Sendable (Account, String) -> Bool

        /// The value of an account, where no other one fits it.
        func ownValue(of account: Account, among accounts: [Account]) -> String? {
            guard let value = value(account), !value.isEmpty else { return nil }
            return accounts.allSatisfy { ($0.id == account.id) == fits($0, value) } ? value : nil
        }
    }

    private static let byName = Choice(name: "--account", value: \.username) { $0.username.folded == $1.folded }

    private static let others = [
        Choice(name: "--policy", value: \.userFlow) { $0.userFlow?.folded == $1.folded },
        Choice(name: "--issuer", value: { $0.issuer ?? $0.environment }, fits: isOf),
        // An issuer may be known at several hosts, each of which the option takes, too.
        Choice(name: "--issuer", value: \.environment, fits: isOf),
        Choice(name: "--tenant", value: \.tenantProfiles.first?.tenantID) { account, tenant in
            account.tenantProfiles.contains { $0.tenantID.folded == tenant.folded }
        },
    ]

    /// Whether `--issuer` finds an account: by an address letter by letter, or by a host, which is also that of accounts
    /// whose issuer is known.
    @Sendable private static func isOf(_ account: Account, _ issuer: String) -> Bool {
        if account.issuer == issuer || account.id.issuer == issuer { return true }
        guard !issuer.isIssuer else { return false }
        return account.id.issuer == Cloud.group(of: issuer) || account.environment.folded == issuer.folded
    }

    /// The option that tells the accounts apart, or the two: an id can be 90 letters long, or be that of both.
    private static func choice(of accounts: [Account], _ isNamed: Bool) -> String {
        let isNameID = accounts.contains { named in accounts.contains { isID(named.username, of: $0, not: named) } }
        let single = (isNamed || isNameID ? [] : [byName]) + others + (isNameID ? [] : [byName])
        for choice in single {
            let values = accounts.compactMap { choice.ownValue(of: $0, among: accounts) }
            if values.count == accounts.count { return advice([choice.name], [values[0]]) }
        }
        for choice in others where !isNameID {
            if let values = pair(accounts, choice) { return advice(["--account", choice.name], values) }
        }
        if let claim = claim(of: accounts) { return claim }
        let ids = Set(accounts.map(\.id.homeAccountID))
        return ids.count == accounts.count ? byID : choice(ofSome: accounts, single)
    }

    /// The option that names one of the accounts, where not all of them can be named: an account whose import told no
    /// issuer has nothing that one at the same host does not have, too.
    private static func choice(ofSome accounts: [Account], _ single: [Choice]) -> String {
        for choice in single {
            let values = accounts.compactMap { choice.ownValue(of: $0, among: accounts) }
            guard let value = values.first else { continue }
            let rest = accounts.filter { choice.ownValue(of: $0, among: accounts) == nil }
            let other = single.first { other in
                other.name != choice.name && rest.contains { other.ownValue(of: $0, among: accounts) != nil }
            }
            let lost = rest.count { account in single.allSatisfy { $0.ownValue(of: account, among: accounts) == nil } }
            return advice([choice.name], [value]) + (other.map { ", or with \($0.name)" } ?? "")
                + (lost == 0 ? "" : "; \(lost.counting("account")) cannot be told apart by an option")
        }
        let id = Choice(name: "--account", value: \.id.homeAccountID) { $0.id.homeAccountID == $1 }
        let hasOwnID = accounts.contains { id.ownValue(of: $0, among: accounts) != nil }
        return hasOwnID ? byID : "no option tells them apart"
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

    /// The username and the value of an account, where among those of the same username each is told by its value; one
    /// of them may have none.
    private static func pair(_ accounts: [Account], _ choice: Choice) -> [String]? {
        let named = Dictionary(grouping: accounts) { $0.username.folded }
        let isToldApart = named.values.allSatisfy { same in
            let told = same.filter { choice.ownValue(of: $0, among: same) != nil }
            return told.count == same.count
                || told.count == same.count - 1 && same.contains { choice.value($0)?.isEmpty ?? true }
        }
        guard named[""] == nil, isToldApart else { return nil }
        for account in accounts {
            guard let same = named[account.username.folded], same.count > 1,
                let example = choice.ownValue(of: account, among: same)
            else { continue }
            return [account.username, example]
        }
        return nil
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

    private static func advice(_ names: [String], _ values: [String]) -> String {
        let isPlain = values.joined().utf8.allSatisfy { $0.isLetterOrDigit || "/._:@-".utf8.contains($0) }
        let example = zip(names, values).flatMap(ProposedCommand.words).joined(separator: " ")
        return "name one with \(names.joined(separator: " and "))" + (isPlain ? ", such as '\(example)'" : "")
    }
}
