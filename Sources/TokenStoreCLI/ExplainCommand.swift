import ArgumentParser
import OAuth
import TokenManagement
import TokenStorage

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        _superCommandName: "tokenstore",
        abstract: "Print how 'token' would decide, touching nothing.",
        discussion: """
            Takes what 'token' takes, and prints the accounts considered and why each was taken or left, the access \
            tokens considered, and what would happen: a stored token, a refresh, or that someone has to sign in. \
            No token is printed, nothing is written and no network is used.

            EXAMPLES
              tokenstore explain --scope api://todo/Read
              tokenstore explain --policy B2C_1_SUSI --scope api://todo/Read --json
            """
    )

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        var explanation = Explanation(opensTokens: filters.conditions.contains(where: \.opensTokens))
        if let store = try arguments.inspect(console) { try explain(store, in: &explanation) }
        try explanation.write(arguments, on: console)
    }

    private func explain(_ store: TokenStore, in explanation: inout Explanation) throws {
        let selection = try store.select(filters.policy() ?? .only)
        explanation.accounts = selection.considered
        explanation.accountCount = try store.accountCount()
        guard case .account(let account) = selection.outcome else {
            let sentence = selection.isAmbiguous ? "several accounts fit; name one" : "no account fits; sign in"
            explanation.decision = .fail(sentence)
            return
        }
        let client: String
        do {
            (_, client) = try store.account(filters)
        } catch let failure as CommandFailure {
            explanation.decision = .fail("\(failure.message); \(failure.hint ?? "")")
            return
        }
        let decider = TokenDecider(store: store, clientID: client, options: network.options(arguments))
        let request = try token.request(
            for: account,
            in: filters.tenant,
            of: client,
            in: store,
            timeout: arguments.timeout
        )
        explanation.clientID = client
        explanation.tokenCount = try store.summary(of: account)?.accessTokenCount ?? 0
        explanation.tokens = try store.consideredTokens(for: decider.query(request))
        do {
            explanation.decision = .init(try decider.decide(request))
        } catch let error as TokenStoreError where error.kind == .failure {
            explanation.decision = .fail(error.description)
        }
    }
}

extension AccountSelection {
    fileprivate var isAmbiguous: Bool {
        if case .ambiguous = outcome { true } else { false }
    }
}
