import Crypto
import Foundation
import JWTKit
import OAuth

/// Makes and signs the tokens of one grant (L07).
struct TokenMint: Sendable {
    let endpoints: ClientEndpoints
    let user: User
    let scopes: ScopeRequest
    let addedClaims: [String: JSONValue]

    private var realm: Realm { endpoints.realm }
    private var client: Client { endpoints.client }

    /// The token response (RFC 6749 section 5.1), with the family's first refresh token unless another is given.
    ///
    /// The access token is bound to the key of a thumbprint where there is one (RFC 9449 section 6).
    func tokens(
        of family: Grants.Family,
        boundTo thumbprint: String? = nil,
        nonce: String? = nil,
        refreshToken: String? = nil
    ) async throws -> Reply {
        let thumbprint = endpoints.state.proofs.settings.bindsAccessTokens ? thumbprint : nil
        let key = try await endpoints.state.keys.active(for: realm)
        let now = Int(endpoints.state.clock.now.timeIntervalSince1970)
        let lifetime = realm.policy?.accessTokenLifetime ?? Lifetime.accessToken
        let clientInfo: JSONValue = ["uid": .string(realm.accountID(of: user.id)), "utid": .string(realm.tenant.id)]
        var access = accessClaims(of: family).merging(times(now, lifetime)) { $1 }
        access["cnf"] = thumbprint.map { ["jkt": .string($0)] }
        var idToken: String?
        if scopes.openID.contains("openid") {
            var claims = idClaims(of: family).merging(times(now, Lifetime.idToken)) { $1 }
            claims["nonce"] = nonce.map(JSONValue.string)
            idToken = try await signed(claims, by: key)
        }
        let ownRefreshToken = scopes.openID.contains("offline_access") ? family.token : nil
        // User flows send numbers as text, and clients must cope.
        let isPolicy = realm.policy != nil
        return .object([
            "token_type": thumbprint == nil ? "Bearer" : "DPoP",
            "scope": .string(scopes.granted.joined(separator: " ")),
            "expires_in": isPolicy ? .string("\(lifetime)") : .integer(lifetime),
            "not_before": isPolicy ? .string("\(now)") : nil,
            "access_token": .string(try await key.sign(SignedClaims(access))),
            "refresh_token": (refreshToken ?? ownRefreshToken).map(JSONValue.string),
            "id_token": idToken.map(JSONValue.string),
            "client_info": .string(clientInfo.encoded.base64URL),
        ])
    }

    private func times(_ now: Int, _ lifetime: Int) -> [String: JSONValue] {
        ["iat": .integer(now), "nbf": .integer(now), "exp": .integer(now + lifetime)]
    }

    private var identity: [String: JSONValue] {
        var claims: [String: JSONValue] = [
            "iss": .string(realm.issuer), "sub": .string(Self.subject(of: user.id, for: client.id)),
            "oid": .string(user.id), "tid": .string(realm.tenant.id), "ver": "2.0",
        ]
        claims["tfp"] = realm.policy.map { .string($0.name) }
        claims["idp"] = user.identityProvider.map(JSONValue.string)
        return claims
    }

    private func accessClaims(of family: Grants.Family) -> [String: JSONValue] {
        var claims = identity
        let names = scopes.granted.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        claims["aud"] = .string(scopes.resource?.audience ?? realm.userInfoAudience)
        claims["scp"] = .string(names.joined(separator: " "))
        claims["azp"] = .string(client.id)
        claims["appid"] = .string(client.id)
        claims["jti"] = .string(RandomToken.make(bytes: 16))
        claims["sid"] = .string(family.id)
        let contexts = family.signedIn.contexts
        claims["acrs"] = contexts.isEmpty ? nil : .array(contexts.map(JSONValue.string))
        return claims
    }

    private func idClaims(of family: Grants.Family) -> [String: JSONValue] {
        var claims = identity
        claims["aud"] = .string(client.id)
        claims["name"] = .string(user.name)
        claims["preferred_username"] = .string(user.email)
        claims["email"] = .string(user.email)
        claims["auth_time"] = .integer(Int(family.signedIn.at.timeIntervalSince1970))
        claims["amr"] = .array(family.signedIn.methods.map(JSONValue.string))
        return claims.merging(realm.tenant.claims(of: user.attributes)) { $1 }.merging(addedClaims) { $1 }
    }

    /// Signs an ID token, wrong in the way that a fault asks for.
    private func signed(_ claims: [String: JSONValue], by key: SigningKey) async throws -> String {
        var claims = claims
        switch endpoints.exchange.flaw {
        case .issuer: claims["iss"] = "https://elsewhere.example/v2.0"
        case .audience: claims["aud"] = "another-client"
        case .expiry: claims["exp"] = .integer(Int(claims["iat"]?.seconds ?? 0) - 3600)
        case .nonce: claims["nonce"] = "another-nonce"
        case .signature:
            let token = try await key.sign(SignedClaims(claims))
            let signature = token.split(separator: ".").last ?? ""
            return token.dropLast(signature.count) + (Base64URL.decode(signature.utf8) ?? []).reversed().base64URL
        case nil: break
        }
        return try await key.sign(SignedClaims(claims))
    }

    /// Two clients cannot tell that they serve the same person (OpenID Connect Core section 8.1).
    static func subject(of userID: String, for clientID: String) -> String {
        SHA256.hash(data: Array("\(userID) \(clientID)".utf8)).base64URL
    }
}

struct SignedClaims: JWTPayload, Sendable {
    let values: [String: JSONValue]

    subscript(name: String) -> JSONValue? { values[name] }

    var scopes: Set<String> { Set((values["scp"]?.text ?? "").split(separator: " ").map(String.init)) }

    init(_ values: [String: JSONValue]) { self.values = values }

    init(from decoder: any Decoder) throws {
        values = try [String: CodableJSON](from: decoder).mapValues(\.value)
    }

    func encode(to encoder: any Encoder) throws { try values.mapValues(CodableJSON.init).encode(to: encoder) }

    /// Checks the signature only; the caller checks the claims by the provider's clock.
    func verify(using algorithm: some JWTAlgorithm) {}

    func isValid(at now: Date) -> Bool {
        guard let expires = values["exp"]?.seconds, let start = values["nbf"]?.seconds else { return false }
        return (start..<expires).contains(now.unixSeconds)
    }

    static func unverified(_ token: String) async -> SignedClaims? {
        try? await JWTKeyCollection().unverified(token, as: SignedClaims.self)  // what does not parse is not a token
    }

    /// The claims if a key of `keySet` signed them.
    static func verified(_ token: String, by keySet: JSONValue) async throws -> SignedClaims? {
        let keys = try await JWTKeyCollection().add(jwksJSON: keySet.serialized)
        return try? await keys.verify(token, as: SignedClaims.self)  // for any reason: it is not one of our tokens
    }
}

/// A JSON value for Swift's coders.
private struct CodableJSON: Codable {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let flag = try? container.decode(Bool.self) {  // a failed try means another kind of value
            value = .bool(flag)
        } else if let number = try? container.decode(Int.self) {
            value = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            value = .number("\(number)")
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let elements = try? container.decode([CodableJSON].self) {
            value = .array(elements.map(\.value))
        } else {
            value = JSONValue(try container.decode([String: CodableJSON].self).mapValues(\.value))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .number(let text):
            if let number = Int(text) { try container.encode(number) } else { try container.encode(Double(text)) }
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements.map(CodableJSON.init))
        case .object(let object):
            try container.encode(Dictionary(object.members.map { ($0.name, CodableJSON($0.value)) }) { $1 })
        }
    }
}
