import ArgumentParser
import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage

struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        _superCommandName: "tokenstore",
        abstract: "Sign an account out: end its session at the issuer, then delete it.",
        discussion: """
            It asks once. The refresh token is revoked where the issuer offers that. A revocation that fails is \
            reported, and the account is deleted all the same. --client-id signs it out of one client only.

            EXAMPLES
              tokenstore logout mara@example.net
              tokenstore logout mara@example.net --dry-run
              tokenstore logout mara@example.net --local-only --yes
            """
    )

    @Argument(help: ArgumentHelp("The account.", valueName: "account"))
    var account: String?

    @Flag(help: "Leave the issuer out of it.")
    var localOnly = false

    @Flag(help: "Change nothing; print what would be done.")
    var dryRun = false

    @Flag(help: "Go ahead without asking.")
    var yes = false

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard account == nil || filters.account == nil else {
            throw ValidationError("the account is named twice; leave --account out")
        }
        guard account != nil || !filters.isEmpty else { throw ValidationError("no account is named; name one") }
    }

    func run() throws {
        let console = arguments.console
        guard !arguments.path.isVacant else { throw CommandFailure.noStore(at: arguments.path) }
        if dryRun {
            guard let store = try arguments.inspectAccounts(console) else {
                throw CommandFailure.noStore(at: arguments.path)
            }
            return try plan(in: store).write(arguments, on: console)
        }
        let store = try arguments.open(console)
        defer { store.close() }
        let plan = try plan(in: store)
        try Confirmation(question: plan.question).ask(arguments, isGiven: yes)
        let account = plan.account
        let manager = network.manager(store, client: filters.clientID ?? "", arguments)
        let (clients, isLocal) = (filters.clientID.map { [$0] }, localOnly)
        let outcome = try AsynchronousWork.run {
            try await manager.signOut(account.id, ofClients: clients, locally: isLocal)
        }
        try LogoutReport(account: account, outcome: outcome).write(arguments, on: console)
    }

    private func plan(in store: TokenStore) throws -> LogoutPlan {
        let account = try store.account(filters.policy(account: account) ?? .only)
        let known = try store.summary(of: account)?.clientIDs ?? []
        return LogoutPlan(account: account, clients: filters.clientID.map { [$0] } ?? known, isLocal: localOnly)
    }
}
