import Crypto
import Foundation

/// Makes and signs the tokens of one grant.
struct TokenMint: Sendable {
    let state: ProviderState

    /// What the tokens are about.
    struct Order: Sendable {
        let realm: Realm
        let client: Client
        let user: User
        let signedIn: SignedIn
        let scopes: ScopeRequest
        let familyID: String
        var refreshToken: String?
        var nonce: String?
        var addedClaims: [String: JSON] = [:]
        var idTokenFault: Fault.IDTokenFlaw?
    }

    /// The token response (RFC 6749 section 5.1 with the service's additions).
    func tokens(for order: Order) async throws -> Reply {
        let key = try await state.keys.active(for: order.realm)
        let now = Int(state.clock.now.timeIntervalSince1970)
        let lifetime = order.realm.policy?.accessTokenLifetime ?? Lifetime.accessToken
        let clientInfo: JSON = [
            "uid": .string(order.realm.accountID(of: order.user.id)), "utid": .string(order.realm.tenant.id),
        ]
        var members: [String: JSON] = [
            "token_type": "Bearer",
            "scope": .string(order.scopes.granted.joined(separator: " ")),
            "access_token": .string(try await key.sign(accessClaims(order, now: now, lifetime: lifetime))),
            "client_info": .string(try clientInfo.encoded.base64URL),
        ]
        if order.realm.policy == nil {
            members["expires_in"] = .integer(lifetime)
        } else {
            // User flows send numbers as text, and clients must cope.
            members["expires_in"] = .string("\(lifetime)")
            members["not_before"] = .string("\(now)")
        }
        if let refreshToken = order.refreshToken { members["refresh_token"] = .string(refreshToken) }
        if order.scopes.wantsIDToken {
            let token = try await key.sign(idClaims(order, now: now))
            members["id_token"] = .string(order.idTokenFault == .signature ? Self.forged(token) : token)
        }
        return try .json(.object(members))
    }

    private func accessClaims(_ order: Order, now: Int, lifetime: Int) -> Claims {
        var claims = commonClaims(order, now: now, lifetime: lifetime)
        claims["aud"] = .string(order.scopes.resource?.audience ?? order.realm.userInfoAudience)
        claims["scp"] = .string(
            order.scopes.granted.map { $0.split(separator: "/").last.map(String.init) ?? $0 }.joined(separator: " ")
        )
        claims["azp"] = .string(order.client.id)
        claims["appid"] = .string(order.client.id)
        claims["jti"] = .string(RandomToken.bytes(16).base64URL)
        claims["sid"] = .string(order.familyID)
        if !order.signedIn.contexts.isEmpty { claims["acrs"] = .array(order.signedIn.contexts.map(JSON.string)) }
        return claims
    }

    private func idClaims(_ order: Order, now: Int) -> Claims {
        var claims = commonClaims(order, now: now, lifetime: Lifetime.idToken)
        claims["aud"] = .string(order.client.id)
        claims["name"] = .string(order.user.name)
        claims["preferred_username"] = .string(order.user.email)
        claims["email"] = .string(order.user.email)
        claims["auth_time"] = .integer(Int(order.signedIn.at.timeIntervalSince1970))
        claims["amr"] = .array(order.signedIn.methods.map(JSON.string))
        if let nonce = order.nonce { claims["nonce"] = .string(nonce) }
        for (name, value) in order.user.attributes {
            guard let claim = order.realm.tenant.attribute(name)?.claim else { continue }
            claims[claim] = .string(value)
        }
        for (name, value) in order.addedClaims { claims[name] = value }
        switch order.idTokenFault {
        case .issuer: claims["iss"] = "https://elsewhere.example/v2.0"
        case .audience: claims["aud"] = "another-client"
        case .expiry: claims["exp"] = .integer(now - 3600)
        case .nonce: claims["nonce"] = "another-nonce"
        case .signature, nil: break
        }
        return claims
    }

    private func commonClaims(_ order: Order, now: Int, lifetime: Int) -> Claims {
        var claims = Claims([
            "iss": .string(order.realm.issuer),
            "sub": .string(Self.subject(of: order.user.id, for: order.client.id)),
            "oid": .string(order.user.id),
            "tid": .string(order.realm.tenant.id),
            "iat": .integer(now),
            "nbf": .integer(now),
            "exp": .integer(now + lifetime),
            "ver": "2.0",
        ])
        if let policy = order.realm.policy { claims["tfp"] = .string(policy.name) }
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
