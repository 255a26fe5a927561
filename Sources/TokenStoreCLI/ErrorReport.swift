import OAuth

/// Writes why a command ended to standard error, as a line or as JSON.
struct ErrorReport {
    private static let candidateLimit = 20

    let failure: CommandFailure

    func write(asJSON: Bool) {
        StandardError.write(asJSON ? json : text)
    }

    var text: String {
        var text = "tokenstore: error: \(failure.message)"
        if let hint = failure.hint { text += "; \(hint)" }
        text = text.printable + "\n"
        for account in failure.candidates.prefix(Self.candidateLimit) {
            let parts = [account.id.homeAccountID, account.username, account.issuer ?? account.environment]
            text +=
                "  " + (parts + [account.policy].compactMap(\.self)).joined(separator: "  ").bounded.printable + "\n"
        }
        let more = failure.candidateCount - min(failure.candidates.count, Self.candidateLimit)
        return more > 0 ? text + "  and \(more.grouped) more\n" : text
    }

    private var json: String {
        var json = JSONOutput()
        json.object {
            $0.object("error") {
                $0.member("code", failure.status.rawValue)
                $0.member("exitCode", Int(failure.status.code))
                $0.member("message", failure.message)
                $0.member("hint", failure.hint)
                if failure.status == .ambiguous { candidates(to: &$0) }
            }
        }
        json.endLine()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func candidates(to json: inout JSONOutput) {
        json.member("total", failure.candidateCount)
        json.array("candidates", failure.candidates) { account, json in
            json.object {
                $0.member("homeAccountId", account.id.homeAccountID)
                $0.identifier("username", account.username)
                $0.identifier("environment", account.environment)
                $0.identifier("issuer", account.issuer)
                $0.identifier("policy", account.policy)
            }
        }
    }
}
