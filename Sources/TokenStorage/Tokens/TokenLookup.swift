import Crypto
import Database
import OAuth
import Sealing

/// The access tokens that a lookup found.
struct FoundTokens {
    /// The best that is good to use.
    var usable: AccessToken?

    /// Whether that one is worth refreshing.
    var isAging = false

    /// The best that is good only while the issuer cannot be reached.
    var extended: AccessToken?

    /// Takes out the best that is good to use, as a lookup's answer: a copy of a token counts six references.
    mutating func takeUsable() -> CachedToken? { usable.take().map { .usable($0, isAging: isAging) } }
}

extension StoreConnection {
    /// What the store has for `query`.
    func cachedToken(_ query: TokenQuery) throws -> CachedToken {
        if let authority = query.authority, !authority.vouches(for: query.account) {
            return .signInRequired(.otherAuthority)
        }
        var found = try accessTokens(query)
        if let usable = found.takeUsable() { return usable }
        guard try signInState(of: query.account, client: query.clientID) != .signedOut else {
            return .signInRequired(.signedOut)
        }
        let tokens = try usableRefreshTokens(query)
        guard tokens.isEmpty else { return .refreshable(tokens, extended: found.extended) }
        try requireOpenableTokens(query)
        if !connection.isServer, let row = try confirmedAccountRow(query.account) {
            try requireAllTokensFound(of: [row])
        }
        return .signInRequired(.noRefreshToken)
    }

    /// What ``cachedToken(_:)`` returns where a token is good to use; nothing is asked about any other answer.
    func usableToken(_ query: TokenQuery) throws -> CachedToken? {
        if let authority = query.authority, !authority.vouches(for: query.account) { return nil }
        var found = try accessTokens(query)
        return found.takeUsable()
    }

    /// The same without a look at tokens that are bound to the account's DPoP key.
    func unboundToken(_ query: TokenQuery) throws -> CachedToken? {
        var found = FoundTokens()
        try findBest(query, into: &found)
        return found.takeUsable()
    }

    /// The access tokens that may answer `query`.
    ///
    /// Those that are bound to the account's DPoP key are looked for where no other serves.
    func accessTokens(_ query: TokenQuery) throws -> FoundTokens {
        var found = FoundTokens()
        if !query.requiresDPoP { try findBest(query, into: &found) }
        guard found.usable == nil, let bound = try boundQuery(query) else { return found }
        var foundBound = FoundTokens()
        try findBest(bound, into: &foundBound)
        return foundBound.usable != nil || found.extended == nil ? foundBound : found
    }

    /// The same for tokens that are bound to the DPoP key of the account and client; nil where there is none, or a
    /// token of another kind or key was asked for.
    func boundQuery(_ query: TokenQuery) throws -> TokenQuery? {
        let type = AccessTokenRow.fold(tokenType: query.tokenType)
        guard type == "bearer" || type == "dpop",
            let key = try boundKeyID(of: query.account, client: query.clientID), query.keyID ?? key == key
        else { return nil }
        var bound = query
        bound.tokenType = "DPoP"
        bound.keyID = key
        return bound
    }

    /// Puts the best tokens for `query` into `found`, which is empty before; as a result they would be copied once more.
    private func findBest(_ query: TokenQuery, into found: inout FoundTokens) throws {
        var best: (usable: AccessTokenCandidate?, extended: AccessTokenCandidate?)
        let (now, wanted) = (now, query.scope.foldedText)
        try forEachCandidate(query, scope: wanted, acceptsDeclined: query.acceptsDeclined) { row in
            let candidate = AccessTokenCandidate(
                row,
                scope: wanted,
                acceptsDeclined: query.acceptsDeclined,
                buffer: query.buffer,
                now: now
            )
            guard let candidate else { return false }
            let isExtended = candidate.extendedExpiresOn.map { $0 > now } ?? false
            guard candidate.isUsable || isExtended,
                (candidate.isUsable ? best.usable : best.extended).map({ candidate.outranks($0) }) ?? true,
                let token = try openCandidate(row, candidate, query.scope)
            else { return false }
            // In an outage too a token for an API is none for OpenID's scopes that it lacks.
            guard query.scope.isMet(by: token.scope) else { return true }
            if candidate.isUsable {
                best.usable = candidate
                (found.usable, found.isAging) = (token, candidate.isAging)
            } else {
                (best.extended, found.extended) = (candidate, token)
            }
            return true
        }
    }

    /// An access token for no API in particular, else the newest one, and whether it is good to use.
    func newestAccessToken(_ query: TokenQuery) throws -> (token: AccessToken, isUsable: Bool)? {
        if !query.requiresDPoP, let found = try newestToken(query) { return found }
        return try boundQuery(query).flatMap(newestToken)
    }

