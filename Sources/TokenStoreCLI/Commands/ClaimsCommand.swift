import ArgumentParser
import OAuth
import TokenStorage

struct ClaimsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims",
        _superCommandName: "tokenstore",
        abstract: "Show the claims of an account's newest ID token.",
        discussion: """
            The first argument names the account, unless --account does; without either it is the only account of \
            the store, or the default one. With a filter or TOKENSTORE_ACCOUNT the first argument names the account if one fits both, else a claim. The other \
            arguments name claims; dots reach into objects. With one NAME only its value is printed, a list or an \
            object as JSON. --tenant shows the claims of that tenant only. The signature of the token is not checked.

            EXAMPLES
              tokenstore claims mara@example.net
              tokenstore claims mara@example.net emails
              tokenstore claims mara@example.net --policy B2C_1_SUSI emails
              tokenstore claims --policy B2C_1_SUSI extension_plan.name
              tokenstore claims --json | jq '.profiles[0].claims'
            """
    )

    @Argument(
        help: ArgumentHelp("The account, then names of claims.", valueName: "account|name"),
        completion: StoreCompletion.claims
    )
    var words: [String] = []

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let isNamed = !words.isEmpty || !filters.isEmpty
        guard try !isNamed || !arguments.isVacant else { throw try CommandFailure.noStore(at: arguments.location) }
        guard let store = try arguments.inspectAccounts(console) else {
            if arguments.json { try ClaimsReport(account: nil, profiles: []).document([], on: console) }
            return
        }
        let word = try accountWord(in: store)
        let names = Array(words.dropFirst(word == nil ? 0 : 1))
        let account = try store.account(AccountChoice(filters, account: word))
        let tokens = try store.idTokens(of: account.id).filter { filters.includes(tenant: $0.tenantID) }
        let unreadable = try store.tenantsOfUnreadableIDTokens(of: account.id).first { tenant in
            filters.includes(tenant: tenant) && !tokens.contains { $0.tenantID == tenant }
        }
        if let unreadable {
            let place = tokens.isEmpty || unreadable.isEmpty ? "" : " from tenant \(unreadable)"
            let token = "the ID token of \(account.shownName)\(place)"
            let problem = "\(token) is encrypted or not a JSON Web Token, so its claims cannot be read"
            let hint = "have the client registered for ID tokens that are signed, not encrypted, and sign in then"
            guard names.isEmpty || !tokens.isEmpty else { throw CommandFailure(.noMatch, problem, hint) }
            console.note(problem)
        } else if tokens.isEmpty {
            console.note("no ID token is stored for \(account.username)")
        }
        let report = ClaimsReport(account: try store.summary(of: account.id), profiles: Self.newest(tokens))
        try report.require(names) { try store.accounts(matching: .homeAccountID(account.id.homeAccountID)).count > 1 }
        if arguments.json {
            try report.document(names, on: console)
        } else if names.count == 1 {
            try report.value(names[0], on: console)
        } else {
            try report.text(names, on: console)
        }
    }

    /// The argument that names the account; beside a filter the first one may be the name of a claim as well.
    private func accountWord(in store: StoreInspection) throws -> String? {
        guard filters.account == nil, let word = words.first else { return nil }
        guard let filter = filters.filter ?? AccountChoice.variable.map({ _ in .all }) else { return word }
        if case .none = try store.outcome(of: .identifier(word).and(filter)).outcome { return nil }
        return word
    }

    /// The first, and so newest, token of each tenant.
    private static func newest(_ tokens: [StoredIDToken]) -> [StoredIDToken] {
        var seen: Set<String> = []
        return tokens.filter { seen.insert($0.tenantID.lowercased()).inserted }
    }
}

/// The claims of an account, one ID token for each of its tenants, the newest first.
private struct ClaimsReport {
    let account: AccountSummary?
    let profiles: [StoredIDToken]

    private static let times: Set<String> = ["iat", "exp", "nbf", "auth_time", "updated_at"]

    /// Throws if a claim is in none of the tokens; two issuers may have an account of the same id.
    func require(_ names: [String], hasNamesake: () throws -> Bool) throws {
        for name in names where first(name) == nil {
            var command = ProposedCommand("claims")
            let account = account?.account
            command.add("--account", account?.id.homeAccountID)
            if try hasNamesake() { command.add("--issuer", account?.issuer ?? account?.environment) }
            throw CommandFailure(.noMatch, "the account has no claim '\(name)'", "see all with '\(command.text)'")
        }
    }

    func document(_ names: [String], on console: Console) throws {
        try console.document {
            if let account {
                $0.object("account") { $0.members(of: account) }
            } else {
                $0.member("account", JSONValue.null)
            }
            $0.array("profiles", profiles) { profile, json in
                json.object {
                    $0.identifier("tenantId", profile.tenantID)
                    $0.identifier("clientId", profile.clientID)
                    $0.member("claims", .object(Self.claims(of: profile, names)))
                }
            }
        }
    }

    /// The bare value; on a terminal without what the terminal would obey.
    func value(_ name: String, on console: Console) throws {
        let text = first(name).map { $0.text ?? $0.serialized } ?? ""
        try console.line(console.terminal.isTerminal ? text.printable : text)
        try console.output.flush()
    }

    func text(_ names: [String], on console: Console) throws {
        for (index, profile) in profiles.enumerated() {
            if index > 0 { try console.line() }
            let tenant = profile.tenantID.isEmpty ? "" : "tenant \(profile.tenantID), "
            let heading = "\(tenant)client \(profile.clientID)".printable
            for line in heading.wrapped(to: console.terminal.width ?? .max) {
                try console.line(console.terminal.styled(line, .bold))
            }
            let members = Self.claims(of: profile, names).members
            let width = members.reduce(0) { max($0, $1.name.printable.columns) }
            for (name, value) in members {
                let padding = String(repeating: " ", count: width - name.printable.columns)
                let text = Self.text(value, of: name, on: console)
                let lines = console.terminal.width.map { text.wrapped(to: max(20, $0 - width - 4)) } ?? [text]
                try console.line("  \(name.printable)\(padding)  \(lines[0])")
                for line in lines.dropFirst() { try console.line(String(repeating: " ", count: width + 4) + line) }
            }
        }
        try console.output.flush()
    }

    private func first(_ name: String) -> JSONValue? {
        profiles.lazy.compactMap { $0.idToken.claims[path: name] }.first
    }

    /// The payload as issued, or only the claims that were named.
    private static func claims(of profile: StoredIDToken, _ names: [String]) -> JSONValue.Object {
        let claims = profile.idToken.claims
        guard !names.isEmpty else { return claims.payload }
        return JSONValue.Object(names.map { ($0, claims[path: $0] ?? .null) })
    }

    private static func text(_ value: JSONValue, of name: String, on console: Console) -> String {
        guard times.contains(name), case .number = value, let epoch = value.seconds else {
            return (value.text ?? value.serialized).printable
        }
        let instant = Timestamp(epoch)
        guard console.terminal.isTerminal else { return instant.description }
        return "\(instant) (\(RelativeTime(instant, from: console.now)))"
    }
}
