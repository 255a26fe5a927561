public import OAuth

/// Entities of the MSAL unified cache: the default rows of the default user, to be changed with
/// ``OAuth/JSONValue/with(_:without:)``.
extension JSONValue {
    public static func accessToken(
        _ secret: String,
        _ target: String,
        expiresIn: Int64 = 3600,
        _ changes: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        let row: JSONValue = [
            "credential_type": "AccessToken", "home_account_id": "u1.t1", "environment": .string(Fixture.host),
            "client_id": "cid", "realm": "t1", "target": .string(target), "secret": .string(secret),
            "token_type": "Bearer", "cached_at": .seconds(Fixture.now - 10),
            "expires_on": .seconds(Fixture.now + expiresIn),
        ]
        return row.with(changes)
    }

    public static func refreshToken(_ secret: String, _ changes: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        let row: JSONValue = [
            "credential_type": "RefreshToken", "home_account_id": "u1.t1", "environment": .string(Fixture.host),
            "client_id": "cid", "secret": .string(secret),
        ]
        return row.with(changes)
    }

    public static func idToken(
        _ claims: JSONValue = Fixture.claims(),
        _ changes: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        let row: JSONValue = [
            "credential_type": "IdToken", "home_account_id": "u1.t1", "environment": .string(Fixture.host),
            "client_id": "cid", "realm": "t1", "secret": .string(Fixture.idToken(claims)),
        ]
        return row.with(changes)
    }

    public static func account(_ changes: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        let row: JSONValue = [
            "home_account_id": "u1.t1", "environment": .string(Fixture.host), "realm": "t1", "local_account_id": "u1",
            "username": "ada@example.net", "authority_type": "MSSTS",
        ]
        return row.with(changes)
    }

    public static func appMetadata(_ changes: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        let row: JSONValue = ["client_id": "cid", "environment": .string(Fixture.host)]
        return row.with(changes)
    }

    /// A document; its keys identify nothing and are merely different.
    public static func cache(
        accessTokens: [JSONValue] = [],
        refreshTokens: [JSONValue] = [],
        idTokens: [JSONValue] = [],
        accounts: [JSONValue] = [],
        appMetadata: [JSONValue] = []
    ) -> JSONValue {
        let buckets = [
            ("AccessToken", accessTokens), ("RefreshToken", refreshTokens), ("IdToken", idTokens),
            ("Account", accounts), ("AppMetadata", appMetadata),
        ]
        return .object(
            .init(
                buckets.filter { !$0.1.isEmpty }.map { name, rows in
                    (name, .object(.init(rows.enumerated().map { ("key \($0)", $1) })))
                }
            )
        )
    }

    /// A document with the default refresh token, ID token and account beside the access tokens.
    public static func standardCache(_ accessTokens: JSONValue...) -> JSONValue {
        cache(
            accessTokens: accessTokens,
            refreshTokens: [.refreshToken("r1")],
            idTokens: [.idToken()],
            accounts: [.account()]
        )
    }

    /// A time as the cache writes it.
    public static func seconds(_ time: Int64) -> JSONValue { .string(String(time)) }
}
