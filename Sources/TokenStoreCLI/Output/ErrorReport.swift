import OAuth
import TokenStorage

/// What is known of a failure besides its words.
struct FailureFacts {
    private(set) var account: Account?
    private(set) var issuer: String?

    /// What the issuer adds to its error, such as `bad_token`.
    private(set) var suberror: String?

    /// In how many seconds the next attempt is welcome.
    private(set) var retryAfter: Int?

    /// Whether what failed is to write to standard output.
    var isOfOutput = false

    mutating func take(_ refusal: OAuthError?, _ wait: Duration?) {
        take(suberror: refusal?.suberror, wait)
    }

    mutating func take(suberror: String?, _ wait: Duration?) {
        self.suberror = suberror
        retryAfter = wait.map { Int($0.secondsRoundedUp) }
    }

    mutating func concern(_ account: Account) {
        self.account = account
        issuer = account.issuer
    }

    mutating func concern(issuer: String?) { self.issuer = issuer }
}

/// Writes why a command ended to standard error, as a line or as JSON.
struct ErrorReport {
    private static let candidateLimit = 20

    let failure: CommandFailure

    func write(asJSON: Bool) {
        StandardError.write(asJSON ? json : text)
    }

    var text: String {
        var text = "tokenstore: error: \(failure.sentence)".printable + "\n"
        for account in failure.candidates.prefix(Self.candidateLimit) {
            let parts = [account.id.homeAccountID, account.username, place(of: account)]
            let line = (parts + [account.userFlow].compactMap(\.self)).joined(separator: "  ")
            text += "  " + line.boundedSentence.printable + "\n"
        }
        let more = failure.candidateCount - min(failure.candidates.count, Self.candidateLimit)
        return more > 0 ? text + "  and \(more.grouped) more\n" : text
    }

    /// The issuer of a candidate, with the host where it is that of another one elsewhere, too.
    private func place(of account: Account) -> String {
        guard let issuer = account.issuer else { return account.environment }
        let isShared = failure.candidates.contains { $0.issuer == issuer && $0.environment != account.environment }
        return isShared ? "\(issuer) at \(account.environment)" : issuer
    }

    private var json: String {
        var json = JSONOutput()
        json.object {
            $0.object("error") {
                $0.member("code", failure.status.rawValue)
                $0.member("exitCode", Int(failure.status.code))
                $0.member("message", failure.message)
                $0.member("hint", failure.hint)
                facts(to: &$0)
                if failure.status == .ambiguous { candidates(to: &$0) }
            }
        }
        json.endLine()
        return json.text
    }

    private func facts(to json: inout JSONOutput) {
        if let account = failure.facts.account {
            json.object("account") {
                $0.member("homeAccountId", account.id.homeAccountID)
                $0.identifier("username", account.username)
            }
        } else {
            json.member("account", JSONValue.null)
        }
        json.member("issuer", failure.facts.issuer)
        json.member("suberror", failure.facts.suberror)
        json.member("retryAfter", failure.facts.retryAfter)
    }

    private func candidates(to json: inout JSONOutput) {
        json.member("total", failure.candidateCount)
        json.array("candidates", failure.candidates) { account, json in
            json.object {
                $0.member("homeAccountId", account.id.homeAccountID)
                $0.identifier("username", account.username)
                $0.identifier("environment", account.environment)
                $0.identifier("issuer", account.issuer)
                $0.identifier("policy", account.userFlow)
            }
        }
    }
}
