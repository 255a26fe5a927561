public import OAuth

/// Checks an ID token against what was asked for
/// ([OpenID Connect Core §3.1.3.7, §12.2](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)).
public struct IDTokenValidator: Sendable {
    public let issuer: String
    public let clientID: String

    /// What the authorization request sent; a refresh has none.
    public var nonce: String?

    /// The user that an earlier ID token of the session named.
    public var subject: String?

    /// Seconds that clocks may differ by.
    public var leeway: Int64 = 120

    public init(issuer: String, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }

    /// Checks the signature.
    ///
    /// - Throws: ``IDTokenFlaw``; ``IDTokenFlaw/unknownKey`` if newer keys may be worth fetching.
    public func checkSignature(of token: IDToken, keys: JSONWebKeySet) throws(IDTokenFlaw) {
        let isGenuine = try token.secret.withUnsafeBytes { bytes throws(IDTokenFlaw) in
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 3, let header = Self.object(parts[0]), let algorithm = header["alg"]?.text,
                let signature = Base64URL.decode(parts[2]), !signature.isEmpty, header["crit"] == nil
            else { throw .unreadable }
            let keyID = header["kid"]?.text
            guard keys.contains(keyID) else { throw .unknownKey }
            let message = Array(bytes.prefix(parts[0].count + 1 + parts[1].count))
            return keys.verifies(signature, of: message, algorithm: algorithm, keyID: keyID)
        }
        guard isGenuine else { throw .signature }
    }

    /// Checks who issued the token, for whom, to whom, and when.
    ///
    /// The clocks are ours and, where its answer told, the issuer's, in Unix seconds; one that fits is enough.
    ///
    /// - Throws: ``IDTokenFlaw``.
    public func checkClaims(of token: IDToken, clocks: [Int64]) throws(IDTokenFlaw) {
        let claims = token.claims
        guard let found = claims.issuer, found == expectedIssuer(claims) else { throw .issuer }
        guard claims.audiences.contains(clientID) else { throw .audience }
        if let party = claims.payload["azp"]?.text, party != clientID { throw .audience }
        if claims.audiences.count > 1, claims.payload["azp"] == nil { throw .audience }
        guard let end = claims.payload["exp"]?.seconds else { throw .time }
        let start = claims.payload["nbf"]?.seconds ?? claims.issuedAt ?? .min
        let isTimely = clocks.contains { now in now < end + leeway && start <= now + leeway }
        guard isTimely else { throw .time }
        if let nonce {
            guard let found = claims.payload["nonce"]?.text, Secret(found) == Secret(nonce) else { throw .nonce }
        }
        if let subject, claims.subject != subject { throw .subject }
    }

    /// Microsoft's metadata for many tenants has a place for the tenant where the token has its id.
    private func expectedIssuer(_ claims: Claims) -> String {
        issuer.replacing("{tenantid}", with: claims.tenantID ?? "")
    }

    private static func object(_ part: some Sequence<UInt8>) -> JSON.Object? {
        // What cannot be read is reported as such by the caller.
        Base64URL.decode(part).flatMap { bytes in bytes.withUnsafeBytes { try? JSON(parsing: $0).object } }
    }
}
