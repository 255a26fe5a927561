import ArgumentParser
import OAuth
import Sealing
import TokenManagement

/// How `token` prints a token.
enum TokenFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case header
    case env
    case execCredential = "exec-credential"

    /// The variable of a shell that gets the token.
    struct Assignment {
        let name: String
        let isExported: Bool
    }

    func write(_ token: HandedToken, as assignment: Assignment, on console: Console) throws {
        if token.isBound { try explainProof(of: token, on: console) }
        let secret = token.secret.reveal()
        switch self {
        case .text: try console.line(secret)
        case .header: try console.line("Authorization: \(token.scheme) \(secret)")
        case .env: try console.line("\(assignment.isExported ? "export " : "")\(assignment.name)=\(secret.shellQuoted)")
        case .json: return try console.document { Self.members(token, secret, to: &$0) }
        case .execCredential: try console.line(KubernetesExecution.requested().credential(token))
        }
        try console.output.flush()
    }

    /// Says what a token needs that is bound to a key; the formats in which it would be sent as it is are refused.
    private func explainProof(of token: HandedToken, on console: Console) throws {
        switch self {
        case .json: return
        case .text: console.note("this token is bound to a key; a web API takes it only with a DPoP proof of that key")
        case .header, .env, .execCredential: try token.requireUnbound()
        }
    }

    private static func members(_ token: HandedToken, _ secret: String, to json: inout JSONOutput) {
        if let scopes = token.scopes {
            json.member("accessToken", secret)
            json.member("tokenType", token.scheme)
            json.time("expiresAt", token.end)
            json.array("scopes", scopes)
            json.array("declinedScopes", token.declinedScopes)
        } else {
            json.member("idToken", secret)
            json.time("expiresAt", token.end)
        }
        json.member("homeAccountId", token.account.id.homeAccountID)
        json.member("source", token.source.rawValue)
    }
}
