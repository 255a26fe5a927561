import ArgumentParser
import OAuth
import OpenIDConnect
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        _superCommandName: "tokenstore",
        abstract: "Show which token 'token' would return, and why, without changing anything.",
        discussion: """
            Takes the options of 'token'. Prints the accounts and access tokens that were considered, why each was \
            taken or left, and the result: a stored token, a refresh, or a sign-in that is needed. No token is \
            printed, nothing is written and no network is used.

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
        explanation.decision = explanation.decision.naming(console.given)
        try explanation.write(arguments, on: console)
    }

    private func explain(_ store: StoreInspection, in explanation: inout Explanation) throws {
        let choice = AccountChoice(filters, byClient: !token.familyTokens, at: token.authority)
        let selection = try store.select(choice.policy)
        explanation.accounts = selection.considered
        explanation.accountCount = try store.accountCount()
        let (account, client): (Account, String)
        do {
            (account, client) = try store.account(filters, byClient: !token.familyTokens, at: token.authority) {
                SignInAgain($0, "ID", nil, in: store, network, arguments)
            }
        } catch let failure as CommandFailure {
            explanation.decision = .fail(failure.sentence)
            return
        }
        let decider = TokenDecider(store: store, clientID: client, options: token.options(network, arguments))
        let request = try token.request(
            for: account,
            in: filters.tenant,
            of: client,
            in: store,
            timeout: arguments.timeout
        )
        explanation.clientID = client
        explanation.tokenCount = try store.summary(of: account.id)?.accessTokenCount ?? 0
        explanation.tokens = try store.consideredTokens(for: decider.query(request))
        let again = SignInAgain(account, client, request, in: store, network, arguments)
        do {
            explanation.decision = try decision(on: request, decider, (account, client), again, in: store)
            if case .fail(_, let error?) = explanation.decision {
                explanation.decision = .fail(again.meeting(error).completing(CommandFailure(error)).sentence)
            }
        } catch let error as TokenStoreError
            where [.failure, .interactionRequired].contains(CommandFailure(error).status)
        {
            explanation.decision = .fail(again.completing(CommandFailure(error)).sentence)
        }
    }
}

extension ExplainCommand {
    /// How `token` would decide: of an ID token by its own time, and else by a refresh.
    private func decision(
        on request: SilentRequest,
        _ decider: TokenDecider,
        _ owner: TokenOwner,
        _ again: SignInAgain,
        in store: StoreInspection
    ) throws -> ExplainedDecision {
        guard token.idToken else {
            let decision = try decider.decide(request)
            guard token.cached, case .refresh(_, at: _, let fallback) = decision else {
                return ExplainedDecision(decision)
            }
            if case .aging = fallback { return .serve("the stored token would be handed out") }
            try store.requireOpenableTokens(for: decider.query(request))
            return .fail(again.namingTenant(.notCached("token for this")).sentence)
        }
        if !token.forceRefresh, token.claims == nil,
            let stored = try token.storedIDToken(of: owner.account, owner.client, filters, in: store)
        {
            do {
                _ = try decider.limited(stored.end, request)
            } catch let error as AcquisitionError {
                return .fail(CommandFailure(error).sentence, error)
            }
            return .serve("the stored ID token would be handed out")
        }
        guard !token.cached else { return .fail(CommandFailure.notCached("ID token").sentence) }
        var forced = request
        forced.forcesRefresh = true
        return ExplainedDecision(try decider.decide(forced))
    }
}

/// How `token` would decide.
struct Explanation {
    /// Whether a filter makes ID tokens be opened one by one.
    let opensTokens: Bool
    var accounts: [AccountSelection.Consideration] = []
    var accountCount = 0
    var clientID: String?
    var tokens: [AccessTokenExplanation] = []
    var tokenCount = 0
    var decision = ExplainedDecision.fail("no account fits, because the store does not exist; sign in or import")

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        try ExplanationScreen(explanation: self, console: console).write()
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.array("accounts", accounts) { entry, json in
                json.object {
                    $0.member("homeAccountId", entry.account.id.homeAccountID)
                    $0.identifier("username", entry.account.username)
                    $0.member("isTaken", entry.isTaken)
                    $0.member("reason", entry.reason)
                }
            }
            $0.member("total", accountCount)
            $0.identifier("clientId", clientID)
            $0.member("accessTokenTotal", tokenCount)
            $0.array("accessTokens", tokens) { token, json in
                json.object {
                    $0.identifier("clientId", token.clientID)
                    $0.array("scopes", token.scope.tokens)
                    $0.member("tokenType", token.tokenType)
                    $0.time("expiresAt", Timestamp(token.expiresOn))
                    $0.member("isTaken", token.isTaken)
                    $0.member("reason", token.reason)
                }
            }
            $0.object("decision") { write(decision, to: &$0) }
        }
    }

    private func write(_ decision: ExplainedDecision, to json: inout JSONOutput) {
        json.member("action", decision.action)
        json.member("reason", decision.sentence)
        json.array("refreshTokens", decision.refreshTokens) { candidate, json in
            json.object {
                $0.identifier("clientId", candidate.token.clientID)
                $0.identifier("familyId", candidate.token.familyID)
                $0.time("storedAt", Timestamp(candidate.token.modifiedAt))
                $0.member("isPossiblySpent", candidate.isPossiblyConsumed)
            }
        }
    }
}

/// A decision in words.
enum ExplainedDecision {
    case serve(String)
    /// At the address of an authority, with refresh tokens in their order.
    case refresh(String, tokens: [RefreshCandidate], hasFallback: Bool)
    case fail(String, AcquisitionError? = nil)

    init(_ decision: TokenDecision) {
        switch decision {
        case .serve(let result):
            self = .serve(
                result.freshness == .fresh
                    ? "the stored token would be handed out"
                    : "the stored token would be handed out, as it cannot be refreshed now"
            )
        case .refresh(let tokens, let authority, let fallback):
            self = .refresh(authority.url, tokens: tokens, hasFallback: fallback != nil)
        case .fail(let error): self = .fail(CommandFailure(error).sentence, error)
        }
    }

    /// The decision whose advice says which store is meant, where the arguments said so.
    func naming(_ given: GivenStore) -> ExplainedDecision {
        guard case .fail(let sentence, let error) = self else { return self }
        return .fail(sentence.naming(given), error)
    }

    /// For scripts.
    var action: String {
        switch self {
        case .serve: "serve"
        case .refresh: "refresh"
        case .fail: "fail"
        }
    }

    var sentence: String {
        switch self {
        case .serve(let sentence), .fail(let sentence, _): sentence
        case .refresh(let address, tokens: _, let hasFallback):
            "a refresh at \(address) would be needed"
                + (hasFallback ? "; if that fails the stored token may still serve" : "")
        }
    }

    var refreshTokens: [RefreshCandidate] {
        if case .refresh(_, let tokens, _) = self { tokens } else { [] }
    }
}

extension RefreshCandidate {
    var isPossiblyConsumed: Bool { attempt != nil }
}
