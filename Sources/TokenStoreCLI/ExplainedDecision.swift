import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A decision in words.
enum ExplainedDecision {
    case serve(String)
    case refresh(String, tokens: [RefreshCandidate])
    case fail(String)

    init(_ decision: TokenDecision) {
        switch decision {
        case .serve(let result):
            self = .serve(
                result.freshness == .fresh
                    ? "the stored token would be handed out"
                    : "the stored token would be handed out, as it cannot be refreshed now"
            )
        case .refresh(let tokens, let authority, let fallback):
            let more = fallback == nil ? "" : "; if that fails the stored token may still serve"
            self = .refresh("a refresh at \(authority.url) would be needed\(more)", tokens: tokens)
        case .fail(let error): self = .fail(error.description)
        }
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
        case .serve(let sentence), .refresh(let sentence, tokens: _), .fail(let sentence): sentence
        }
    }

    var refreshTokens: [RefreshCandidate] {
        if case .refresh(_, let tokens) = self { tokens } else { [] }
    }
}

extension RefreshCandidate {
    /// Unix seconds.
    var storedAt: Int64? { token.modifiedAt.map { Int64($0.timeIntervalSince1970) } }

    var isPossiblySpent: Bool { attempt != nil }
}
