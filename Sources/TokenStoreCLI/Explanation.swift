import OAuth
import TokenManagement
import TokenStorage

/// How `token` would decide.
struct Explanation {
    /// Whether a filter makes ID tokens be opened one by one.
    let opensTokens: Bool
    var accounts: [AccountSelection.Consideration] = []
    var accountCount = 0
    var clientID: String?
    var tokens: [ConsideredToken] = []
    var tokenCount = 0
    var decision = ExplainedDecision.fail("no account fits, for there is no store; sign in or import")

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        try console.line("accounts considered:")
        if opensTokens { try console.line("  ~= opens the ID tokens of the accounts that the other filters leave") }
        for entry in accounts {
            let name = "\(entry.account.username) (\(entry.account.id.homeAccountID))"
            try console.line("  \(entry.isTaken ? "taken" : "left"): \(name): \(entry.reason)".printable)
        }
        try writeRest(accountCount - accounts.count, "account", on: console)
        try console.line("access tokens considered:")
        for token in tokens {
            let end = console.time(token.expiresOn)
            let name = "\(token.tokenType) \(token.scope.text), ends \(end)"
            try console.line("  \(token.isTaken ? "taken" : "left"): \(name): \(token.reason)".printable)
        }
        try writeRest(tokenCount - tokens.count, "token", on: console)
        try console.line("decision: \(decision.sentence)".printable)
        for candidate in decision.refreshTokens {
            let doubt = candidate.isPossiblySpent ? ", may have been spent by an interrupted refresh" : ""
            let stored = console.time(candidate.storedAt)
            try console.line(
                "  refresh token of client \(candidate.token.clientID), stored \(stored)\(doubt)".printable
            )
        }
        try console.output.flush()
    }

    private func writeRest(_ count: Int, _ noun: String, on console: Console) throws {
        if count > 0 { try console.line("  (and \(count.grouped) more \(noun)\(count == 1 ? "" : "s"))") }
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
                $0.time("storedAt", Timestamp(candidate.storedAt))
                $0.member("isPossiblySpent", candidate.isPossiblySpent)
            }
        }
    }
}
