import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// Calls `body` with the keys that each entity of a bucket may stand under, best first, with it, and its account.
    func forEachEntity(of bucket: MSALBucket, _ body: ([String], JSONValue, Account.ID?) throws -> Void) throws {
        switch bucket {
        case .accessToken, .boundAccessToken: try forEachAccessToken(bucket, body)
        case .refreshToken: try forEachRefreshToken(body)
        case .idToken: try forEachIDToken(body)
        case .account: try forEachProfile(body)
        case .appMetadata: try forEachAppMetadata(body)
        }
    }

    private func forEachAccessToken(
        _ bucket: MSALBucket,
        _ body: ([String], JSONValue, Account.ID?) throws -> Void
    ) throws {
        try forEachAccessToken(ofType: bucket.rawValue) { token, account in
            let homeAccountID = account?.homeAccountID
            let keyID = token.keyID.isEmpty ? nil : token.keyID
            let entity = JSONValue.Object(
                entity: [
                    ("credential_type", token.extra["credential_type"]?.text ?? bucket.rawValue),
                    ("secret", token.secret.reveal()), ("home_account_id", homeAccountID),
                    ("environment", token.environment), ("client_id", token.clientID), ("target", token.target),
                    ("realm", token.realm), ("token_type", token.tokenType), ("key_id", keyID), ("kid", keyID),
                    ("cached_at", token.cachedAt.map(String.init)), ("expires_on", String(token.expiresOn)),
                    ("extended_expires_on", token.extendedExpiresOn.map(String.init)),
                    ("refresh_on", token.refreshOn.map(String.init)),
                ],
                extra: token.extra,
                nullable: ["home_account_id"]
            )
            let (type, tail) = Self.partition(of: token, entity)
            let parts = [homeAccountID ?? "", token.environment, type, token.clientID, token.realm]
            let sorted = token.target.parts(separatedBy: " ").sorted().joined(separator: " ")
            try body([sorted, token.target].map { Self.key(parts + [$0] + tail) }, .object(entity), account)
        }
    }

    /// How the key of a token names its type, and what it ends with.
    ///
    /// A token of a further partition has another type there, and the partition at the end. MSAL for Node knows no such
    /// type, and finds a token for requested claims by their hash in the key.
    private static func partition(of token: AccessTokenRow, _ entity: JSONValue.Object) -> (String, tail: [String]) {
        let key = entity["ext_cache_key"]?.text
        if key == nil, let hash = entity["requestedClaimsHash"]?.text, !hash.isEmpty {
            return ("AccessToken", [hash, ""])
        }
        guard let partition = key ?? (token.variant.isEmpty ? nil : token.variant) else { return ("AccessToken", []) }
        return ("atext", [partition])
    }

    private func forEachRefreshToken(_ body: ([String], JSONValue, Account.ID?) throws -> Void) throws {
        try forEachRefreshToken { token, account in
            let (environment, client, target) = (token.environment, token.clientID, token.target)
            let id = account.homeAccountID
            let entity = JSONValue.Object(
                entity: [
                    ("credential_type", token.credentialType), ("secret", token.secret.reveal()),
                    ("home_account_id", id), ("environment", environment), ("client_id", client), ("target", target),
                    ("last_modification_time", token.modifiedAt == 0 ? nil : String(token.modifiedAt)),
                    ("family_id", token.familyID),
                ],
                extra: token.extra
            )
            try body([Self.key([id, environment, "RefreshToken", client, "", target ?? ""])], .object(entity), account)
        }
    }

    private func forEachIDToken(_ body: ([String], JSONValue, Account.ID?) throws -> Void) throws {
        try forEachIDToken { token, account in
            let (environment, client, realm) = (token.environment, token.clientID, token.realm)
            let id = account.homeAccountID
            let entity = JSONValue.Object(
                entity: [
                    ("credential_type", token.credentialType), ("secret", token.secret.reveal()),
                    ("home_account_id", id), ("environment", environment), ("realm", realm), ("client_id", client),
                ],
                extra: token.extra
            )
            try body([Self.key([id, environment, "IdToken", client, realm, ""])], .object(entity), account)
        }
    }

    private func forEachProfile(_ body: ([String], JSONValue, Account.ID?) throws -> Void) throws {
        try forEachTenantProfile { profile, account in
            let id = account.homeAccountID
            let entity = JSONValue.Object(
                entity: [
                    ("home_account_id", id), ("environment", profile.environment), ("realm", profile.realm),
                    ("local_account_id", profile.localAccountID),
                    ("username", profile.username.isEmpty && profile.extra["username"] != nil ? nil : profile.username),
                    ("authority_type", profile.authorityType),
                ],
                extra: profile.extra
            )
            try body([Self.key([id, profile.environment, profile.realm])], .object(entity), account)
        }
    }

    private func forEachAppMetadata(_ body: ([String], JSONValue, Account.ID?) throws -> Void) throws {
        try forEachAppMetadata { row in
            let entity = JSONValue.Object(
                entity: [("client_id", row.clientID), ("environment", row.environment), ("family_id", row.familyID)],
                extra: row.extra
            )
            // The one key that MSAL Python does not lower-case.
            try body(["appmetadata-\(row.environment)-\(row.clientID)"], .object(entity), nil)
        }
    }

    private static func key(_ parts: [String]) -> String { parts.joined(separator: "-").lowercased() }
}

extension JSONValue.Object {
    /// The known fields that have a value, then the unknown ones.
    fileprivate init(
        entity: [(name: String, value: String?)],
        extra: JSONValue.Object,
        nullable: Set<String> = []
    ) {
        self.init(
            entity.compactMap { field in
                if let value = field.value { return (field.name, .string(value)) }
                return nullable.contains(field.name) ? (field.name, .null) : nil
            }
        )
        let known = self
        // The last of repeated names counts, as in most JSON parsers.
        self = known.merging(JSONValue.Object(extra.members.filter { known[$0.name]?.text == nil }))
    }
}
