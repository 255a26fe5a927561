import ArgumentParser
import HTTPTransport
import OAuth
import SignIn
import TokenManagement
import TokenStorage

struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        _superCommandName: "tokenstore",
        abstract: "Sign an account out: end its session at the issuer, then delete it.",
        discussion: """
            Without an account it takes the only one of the store, or the default one ('tokenstore use'). It asks \
            once; --yes answers. Without a terminal, or with --no-input, an account that is named in full, by its \
            username or a whole id, needs no --yes. The refresh token is revoked if the issuer supports revocation. \
            If that fails, the failure is reported and the account is deleted anyway. --client-id signs the account \
            out of one client only.

            The issuer may keep a session of its own in the browser, which signs the person in again without a password. \
            --browser ends that too, by the issuer's logout page; the issuer must know the loopback address as a \
            post-logout redirect URI. If no browser opens, the command prints what remains to be done.

            EXAMPLES
              tokenstore logout mara@example.net
              tokenstore logout mara@example.net --dry-run
              tokenstore logout mara@example.net --local-only --yes
              tokenstore logout mara@example.net --browser
            """
    )

    @Argument(
        help: ArgumentHelp("The account. Default: the only one, or the default one.", valueName: "account"),
        completion: StoreCompletion.of(.account)
    )
    var account: String?

    @Flag(help: "Do not contact the issuer.")
    var localOnly = false

    @Flag(help: "Change nothing; print what would be done.")
    var dryRun = false

    @Flag(help: "Go ahead without asking.")
    var yes = false

    @OptionGroup var browser: BrowserLogout

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        try filters.requireUnnamed(beside: account)
        guard !localOnly || !browser.isAsked else {
            throw ValidationError("--browser contacts the issuer", hint: "leave --local-only out")
        }
    }

    func run() throws {
        let console = arguments.console
        guard try !arguments.isVacant else { throw try CommandFailure.noStore(at: arguments.location) }
        if dryRun {
            guard let store = try arguments.inspectAccounts(console) else {
                throw try CommandFailure.noStore(at: arguments.location)
            }
            try store.requireWritable()
            return try plan(in: store).write(arguments, on: console)
        }
        let store = try arguments.open(console)
        defer { store.close() }
        let plan = try plan(in: store)
        // A script that names an account means it, while a filter, or the beginning of an id, may fit another one by
        // tomorrow; a person at a terminal may have mistyped, and does not see which account is the default one.
        let isMeant = !arguments.mayAsk && choice.name.map(plan.account.isNamed) ?? false
        try Confirmation(question: plan.question).ask(arguments, isGiven: yes || isMeant)
        let account = plan.account
        let manager = try network.manager(store, client: filters.clientID ?? "", arguments)
        let (clients, isLocal) = (filters.clientID.map { [$0] }, localOnly)
        let session = try browser.isAsked ? EndingSession(of: account, clients: plan.clients, in: store) : nil
        // Where the issuer has ended the session, the account goes too.
        let outcome = try AsynchronousWork.run(keepingAnswersOf: nil, isFinished: true) {
            try await manager.signOut(account.id, ofClients: clients, isLocal ? .thisDevice : .everywhere)
        }
        let browserReport = try session.map { try browser.end($0, store, network, arguments) }
        try LogoutReport(plan: plan, outcome: outcome, browser: browserReport).write(arguments, on: console)
    }

    private var choice: AccountChoice { AccountChoice(filters, account: account) }

    private func plan(in store: some StoreReading) throws -> LogoutPlan {
        let account = try store.account(choice)
        let known = try store.summary(of: account.id)?.clientIDs ?? []
        let reach =
            localOnly
            ? "here only" : browser.isAsked ? "here, at the issuer and in the browser" : "here and at the issuer"
        return LogoutPlan(
            account: account,
            clients: filters.clientID.map { [$0] } ?? known,
            isLocal: localOnly,
            reach: reach
        )
    }
}

/// What a sign-out is about to do.
private struct LogoutPlan {
    let account: Account
    let clients: [String]
    let isLocal: Bool

    /// Where the session is ended, in words.
    let reach: String

    var question: String { "Sign out \(what)" }

    private var what: String {
        let clients = clients.isEmpty ? "" : " of \(clients.joined(separator: ", "))"
        return account.nameAndUserFlow + clients + ", \(reach)"
    }

