import ArgumentParser
import OAuth
import Sealing
import TokenManagement

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
                "the access token has characters that a terminal or a header would obey, and was not printed",
                "ask the issuer for another one with --force-refresh"
            )
        }
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
        Timestamp(Int64(result.accessToken.expiresAt.timeIntervalSince1970))
    }
}
