import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// Calls `body` with each entity of a bucket, and the keys it may stand under, best first.
    func forEachEntity(of bucket: MSALBucket, _ body: ([String], JSON) throws -> Void) throws {
        switch bucket {
        case .accessToken, .boundAccessToken: try forEachAccessToken(bucket, body)
        case .refreshToken: try forEachRefreshToken(body)
        case .idToken: try forEachIDToken(body)
        case .account: try forEachProfile(body)
        case .appMetadata: try forEachAppMetadata(body)
        }
    }

    private func forEachAccessToken(_ bucket: MSALBucket, _ body: ([String], JSON) throws -> Void) throws {
        try connection.forEach(
            """
            SELECT t.id, coalesce(t.account_id, 0), a.home_account_id, t.environment, t.client_id, t.realm, t.target,
                t.token_type, t.key_id, t.cached_at, t.expires_on, t.extended_expires_on, t.refresh_on, t.extra, t.secret
            FROM access_token t LEFT JOIN account a ON a.id = t.account_id
            WHERE t.credential_type = ?1 ORDER BY t.id
            """,
            .text(bucket.rawValue)
        ) { row in
            let (id, owner) = (row.integer(0), row.integer(1))
            let secret = try open(row, 14, as: .accessToken("secret", owner: owner, row: id))
            let keyID = row.text(8).isEmpty ? nil : row.text(8)
            let extra = try openMembers(row, 13, as: .accessToken("extra", owner: owner, row: id))
            let entity = JSON.Object(
                entity: [
                    ("credential_type", extra["credential_type"]?.text ?? bucket.rawValue),
                    ("secret", secret.reveal()),
                    ("home_account_id", row.optionalText(2)), ("environment", row.text(3)), ("client_id", row.text(4)),
                    ("target", row.text(6)), ("realm", row.text(5)), ("token_type", row.optionalText(7)),
                    ("key_id", keyID), ("kid", keyID), ("cached_at", row.seconds(9)), ("expires_on", row.seconds(10)),
                    ("extended_expires_on", row.seconds(11)), ("refresh_on", row.seconds(12)),
                ],
                extra: extra,
                nullable: ["home_account_id"]
            )
            // A token of a further partition stands under a type of its own, with the partition at the end.
            let partition = entity["ext_cache_key"]?.text
            let type = partition == nil ? "AccessToken" : "atext"
            let parts = [row.text(2), row.text(3), type, row.text(4), row.text(5)]
            let sorted = row.text(6).split(separator: " ").sorted().joined(separator: " ")
            let tail = partition.map { [$0] } ?? []
            try body([sorted, row.text(6)].map { Self.key(parts + [$0] + tail) }, .object(entity))
        }
    }

    private func forEachRefreshToken(_ body: ([String], JSON) throws -> Void) throws {
        try connection.forEach(
            """
            SELECT t.id, t.account_id, a.home_account_id, t.environment, t.client_id, t.target, t.credential_type,
                t.family_id, t.modified_at, t.extra, t.secret
            FROM refresh_token t JOIN account a ON a.id = t.account_id ORDER BY t.id
            """
        ) { row in
            let (id, owner) = (row.integer(0), row.integer(1))
            let secret = try open(row, 10, as: .refreshToken("secret", owner: owner, row: id))
            let entity = JSON.Object(
                entity: [
                    ("credential_type", row.text(6)), ("secret", secret.reveal()), ("home_account_id", row.text(2)),
                    ("environment", row.text(3)), ("client_id", row.text(4)), ("target", row.optionalText(5)),
                    ("last_modification_time", row.integer(8) == 0 ? nil : row.seconds(8)),
                    ("family_id", row.optionalText(7)),
                ],
                extra: try openMembers(row, 9, as: .refreshToken("extra", owner: owner, row: id))
            )
            let parts = [row.text(2), row.text(3), "RefreshToken", row.text(4), "", row.text(5)]
            try body([Self.key(parts)], .object(entity))
        }
    }

    private func forEachIDToken(_ body: ([String], JSON) throws -> Void) throws {
        try connection.forEach(
            """
            SELECT t.id, t.account_id, a.home_account_id, t.environment, t.client_id, t.realm, t.credential_type,
                t.extra, t.secret
            FROM id_token t JOIN account a ON a.id = t.account_id ORDER BY t.id
            """
        ) { row in
            let (id, owner) = (row.integer(0), row.integer(1))
            let secret = try open(row, 8, as: .idToken("secret", owner: owner, row: id))
            let entity = JSON.Object(
                entity: [
                    ("credential_type", row.text(6)), ("secret", secret.reveal()), ("home_account_id", row.text(2)),
                    ("environment", row.text(3)), ("realm", row.text(5)), ("client_id", row.text(4)),
                ],
                extra: try openMembers(row, 7, as: .idToken("extra", owner: owner, row: id))
            )
            try body([Self.key([row.text(2), row.text(3), "IdToken", row.text(4), row.text(5), ""])], .object(entity))
        }
    }

    private func forEachProfile(_ body: ([String], JSON) throws -> Void) throws {
        try connection.forEach(
            """
            SELECT p.id, p.environment, p.realm, p.realm_fold, p.local_account_id, p.username, p.authority_type, p.extra,
                p.account_id, a.home_account_id
            FROM tenant_profile p JOIN account a ON a.id = p.account_id ORDER BY p.id
            """
        ) { row in
            let place = SealedPlace(
                table: "tenant_profile",
                column: "extra",
                owner: row.integer(8),
                row: row.integer(0)
            )
            let profile = try tenantProfile(row, extra: openMembers(row, 7, as: place))
            let entity = JSON.Object(
                entity: [
                    ("home_account_id", row.text(9)), ("environment", profile.environment), ("realm", profile.realm),
                    ("local_account_id", profile.localAccountID), ("username", profile.username),
                    ("authority_type", profile.authorityType),
                ],
                extra: profile.extra
            )
            try body([Self.key([row.text(9), profile.environment, profile.realm])], .object(entity))
        }
    }

    private func forEachAppMetadata(_ body: ([String], JSON) throws -> Void) throws {
        try connection.forEach(
            "SELECT id, client_id, environment, family_id, extra FROM app_metadata ORDER BY id"
        ) { row in
            let place = SealedPlace(table: "app_metadata", column: "extra", row: row.integer(0))
            let entity = JSON.Object(
                entity: [
                    ("client_id", row.text(1)), ("environment", row.text(2)), ("family_id", row.optionalText(3)),
                ],
                extra: try openMembers(row, 4, as: place)
            )
            // The one key that MSAL Python does not lower-case.
            try body(["appmetadata-\(row.text(2))-\(row.text(1))"], .object(entity))
        }
    }

    private static func key(_ parts: [String]) -> String { parts.joined(separator: "-").lowercased() }
}

extension JSON.Object {
    /// The known fields that have a value, then the unknown ones.
    fileprivate init(
        entity: [(name: String, value: String?)],
        extra: JSON.Object,
        nullable: Set<String> = []
    ) {
        self.init(
            entity.compactMap { field in
                if let value = field.value { return (field.name, .string(value)) }
                return nullable.contains(field.name) ? (field.name, .null) : nil
            }
        )
        let known = self
        // Of a name that is repeated the last counts, as for who reads it.
        for (name, value) in extra.members where known[name]?.text == nil { self[name] = value }
    }
}

extension Row {
    /// A time as the unified cache writes it.
    fileprivate func seconds(_ column: CInt) -> String? { optionalInteger(column).map(String.init) }
}
