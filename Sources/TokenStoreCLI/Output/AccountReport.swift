import NativeAuthentication
import OAuth
import SignIn
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        try console.line("\(deed) \(name)\(username)".boundedSentence.printable)
        try console.output.flush()
    }

    /// Writes the name alone.
    func writeName(asJSON isJSON: Bool, on console: Console) throws {
        guard !isJSON else { return try document(on: console) }
        try console.line(console.terminal.isTerminal ? name.boundedSentence.printable : name)
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

/// What a sign-in has come to.
protocol SignInOutcome {
    var account: Account { get }

    /// What was asked for and not granted.
    var declinedScope: Scope { get }

    /// Why the store has nothing of the sign-in yet; nil if it has.
    var pendingReason: String? { get }
}

extension AuthenticationResult: SignInOutcome {}
extension NativeAuthUserAccount: SignInOutcome {}

extension Console {
    /// Says who was signed in to `client`, behind what did not come of it.
    func report(
        _ deed: String,
        _ outcome: some SignInOutcome,
        to client: String,
        in store: TokenStore,
        asJSON isJSON: Bool
    ) throws {
        let (account, pendingReason) = (outcome.account, outcome.pendingReason)
        if let pendingReason { notePending(pendingReason, at: store.location) }
        if !outcome.declinedScope.isEmpty { warn("the issuer did not grant \(outcome.declinedScope.text)") }
        let stored = pendingReason == nil ? try store.summary(of: account.id) : nil
        let summary = stored ?? AccountSummary(unstored: account, client: client, at: Date())
        try AccountReport(account: account, summary: summary, pendingReason: pendingReason)
            .write(deed, asJSON: isJSON, on: self)
    }
}
