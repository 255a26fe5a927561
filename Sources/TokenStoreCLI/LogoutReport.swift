import OAuth
import TokenManagement
import TokenStorage

/// What a sign-out is about to do.
struct LogoutPlan {
    let account: Account
    let clients: [String]
    let isLocal: Bool

    var question: String { "Sign out \(what)" }

    private var what: String {
        let policy = account.policy.map { " (\($0))" } ?? ""
        let clients = clients.isEmpty ? "" : " of \(clients.joined(separator: ", "))"
        return account.shownName + policy + clients + (isLocal ? ", here only" : ", here and at the issuer")
    }

    /// Prints what would be done.
    func write(_ arguments: StoreArguments, on console: Console) throws {
        guard arguments.json else {
            try console.line("would sign out \(what)".printable)
            return try console.output.flush()
        }
        try console.document {
            $0.member("dryRun", true)
            $0.member("homeAccountId", account.id.homeAccountID)
            $0.array("clientIds", clients)
            $0.member("localOnly", isLocal)
        }
    }
}

extension Account {
    /// What people call the account.
    fileprivate var shownName: String { username.isEmpty ? id.homeAccountID : username }
}

/// What became of an account's sessions.
struct LogoutReport {
    let account: Account
    let outcome: SignOutOutcome

    private var reports: [(client: String, report: SignOutReport)] { outcome.reports }

    func write(_ arguments: StoreArguments, on console: Console) throws {
        for (client, report) in reports {
            switch report {
            case .failed(let reason):
                console.note("the session of client \(client) was not ended at the issuer: \(reason)")
            case .notOffered:
                console.note("the issuer revokes no tokens; that of client \(client) is good there until it expires")
            case .revoked, .nothingToRevoke, .localOnly: break
            }
        }
        if case .unfinished(let sentence) = outcome.erasure { console.note(sentence) }
        guard !arguments.json else { return try document(on: console) }
        guard !console.isQuiet else { return }
        let isRevoked = reports.contains { $0.report == .revoked }
        try console.line(
            "signed out \(account.shownName)\(isRevoked ? "; the issuer ended the session" : "")".printable
        )
        try console.output.flush()
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.member("homeAccountId", account.id.homeAccountID)
            $0.array("revocations", reports) { entry, json in
                json.object {
                    $0.member("clientId", entry.client)
                    $0.member("outcome", entry.report.word)
                    $0.member("reason", entry.report.reason)
                }
            }
            $0.member("oldBytesRemain", outcome.erasure != .complete)
        }
    }
}

extension SignOutReport {
    fileprivate var word: String {
        switch self {
        case .revoked: "revoked"
        case .nothingToRevoke: "nothing_to_revoke"
        case .notOffered: "not_offered"
        case .localOnly: "local_only"
        case .failed: "failed"
        }
    }

    fileprivate var reason: String? {
        if case .failed(let reason) = self { reason } else { nil }
    }
}