    /// Prints what would be done.
    func write(_ arguments: StoreArguments, on console: Console) throws {
        guard arguments.json else {
            try console.line("would sign out \(what)".printable)
            return try console.output.flush()
        }
        try LogoutDocument(plan: self, outcome: nil, browser: nil).write(on: console)
    }
}

extension Account {
    /// What people call the account.
    var shownName: String { (username.isEmpty ? id.homeAccountID : username).boundedSentence }

    /// The same with what tells it from others of that name.
    var nameAndUserFlow: String { shownName + (userFlow.map { " (\($0))" } ?? "") }

    /// Whether a text is its username or one of its ids, and not the beginning of one.
    fileprivate func isNamed(_ text: String) -> Bool {
        let names = [username, id.homeAccountID] + tenantProfiles.compactMap(\.localAccountID)
        return names.contains { $0.folded == text.folded }
    }
}

/// What became of an account's sessions.
private struct LogoutReport {
    let plan: LogoutPlan
    let outcome: SignOutOutcome

    /// nil: the browser was not asked for.
    let browser: BrowserSessionReport?

    private var reports: [(client: String, report: SignOutReport)] { outcome.reports }

    func write(_ arguments: StoreArguments, on console: Console) throws {
        for (client, report) in reports {
            switch report {
            case .failed(let reason):
                console.warn(
                    "the session of client \(client) was not ended at the issuer, and may last there until it expires: \(reason)"
                )
            case .notOffered:
                console.note("the issuer revokes no tokens; that of client \(client) is good there until it expires")
            case .revoked, .nothingToRevoke, .localOnly: break
            }
        }
        if case .unfinished(let error) = outcome.erasure { console.warn(CommandFailure(error).sentence) }
        if let advice = browser?.advice { console.note(advice) }
        guard !arguments.json else {
            return try LogoutDocument(plan: plan, outcome: outcome, browser: browser).write(on: console)
        }
        guard !console.isQuiet else { return }
        let browsers = browser?.outcome == .ended ? "that of the browser" : nil
        let what = [endedSession(isAlone: browsers == nil), browsers].compactMap(\.self)
        let ended = what.isEmpty ? "" : "; the issuer ended \(what.joined(separator: " and "))"
        try console.line("signed out \(plan.account.shownName)\(ended)".printable)
        try console.output.flush()
    }

    /// What the issuer ended, in words; nil: nothing.
    private func endedSession(isAlone: Bool) -> String? {
        let ended = reports.filter { $0.report == .revoked }.map(\.client)
        let last = reports.filter { $0.report.mayLast }
        guard !ended.isEmpty, !last.isEmpty else { return ended.isEmpty ? nil : "the session" }
        return "the session of \(ended.joined(separator: ", "))\(isAlone ? " only" : "")"
    }
}

/// A sign-out, or what it would be, as JSON.
private struct LogoutDocument {
    let plan: LogoutPlan

    /// nil: it is a dry run.
    let outcome: SignOutOutcome?
    let browser: BrowserSessionReport?

    func write(on console: Console) throws {
        try console.document {
            $0.member("dryRun", outcome == nil)
            $0.member("homeAccountId", plan.account.id.homeAccountID)
            $0.array("clientIds", plan.clients)
            $0.member("localOnly", plan.isLocal)
            $0.array("revocations", outcome?.reports ?? []) { entry, json in
                json.object {
                    $0.member("clientId", entry.client)
                    $0.member("outcome", entry.report.word)
                    $0.member("reason", entry.report.reason)
                }
            }
            $0.member("oldBytesRemain", outcome.map { $0.erasure != .complete } ?? false)
            if let browser {
                $0.object("browserSession") {
                    $0.member("outcome", browser.outcome.rawValue)
                    $0.member("reason", browser.reason)
                    $0.member("address", browser.address)
                }
            } else {
                $0.member("browserSession", String?.none)
            }
        }
    }
}

extension SignOutReport {
    fileprivate var word: String {
        switch self {
        case .revoked: "revoked"
        case .nothingToRevoke: "nothingToRevoke"
        case .notOffered: "notOffered"
        case .localOnly: "localOnly"
        case .failed: "failed"
        }
    }

    fileprivate var reason: String? {
        if case .failed(let reason) = self { reason } else { nil }
    }
}
