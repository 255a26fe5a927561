import Crypto
import Foundation

/// Makes and signs the tokens of one grant.
struct TokenMint: Sendable {
    let state: ProviderState
    let request: ClientRequest
    let user: User
    let family: RefreshFamily
    let scopes: ScopeRequest
    let nonce: String?
    let addedClaims: [String: JSON]

    private var realm: Realm { request.realm }
    private var client: Client { request.client }
    private var flaw: Fault.IDTokenFlaw? { request.exchange.idTokenFault }

    /// The token response (RFC 6749 section 5.1 with the service's additions).
    func tokens(refreshToken: String?) async throws -> Reply {
        let key = try await state.keys.active(for: realm)
        let now = Int(state.clock.now.timeIntervalSince1970)
        let lifetime = realm.policy?.accessTokenLifetime ?? Lifetime.accessToken
        let clientInfo: JSON = [
            "uid": .string(realm.accountID(of: user.id)), "utid": .string(realm.tenant.id),
        ]
        var members: [String: JSON] = [
            "token_type": "Bearer",
            "scope": .string(scopes.granted.joined(separator: " ")),
            "access_token": .string(try await key.sign(accessClaims(now: now, lifetime: lifetime))),
            "client_info": .string(try clientInfo.encoded.base64URL),
        ]
        if realm.policy == nil {
            members["expires_in"] = .integer(lifetime)
        } else {
            // User flows send numbers as text, and clients must cope.
            members["expires_in"] = .string("\(lifetime)")
            members["not_before"] = .string("\(now)")
        }
        if let refreshToken { members["refresh_token"] = .string(refreshToken) }
        if scopes.wantsIDToken {
            let token = try await key.sign(idClaims(now: now))
            members["id_token"] = .string(flaw == .signature ? Self.forged(token) : token)
        }
        return try .json(.object(members))
    }

    private func accessClaims(now: Int, lifetime: Int) -> Claims {
        var claims = commonClaims(now: now, lifetime: lifetime)
        claims["aud"] = .string(scopes.resource?.audience ?? realm.userInfoAudience)
        claims["scp"] = .string(
            scopes.granted.map { $0.split(separator: "/").last.map(String.init) ?? $0 }.joined(separator: " ")
        )
        claims["azp"] = .string(client.id)
        claims["appid"] = .string(client.id)
        claims["jti"] = .string(RandomToken.bytes(16).base64URL)
        claims["sid"] = .string(family.id)
        if !family.signedIn.contexts.isEmpty { claims["acrs"] = .array(family.signedIn.contexts.map(JSON.string)) }
        return claims
    }

    private func idClaims(now: Int) -> Claims {
        var claims = commonClaims(now: now, lifetime: Lifetime.idToken)
        claims["aud"] = .string(client.id)
        claims["name"] = .string(user.name)
        claims["preferred_username"] = .string(user.email)
        claims["email"] = .string(user.email)
        claims["auth_time"] = .integer(Int(family.signedIn.at.timeIntervalSince1970))
        claims["amr"] = .array(family.signedIn.methods.map(JSON.string))
        if let nonce { claims["nonce"] = .string(nonce) }
        for (name, value) in realm.tenant.claims(of: user.attributes) { claims[name] = value }
        for (name, value) in addedClaims { claims[name] = value }
        switch flaw {
        case .issuer: claims["iss"] = "https://elsewhere.example/v2.0"
        case .audience: claims["aud"] = "another-client"
        case .expiry: claims["exp"] = .integer(now - 3600)
        case .nonce: claims["nonce"] = "another-nonce"
        case .signature, nil: break
        }
        return claims
    }

    private func commonClaims(now: Int, lifetime: Int) -> Claims {
        var claims = Claims([
            "iss": .string(realm.issuer),
            "sub": .string(Self.subject(of: user.id, for: client.id)),
            "oid": .string(user.id),
            "tid": .string(realm.tenant.id),
            "iat": .integer(now),
            "nbf": .integer(now),
            "exp": .integer(now + lifetime),
            "ver": "2.0",
        ])
        if let policy = realm.policy { claims["tfp"] = .string(policy.name) }
        return claims
    }

    /// Two clients cannot tell that they serve the same person (OpenID Connect Core section 8.1).
    static func subject(of userID: String, for clientID: String) -> String {
        SHA256.hash(data: Array("\(userID) \(clientID)".utf8)).base64URL
    }

    private static func forged(_ token: String) -> String {
        let signature = token.split(separator: ".").last ?? ""
        return token.dropLast(signature.count) + String(signature.reversed())
    }
}
