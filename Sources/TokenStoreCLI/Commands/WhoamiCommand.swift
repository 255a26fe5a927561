import ArgumentParser
import OAuth
import TokenStorage

struct WhoamiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        _superCommandName: "tokenstore",
        abstract: "Print the display name of the account that is signed in.",
        discussion: """
            The name is the 'name' claim of the newest ID token, else the username. With --tenant it is the name in \
            that tenant, else the name in the account's home tenant. If the store has several accounts, name one, or \
            choose one with 'tokenstore use'. Nothing is written, and no prompt is shown.

            EXAMPLES
              tokenstore whoami
              tokenstore whoami --policy B2C_1_SUSI
              tokenstore whoami --json | jq -r .account.username
            """
    )

    @Argument(help: ArgumentHelp("The account.", valueName: "account"), completion: StoreCompletion.of(.account))
    var account: String?

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws { try filters.requireUnnamed(beside: account) }

    func run() throws {
        let console = arguments.console
        let choice = AccountChoice(filters, account: account)
        guard try !choice.isNamed || !arguments.isVacant else {
            throw try CommandFailure.noStore(at: arguments.location)
        }
        guard let store = try arguments.inspectAccounts(console) else {
            if arguments.json { try AccountReport.noAccount(on: console) }
            return
        }
        let found = try store.account(choice)
        guard let summary = try store.summary(of: found.id) else {
            throw CommandFailure(.noMatch, "the account was just removed", "see the accounts with 'tokenstore list'")
        }
        let guest = try filters.tenant.flatMap { _ in
            try store.idTokens(of: found.id).first { filters.includes(tenant: $0.tenantID) }
        }
        try AccountReport(account: found, summary: summary, claims: guest?.idToken.claims)
            .writeName(asJSON: arguments.json, on: console)
    }
}
