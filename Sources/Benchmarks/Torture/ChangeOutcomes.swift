import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a store is after each change where nothing fails.
final class ChangeOutcomes: Sendable {
    private let known = Guarded<[Change: [String]]>([:])

    /// Makes the change to a copy of `model` in `directory`, once.
    func value(for change: Change, directory: String) throws -> [String] {
        if let state = known.withLock({ $0[change] }) { return state }
        let copy = directory + "/wanted-\(change)"
        try FileManager.default.copyItem(atPath: directory + "/model", toPath: copy)
        let path = StorePath(copy + "/")
        try change.make(at: path, in: TokenStore.open(at: path))
        let state = try Self.state(of: path)
        known.withLock { $0[change] = state }
        return state
    }

    /// Everything that a change may change, as lines.
    static func state(of path: StorePath) throws -> [String] {
        let store = try TokenStore.open(at: path)
        var lines: [String] = []
        try store.forEachAccount(withTokens: true) { summary in
            let tokens = try store.refreshTokens(of: summary.account.id, client: SampleAccount.client)
                .map { $0.secret.reveal().prefix(20) }
            let idTokens = try store.idTokens(of: summary.account.id).map { $0.idToken.claims.issuedAt ?? 0 }
            let cached = try (0..<2).map { index in
                let account = SampleAccount.query(of: summary.account.id, index)
                guard case .usable(let token, _) = try store.cachedToken(for: account) else { return "none" }
                return String(token.secret.reveal().prefix(20))
            }
            lines.append("\(summary.account.username) \(tokens) \(idTokens) \(cached) \(summary.accessTokens.count)")
        }
        return lines
    }
}
