import ArgumentParser
import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        _superCommandName: "tokenstore",
        abstract: "Print an access token that is good to use, refreshing it if need be.",
        discussion: """
            The token comes from the store, or from the issuer with a refresh token, but never by asking a person: \
            where someone has to sign in the exit status is 4. However many processes ask at once, the issuer sees one \
            request. --client-id may be left out where the account has tokens of one client only. For a guest, \
            --tenant is the tenant that the token is of; else it is that of the sign-in.

            EXAMPLES
              curl -H "$(tokenstore token --scope api://todo/Read --format header)" https://api.example.com/
              tokenstore token --account mara@example.net --scope api://todo/Read --min-ttl 600
              tokenstore token --scope api://todo/Read --format exec-credential
            """
    )

    @OptionGroup(title: "Which token") var token: TokenArguments

    @Option(
        help: ArgumentHelp("text, json, header, env (for sh, bash and zsh) or exec-credential.", valueName: "format")
    )
    var format: TokenFormat?

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let result = try stored() ?? acquire(console)
        if let reason = result.pendingReason { console.notePending(reason) }
        if result.refreshFailed { console.note("the refresh failed; the stored token is good for now") }
        if result.interactionSoon { console.note("someone has to sign in before this token ends") }
        let missing = result.declinedScope.text
        if !missing.isEmpty { console.note("the issuer did not grant \(missing)") }
        try (format ?? (arguments.json ? .json : .text)).write(result, on: console)
    }

    /// The answer where the store alone has it, found without opening the store for writing.
    private func stored() throws -> TokenResult? {
        do {
            guard let store = try arguments.inspected(), let (account, client) = try selected(store) else { return nil }
            let decider = TokenDecider(store: store, clientID: client, options: network.options(arguments))
            let request = try request(account, of: client, in: store)
            guard case .serve(let result) = try decider.decide(request) else { return nil }
            return result
        } catch let error as TokenStoreError where error.kind == .busy || error.kind == .failure {
            // A store that somebody opened meanwhile, or of an older version, is opened for writing instead.
            return nil
        }
    }

    /// The account and client; nil where there is none, and an answer waits in a file, which an opening for writing
    /// stores.
    private func selected(_ store: TokenStore) throws -> (Account, String)? {
        do {
            return try store.account(filters)
        } catch {
            guard try arguments.path.pendingAnswers().isEmpty else { return nil }
            throw error
        }
    }

    private func acquire(_ console: Console) throws -> TokenResult {
        guard !arguments.path.isVacant else { throw CommandFailure.noStore(at: arguments.path) }
        let store = try arguments.open(console)
        defer { store.close() }
        let (account, client) = try store.account(filters)
        let manager = network.manager(store, client: client, arguments)
        var request = try request(account, of: client, in: store)
        // The time is kept here: a caller that left would not learn what became of an answer that is waited for.
        let time = request.timeout
        request.timeout = time + .seconds(3600)
        let unhurried = request
        do {
            return try AsynchronousWork.run(keepingAnswersOf: store, within: time) {
                try await manager.acquireTokenSilently(unhurried)
            }
        } catch is CancellationError {
            try store.requireNoHolder()
            throw AcquisitionError.timedOut
        }
    }

    private func request(_ account: Account, of client: String, in store: TokenStore) throws -> SilentRequest {
        try token.request(for: account, in: filters.tenant, of: client, in: store, timeout: arguments.timeout)
    }
}