    private func newestToken(_ query: TokenQuery) throws -> (token: AccessToken, isUsable: Bool)? {
        var best: (candidate: AccessTokenCandidate, token: AccessToken)?
        try forEachCandidate(query, scope: "") { row in
            guard let candidate = AccessTokenCandidate(row, scope: "", buffer: query.buffer, now: now),
                best.map({ candidate.outranksForAny($0.candidate) }) ?? true,
                let token = try openCandidate(row, candidate, query.scope)
            else { return false }
            best = (candidate, token)
            return true
        }
        return best.map { ($0.token, $0.candidate.isUsable) }
    }

    /// Asks a server what ``accessTokens(_:)`` will ask if tokens are there, and none is good to use.
    func askAheadForAccessTokens(_ query: TokenQuery) throws {
        if !query.requiresDPoP {
            try askAheadForCandidates(query, scope: query.scope.foldedText, acceptsDeclined: query.acceptsDeclined)
        }
        try askAheadForBoundKey(of: query.account, client: query.clientID)
    }

    /// The refresh tokens that may get a token for `query`, in the order they are to be tried.
    func usableRefreshTokens(_ query: TokenQuery) throws -> [StoredRefreshToken] {
        try usableRefreshTokens(query, environment: environment(of: query.account))
    }

    /// The same of an account that has signed in at `environment`.
    func usableRefreshTokens(_ query: TokenQuery, environment: String?) throws -> [StoredRefreshToken] {
        let family: String? =
            switch try family(of: query.clientID, environment: environment ?? "") {
            case .unknown: "1"
            case .none: nil
            case .member(let family): family
            }
        return try refreshTokens(of: query.account, client: query.clientID, family: family, withOthers: false)
    }

    /// Makes sure that "no token" is not the sight of tokens that were altered.
    func requireOpenableTokens(_ query: TokenQuery) throws {
        let wanted = query.scope.foldedText
        for query in [query, try boundQuery(query)].compactMap(\.self) {
            try forEachCandidate(query, scope: wanted) { row in
                guard AccessTokenCandidate(row, scope: wanted, buffer: query.buffer, now: now) != nil
                else { return false }
                _ = try open(row, of: .accessToken)
                return true
            }
        }
    }
}

extension StoreReading {
    /// Makes sure that "no token" is not the sight of tokens that were altered.
    package func requireOpenableTokens(for query: TokenQuery) throws {
        try read { try $0.requireOpenableTokens(query) }
    }
}

/// What keeps apart access tokens that are equal in everything a lookup names: the claims they were minted for, and
/// partitions that other programs put into their caches.
struct TokenVariant: Equatable {
    /// Empty for an ordinary token, else a hash.
    let text: String

    /// Whether the token is for requests without any of this.
    var isOrdinary: Bool { text.isEmpty }

    init(requestedClaims: JSONValue?) {
        self.init(parts: requestedClaims.map { ["requested_claims": $0] } ?? [:])
    }

    /// What the libraries call a part: each language has its own names for the same, or parts of its own.
    private static let names = [
        "user_assertion_hash": "user_assertion_hash", "userAssertionHash": "user_assertion_hash",
        "requested_claims": "requested_claims", "requestedClaims": "requested_claims",
        "requestedClaimsHash": "requested_claims_hash", "ext_cache_key": "ext_cache_key",
        "ext_cache_key_hash": "ext_cache_key_hash", "ext": "ext",
        "additionalCacheKeyComponents": "additional_cache_key_components",
        "application_cache_identifier": "application_cache_identifier",
        "application_identifier": "application_cache_identifier",
        "mam_enrollment_identifier": "mam_enrollment_identifier", "resource": "resource",
    ]

    /// Of an imported row.
    init(of entity: JSONValue.Object) {
        var parts: [String: JSONValue] = [:]
        for (name, value) in entity.members {
            // To hash a text takes quadratic time on combining marks.
            guard name.utf8.count <= 64, let part = Self.names[name], let value = value.partition else { continue }
            parts[part] = value
        }
        // The hash says no more than the claims do that it is of.
        if parts["requested_claims"] != nil { parts["requested_claims_hash"] = nil }
        self.init(parts: parts)
    }

    private init(parts: [String: JSONValue]) {
        guard !parts.isEmpty else {
            text = ""
            return
        }
        let members = parts.map { (name: $0.key, value: $0.value) }
        let canonical = JSONValue.object(.init(members)).canonical.serialized
        text = Base64URL.encode(SHA256.hash(data: Array(canonical.utf8)).prefix(16))
    }
}

extension JSONValue {
    /// The value as a part of a token's variant; nil where it is none.
    fileprivate var partition: JSONValue? {
        if isNull || text?.isEmpty == true || object?.isEmpty == true { return nil }
        // Requested claims are JSON inside text; other text is taken as it is.
        return text.flatMap { try? JSONValue(parsing: $0) } ?? self
    }
}
