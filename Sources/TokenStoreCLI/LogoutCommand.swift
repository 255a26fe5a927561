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
            The refresh token is revoked where the issuer offers that. A revocation that fails is reported, and the \
            account is deleted all the same. --client-id signs it out of one client only.

            EXAMPLES
              tokenstore logout mara@example.net
              tokenstore logout mara@example.net --local-only
            """
    )

    @Argument(help: ArgumentHelp("The account.", valueName: "account"))
    var account: String?

    @Flag(help: "Leave the issuer out of it.")
    var localOnly = false

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
        let store = try arguments.open(console)
        let account = try store.account(filters.policy(account: account) ?? .only)
        let manager = network.manager(store, client: filters.clientID ?? "", arguments)
        let (clients, isLocal) = (filters.clientID.map { [$0] }, localOnly)
        let outcome = try AsynchronousWork.run {
            try await manager.signOut(account.id, ofClients: clients, locally: isLocal)
        }
        try LogoutReport(account: account, outcome: outcome).write(arguments, on: console)
    }
}
