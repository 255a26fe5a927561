import ArgumentParser
import HTTPTransport
import Logging
import OAuth
import Sealing
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        _superCommandName: "tokenstore",
        abstract: "Print a usable access token, refreshed if needed.",
        discussion: """
            The token is read from the store, or requested from the issuer with a refresh token. The command never \
            prompts: if a sign-in is needed, the exit status is 4. Processes that need the same token share one \
            request to the issuer. --client-id may be left out if the account has tokens of one client only. For a \
            guest, --tenant names the tenant of the token. Default: the tenant of the sign-in. A token that is bound to a \
            key (login --dpop) is printed as text or json only.

            EXAMPLES
              curl -H "$(tokenstore token --scope api://todo/Read --format header)" \\
                https://api.example.com/
              tokenstore token --account mara@example.net --scope api://todo/Read \\
                --min-ttl 600
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
        if result.refreshFailed { console.note("the refresh failed; the stored token is still valid") }
        if result.interactionSoon { console.note("sign in again before this token expires") }
        let missing = result.declinedScope.text
        if !missing.isEmpty { console.note("the issuer did not grant \(missing)") }
        try (format ?? (arguments.json ? .json : .text)).write(result, on: console)
    }

    /// The answer where the store alone has it, found without opening the store for writing.
    private func stored() throws -> TokenResult? {
        do {
            guard let store = try arguments.inspected(), let (account, client) = try selected(store) else { return nil }
            let decider = TokenDecider(store: store, clientID: client, options: token.options(network, arguments))
            let request = try request(account, of: client, in: store)
            guard case .serve(let result) = try decider.decide(request) else { return nil }
            return result
        } catch let error as TokenStoreError where [.storeBusy, .failure].contains(CommandFailure(error).status) {
            // A store that another process opened meanwhile, or one of an older version, is opened for writing instead.
            return nil
        }
    }

    /// The account and client; nil if there is none, and an answer waits in a file, which an opening for writing
    /// stores.
    private func selected(_ store: StoreInspection) throws -> (Account, String)? {
        do {
            return try store.account(filters, byClient: !token.familyTokens)
        } catch {
            guard try arguments.path.pendingAnswers().isEmpty else { return nil }
            throw error
        }
    }

    private func acquire(_ console: Console) throws -> TokenResult {
        guard !arguments.path.isVacant else { throw CommandFailure.noStore(at: arguments.path) }
        let store = try arguments.open(console)
        defer { store.close() }
        let (account, client) = try store.account(filters, byClient: !token.familyTokens)
        let manager = network.manager(store, client: client, token.options(network, arguments))
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

    private func request(_ account: Account, of client: String, in store: some StoreReading) throws -> SilentRequest {
        try token.request(for: account, in: filters.tenant, of: client, in: store, timeout: arguments.timeout)
    }
}

/// How `token` prints an access token.
enum TokenFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case header
    case env
    case execCredential = "exec-credential"

    func write(_ result: TokenResult, on console: Console) throws {
        guard result.accessToken.isPrintable else {
            throw CommandFailure(
                .failure,
                "the access token contains control characters, and was not printed",
                "ask the issuer for another one with --force-refresh"
            )
        }
        if result.accessToken.isDPoP { try explainProof(on: console) }
        let secret = result.accessToken.secret.reveal()
        switch self {
        case .text: try console.line(secret)
        case .header: try console.line("Authorization: \(result.accessToken.authorizationScheme) \(secret)")
        case .env: try console.line("ACCESS_TOKEN=\(secret.shellQuoted)")
        case .json: return try console.document { Self.members(result, secret, to: &$0) }
        case .execCredential: try console.line(Self.credential(result, secret))
        }
        try console.output.flush()
    }

    /// Says what a token needs that is bound to a key; the formats in which it would be sent as it is are refused.
    private func explainProof(on console: Console) throws {
        switch self {
        case .json: return
        case .text: console.note("this token is bound to a key; a web API takes it only with a DPoP proof of that key")
        case .header, .env, .execCredential:
            throw CommandFailure(
                .failure,
                "the access token is bound to a key, and a web API takes it only with a DPoP proof of that key",
                "call the API with a program that uses the library, or sign in again without --dpop"
            )
        }
    }

    private static func members(_ result: TokenResult, _ secret: String, to json: inout JSONOutput) {
        json.member("accessToken", secret)
        json.member("tokenType", result.accessToken.authorizationScheme)
        json.time("expiresAt", end(result))
        json.array("scopes", result.accessToken.scope.tokens)
        json.member("homeAccountId", result.account.homeAccountID)
        json.member("source", result.source.rawValue)
    }

    /// What kubectl reads from a credential plugin.
    private static func credential(_ result: TokenResult, _ secret: String) -> String {
        var json = JSONOutput()
        json.object {
            $0.member("apiVersion", "client.authentication.k8s.io/v1")
            $0.member("kind", "ExecCredential")
            $0.object("status") {
                $0.member("token", secret)
                $0.member("expirationTimestamp", end(result).description)
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func end(_ result: TokenResult) -> Timestamp {
        Timestamp(result.accessToken.expiresAt)
    }
}
