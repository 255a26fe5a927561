import HTTPTransport
import Logging
public import OAuth
import OpenIDConnect
import TokenStorage

extension TokenManager {
    /// Signs an account out of this client: revokes its refresh tokens at the issuer, then removes them.
    ///
    /// A refresh in flight does not bring the account back. Doing it twice is no error. A local sign-out leaves the
    /// issuer out of it.
    ///
    /// - Returns: what the issuer made of it; the account is removed all the same.
    /// - Throws: `TokenStoreError`.
    @discardableResult
    public func signOut(_ account: Account.ID, locally isLocal: Bool = false) async throws -> SignOutReport {
        let report = isLocal ? .localOnly : try await revokeTokens(of: account)
        try await store.perform { [clientID] in try $0.removeAccount(account, client: clientID) }
        return report
    }

    private func revokeTokens(of id: Account.ID) async throws -> SignOutReport {
        let (account, tokens) = try await store.perform { [clientID] store in
            (try store.account(id), try store.refreshTokens(of: id, client: clientID))
        }
        guard let account, !tokens.isEmpty else { return .nothingToRevoke }
        do {
            let authority = try Authority(of: account, requested: nil)
            let issuer = Issuer(authority: authority, store: store, transport: transport, limits: options.limits)
            guard let url = try await issuer.metadata().revocationEndpoint else { return .notOffered }
            let endpoint = RevocationEndpoint(url, transport: transport, limits: options.limits)
            for token in tokens { try await endpoint.revoke(token.secret, clientID: clientID) }
            return .revoked
        } catch let error as TokenStoreError {
            throw error
        } catch {
            options.logger.info("a refresh token was not revoked", metadata: ["reason": "\(error)"])
            return .failed("\(error)")
        }
    }
}
