import Foundation
import JWTKit

/// Judges access tokens as an API would: through the issuer's published key set.
struct TokenVerifier: Sendable {
    let state: ProviderState

    /// The claims of a token of this provider; nil when signature, issuer or time is wrong.
    func claims(of token: String) async throws -> (claims: Claims, realm: Realm)? {
        let unverified = try? await JWTKeyCollection().unverified(token, as: Claims.self)  // not JSON means not a token
        guard let issuer = unverified?["iss"]?.text, let realm = state.realm(issuer: issuer) else { return nil }
        let keySet = try await state.keys.published(for: realm)
        let keys = try await JWTKeyCollection().add(jwksJSON: String(decoding: keySet.encoded, as: UTF8.self))
        do {
            let claims = try await keys.verify(token, as: Claims.self)
            return claims.isValid(at: state.clock.now) ? (claims, realm) : nil
        } catch {
            return nil  // whatever is wrong with it, it is no token of ours
        }
    }

    /// Like ``claims(of:)``, and not revoked either.
    func liveClaims(of token: String) async throws -> (claims: Claims, realm: Realm)? {
        guard let verified = try await claims(of: token), let id = verified.claims["jti"]?.text,
            let familyID = verified.claims["sid"]?.text,
            let family = await state.grants.liveFamily(ofAccessToken: id, familyID: familyID),
            await !state.users.isEnded(family.signedIn.userID, since: family.created)
        else { return nil }
        return verified
    }
}
