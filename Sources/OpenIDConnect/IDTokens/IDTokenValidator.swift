package import OAuth

/// Checks an ID token against what was asked for
/// ([OpenID Connect Core §3.1.3.7, §12.2](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)).
package struct IDTokenValidator: Sendable {
    package let issuer: String
    package let clientID: String

    /// What the authorization request sent; a refresh and a device code have none.
    package var nonce: String?

    /// The nonces that earlier ID tokens of the session have.
    ///
    /// The token of a refresh needs none, but one that it has is one of them (OpenID Connect Core §12.2); if there
    /// are none it may be any.
    package var earlierNonces: [String] = []

    /// The access token beside it, for the hash that the ID token may have of it.
    package var accessToken: Secret?

    /// The user that an earlier ID token of the session named.
    package var subject: String?

    /// How many seconds ago the user may have signed in at the issuer, where the request said so (OpenID Connect Core
    /// §3.1.2.1).
    package var maximumAge: Int64?

    /// Whether the token has to say when the user signed in; it has to where there is a maximum age.
    package var requiresSignInTime = false

    /// Seconds that clocks may differ by.
    package var leeway: Int64 = 120

    package init(issuer: String, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }

    /// Checks the signature.
    ///
    /// - Throws: ``IDTokenFlaw``, which says whether newer keys may be worth fetching.
    package func checkSignature(of token: IDToken, keys: JSONWebKeySet) throws(IDTokenFlaw) {
        try Self.checkSignature(of: token, keys: keys)
    }

    /// The same where nothing is expected of the claims.
    static func checkSignature(of token: IDToken, keys: JSONWebKeySet) throws(IDTokenFlaw) {
        let jws = try CompactJWS(token.secret)
        let key = try keys.signer(of: jws)
        guard let keyIssuer = key.issuer else { return }
        // A key set of many tenants says which of them each key is for.
        guard let found = jws.claims.issuer, isSame(keyIssuer, found, jws.claims) else { throw .unsuitableKey }
    }

    /// Checks who issued the token, for whom, to whom, and when.
    ///
    /// The clocks are ours and, where its answer told, the issuer's, in Unix seconds; one that fits is enough.
    ///
    /// - Throws: ``IDTokenFlaw``.
    package func checkClaims(of token: IDToken, clocks: [Int64]) throws(IDTokenFlaw) {
        let jws = try CompactJWS(token.secret)
        let claims = jws.claims
        let found = try Self.text("iss", claims)
        let user = try Self.text("sub", claims)
        guard !user.isEmpty else { throw .emptySubject }
        guard Self.isSame(issuer, found, claims) else { throw .issuer }
        try checkAudience(claims)
        try checkTimes(claims, clocks)
        try checkSignInTime(claims, clocks)
        if let nonce {
            guard let found = claims.payload["nonce"]?.text, Secret(found) == Secret(nonce) else { throw .nonce }
        }
        if !earlierNonces.isEmpty, let named = Self.optionalClaim("nonce", claims) {
            let isKnown = named.text.map { found in earlierNonces.contains { $0.hasSameBytes(as: found) } }
            guard isKnown == true else { throw .nonce }
        }
        if let accessToken, let hash = Self.optionalClaim("at_hash", claims) {
            let isSame = hash.text.map { jws.algorithm.accessTokenHashes(accessToken).contains(Secret($0)) }
            guard isSame == true else { throw .accessToken }
        }
        if let subject {
            guard Secret(user) == Secret(subject) else { throw .subject }
        } else {
            guard !user.hasControlCharacters else { throw .subjectText }
        }
    }

    private func checkAudience(_ claims: Claims) throws(IDTokenFlaw) {
        guard let named = claims.payload["aud"] else { throw .missing("aud") }
        let audiences = claims.audiences
        // A list with anything but texts in it says less than it seems to.
        let isWhole = named.array.map { $0.count == audiences.count } ?? !audiences.isEmpty
        guard isWhole else { throw .mistyped("aud") }
        guard audiences.contains(where: { $0.hasSameBytes(as: clientID) }) else { throw .audience }
        guard let party = Self.optionalClaim("azp", claims) else {
            guard audiences.count == 1 else { throw .furtherAudiences }
            return
        }
        guard party.text?.hasSameBytes(as: clientID) == true else { throw .authorizedParty }
    }

    private func checkTimes(_ claims: Claims, _ clocks: [Int64]) throws(IDTokenFlaw) {
        guard let end = try Self.time("exp", claims) else { throw .missing("exp") }
        guard let issued = try Self.time("iat", claims) else { throw .missing("iat") }
        let start = max(issued, try Self.time("nbf", claims) ?? issued)
        let unended = clocks.filter { $0 < end + leeway }
        guard !unended.isEmpty else { throw .expired }
        guard unended.contains(where: { start <= $0 + leeway }) else { throw .notYetValid }
    }

    private func checkSignInTime(_ claims: Claims, _ clocks: [Int64]) throws(IDTokenFlaw) {
        guard requiresSignInTime || maximumAge != nil else { return }
        guard let signIn = try Self.time("auth_time", claims) else { throw .missing("auth_time") }
        guard let maximumAge else { return }
        let isRecent = clocks.contains { now in
            let (age, overflows) = now.subtractingReportingOverflow(signIn)
            return !overflows && age >= -leeway && age - leeway <= maximumAge
        }
        guard isRecent else { throw .oldSignIn }
    }

    private static func text(_ name: String, _ claims: Claims) throws(IDTokenFlaw) -> String {
        guard let value = claims.payload[name] else { throw .missing(name) }
        guard let text = value.text else { throw .mistyped(name) }
        return text
    }

    /// A claim that need not be there; null is as if it were not.
    private static func optionalClaim(_ name: String, _ claims: Claims) -> JSONValue? {
        guard let value = claims.payload[name], !value.isNull else { return nil }
        return value
    }

    /// A time in Unix seconds, which is a number and never a text that holds one.
    private static func time(_ name: String, _ claims: Claims) throws(IDTokenFlaw) -> Int64? {
        guard let value = optionalClaim(name, claims) else { return nil }
        guard case .number = value, let seconds = value.seconds else { throw .mistyped(name) }
        return seconds
    }

    private static let google = "https://accounts.google.com"

    /// Whether a token's issuer is the one expected.
    ///
    /// Microsoft's metadata for many tenants has a place for the tenant where the token has its id. Google leaves
    /// `https://` out for older clients (OpenID Connect Core §15.6.2).
    private static func isSame(_ expected: String, _ found: String, _ claims: Claims) -> Bool {
        // A search takes quadratic time on combining marks, which Microsoft's metadata has none of.
        guard expected.utf8.allSatisfy({ $0 < 0x80 }), expected.contains("{tenantid}") else {
            let isGoogles = expected.hasSameBytes(as: google) && google.hasSameBytes(as: "https://" + found)
            return isGoogles || expected.hasSameBytes(as: found)
        }
        guard let tenant = claims.tenantID, ClientInfo.isTenantID(tenant) else { return false }
        return expected.replacing("{tenantid}", with: tenant).hasSameBytes(as: found)
    }
}
