import Database
import OAuth
import SQL
import Sealing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SealedTable {
    static let accessToken = SealedTable(
        "access_token",
        isOwned: true,
        clear: [
            "expires_on", "cached_at", "extended_expires_on", "refresh_on", "scope_fold", "asked_fold", "client_id",
            "client_fold", "environment", "realm", "realm_fold", "target", "credential_type", "token_type",
            "token_type_fold", "key_id", "variant",
        ],
        sealed: ["secret", "extra"]
    )
}

extension StoreConnection {
    private static let tokensAlike = SQL { dialect in
        SealedTable.accessToken.selection + """
            WHERE \(dialect.owner("t.account_id", is: "?1")) AND t.client_fold = ?2 AND t.realm_fold = ?3
                AND t.token_type_fold = ?4 AND t.key_id = ?5 AND t.variant = ?6
            """
    }

    private static let deletion = SQL { dialect in
        "DELETE FROM access_token WHERE id = ?1 AND \(dialect.owner("account_id", is: "?2"))"
    }

    /// When the newest access token of an account was stored that a client has; nil where it has none.
    ///
    /// A time that is yet to come is none.
    func latestTime(ofTokensOf account: Int64, client: String) throws -> Int64? {
        try connection.integer(
            """
            SELECT max(cached_at) FROM access_token
            WHERE account_id = ?1 AND client_fold = ?2 AND variant = '' AND cached_at <= ?3
            """,
            .integer(account),
            .text(client),
            .integer(now + MSALEntity.clockDifference)
        )
    }

    func insertAccessToken(_ token: AccessTokenRow, account: Int64?) throws {
        try writeAccessToken(token, account: account, id: nil)
    }

    /// Writes the row `id`, or a new one where that is nil.
    ///
    /// - Returns: the id of the row.
    @discardableResult
    func writeAccessToken(_ token: AccessTokenRow, account: Int64?, id: Int64?) throws -> Int64 {
        try write(
            .accessToken,
            id: id,
            account: account,
            clear: [
                .integer(token.expiresOn), .optional(token.cachedAt), .optional(token.extendedExpiresOn),
                .optional(token.refreshOn), .text(token.scopeFold), .optional(token.asked?.foldedText),
                .text(token.clientID), .text(token.clientID.folded), .text(token.environment), .text(token.realm),
                .text(token.realmFold), .text(token.target), .text(token.credentialType), .optional(token.tokenType),
                .text(token.tokenTypeFold), .text(token.keyID), .text(token.variant),
            ],
            sealed: [token.secret, token.extra.isEmpty ? nil : Secret(token.extra)]
        )
    }

    /// Stores a token in the place of those it overlaps.
    ///
    /// Those are of the same client, tenant, type, key and variant, and have a scope in common: of tokens that are all
    /// for `sessionScope`, a further one, or else two that are asked for by turns would each have the other deleted.
    /// An issuer that ends access tokens at a refresh grants no further scope (RFC 6749 §6). Fields not known here pass
    /// from one of the same scope to the new one.
    func replaceAccessTokens(with token: AccessTokenRow, account: Int64?, sessionScope: Scope? = nil) throws {
        if let account, bareAccount == account { return try insertAccessToken(token, account: account) }
        var token = token
        let newScope = token.scope
        let overlapping = try connection.all(Self.tokensAlike, kind(of: token, account)) { row -> Int64? in
            let (id, scope) = (row.integer(0), Scope(row.text(AccessTokenColumn.target)))
            guard scope.intersects(newScope) else { return nil }
            if let sessionScope, isFurther(row, scope, than: token, besides: sessionScope) { return nil }
            if scope.foldedText == newScope.foldedText {
                // What was altered ends here; its fields would not be worth the answer that is about to be stored.
                let extra = try intact { try openMembers(row, of: .accessToken, 1) }
                token.extra = extra?.merging(token.extra) ?? token.extra
            }
            return id
        }
        for case let id? in overlapping {
            try connection.run(Self.deletion, [.integer(id), owner(account)])
        }
        try insertAccessToken(token, account: account)
    }
}

extension StoreConnection {
    /// What tokens that may overlap with one have in common with it.
    private func kind(of token: AccessTokenRow, _ account: Int64?) -> [Value] {
        [
            owner(account), .text(token.clientID.folded), .text(token.realmFold), .text(token.tokenTypeFold),
            .text(token.keyID), .text(token.variant),
        ]
    }

    /// Whether the token of a row is for what a new one of its session was not even asked for, and has not ended.
    private func isFurther(_ row: Row, _ scope: Scope, than new: AccessTokenRow, besides sessionScope: Scope) -> Bool {
        let extended = row.optionalInteger(AccessTokenColumn.extendedExpiresOn) ?? 0
        let end = max(row.integer(AccessTokenColumn.expiresOn), extended)
        let wanted = Scope(new.scope.tokens + (new.asked?.tokens ?? []))
        return end > now && !wanted.covers(scope) && !wanted.intersects(scope, besides: sessionScope)
    }

    /// Asks a server what ``replaceAccessTokens(with:account:)`` will ask.
    func askAheadForAccessTokens(like token: AccessTokenRow, account: Int64) throws {
        try connection.askAhead(Self.tokensAlike, kind(of: token, account))
    }

    func deleteAccessTokens(of account: Int64, client: String) throws {
        try connection.run(
            "DELETE FROM access_token WHERE account_id = ?1 AND client_fold = ?2",
            .integer(account),
            .text(client.folded)
        )
    }

    /// How many access tokens are expired as ``TokenState`` has it: have ended, or were stored in the future.
    func expiredAccessTokenCount() throws -> Int {
        let sql: StaticString = "SELECT count(*) FROM access_token WHERE expires_on <= ?1 OR cached_at > ?2"
        let latest = now + TokenState.clockTolerance
        return Int(count: try connection.integer(sql, .integer(now), .integer(latest)) ?? 0)
    }

    /// How many access tokens have ended.
    func endedAccessTokenCount() throws -> Int {
        let sql: StaticString = "SELECT count(*) FROM access_token WHERE expires_on <= ?1"
        return Int(count: try connection.integer(sql, .integer(now)) ?? 0)
    }

    /// Deletes those that have ended: on a machine that has started without the time all others are from the future.
    ///
    /// - Returns: how many were deleted; another node may delete the same.
    func deleteExpiredAccessTokens() throws -> Int {
        try connection.changing("DELETE FROM access_token WHERE expires_on <= ?1", .integer(now))
    }
}

/// Where the columns of an access token stand in ``SealedTable/selection``, for where looking them up would cost.
enum AccessTokenColumn {
    static let expiresOn = SealedTable.accessToken["expires_on"]
    static let cachedAt = SealedTable.accessToken["cached_at"]
    static let extendedExpiresOn = SealedTable.accessToken["extended_expires_on"]
    static let refreshOn = SealedTable.accessToken["refresh_on"]
    static let scopeFold = SealedTable.accessToken["scope_fold"]
    static let askedFold = SealedTable.accessToken["asked_fold"]
    static let clientID = SealedTable.accessToken["client_id"]
    static let clientFold = SealedTable.accessToken["client_fold"]
    static let environment = SealedTable.accessToken["environment"]
    static let realm = SealedTable.accessToken["realm"]
    static let realmFold = SealedTable.accessToken["realm_fold"]
    static let target = SealedTable.accessToken["target"]
    static let credentialType = SealedTable.accessToken["credential_type"]
    static let tokenType = SealedTable.accessToken["token_type"]
    static let tokenTypeFold = SealedTable.accessToken["token_type_fold"]
    static let keyID = SealedTable.accessToken["key_id"]
    static let variant = SealedTable.accessToken["variant"]
}

/// The row of an access token.
struct AccessTokenRow: Equatable {
    var clientID: String
    var environment: String
    var realm: String
    var realmFold: String

    /// Scope tokens as granted, in the order of the document they came from.
    var target: String

    /// The scope asked for, where another was granted.
    var asked: Scope?
    var credentialType = "AccessToken"
    var tokenType: String?
    var keyID = ""

    /// Keeps apart tokens that are equal but for requested claims or another partition; empty for ordinary ones.
    var variant = ""
    var cachedAt: Int64?
    var expiresOn: Int64
    var extendedExpiresOn: Int64?
    var refreshOn: Int64?
    var extra = JSONValue.Object()
    var secret: Secret

    var scope: Scope { Scope(target) }
    var scopeFold: String { scope.foldedText }
    var tokenTypeFold: String { Self.fold(tokenType: tokenType) }

    static func fold(tokenType: String?) -> String {
        guard let folded = tokenType?.folded, !folded.isEmpty else { return "bearer" }
        return folded
    }
}

extension AccessTokenRow {
    /// A row that was selected with ``SealedTable/selection``.
    init(_ row: Row, secret: Secret, extra: JSONValue.Object) {
        typealias Column = AccessTokenColumn
        self.init(
            clientID: row.text(Column.clientID),
            environment: row.text(Column.environment),
            realm: row.text(Column.realm),
            realmFold: row.text(Column.realmFold),
            target: row.text(Column.target),
            asked: row.optionalText(Column.askedFold).map { Scope($0) },
            credentialType: row.text(Column.credentialType),
            tokenType: row.optionalText(Column.tokenType),
            keyID: row.text(Column.keyID),
            variant: row.text(Column.variant),
            cachedAt: row.optionalInteger(Column.cachedAt),
            expiresOn: row.integer(Column.expiresOn),
            extendedExpiresOn: row.optionalInteger(Column.extendedExpiresOn),
            refreshOn: row.optionalInteger(Column.refreshOn),
            extra: extra,
            secret: secret
        )
    }
}

extension AccessToken {
    /// The token that a row to be written holds.
    init(_ row: AccessTokenRow) {
        func date(_ seconds: Int64?) -> Date? { seconds.map { Date(unixSeconds: $0) } }
        self.init(
            secret: row.secret,
            clientID: row.clientID,
            target: row.target,
            tokenType: row.tokenType ?? "Bearer",
            keyID: row.keyID.isEmpty ? nil : row.keyID,
            tenantID: row.realm,
            cachedAt: date(row.cachedAt),
            expiresAt: Date(unixSeconds: row.expiresOn),
            extendedExpiresAt: date(row.extendedExpiresOn),
            refreshAt: date(row.refreshOn)
        )
    }
}

extension Row {
    /// A column of Unix seconds.
    func date(_ column: CInt) -> Date { Date(timeIntervalSince1970: Double(integer(column))) }

    func optionalDate(_ column: CInt) -> Date? { isNull(column) ? nil : date(column) }
}

extension AccessTokenRow {
    /// The access token of a response; nil if it has none.
    init?(_ response: TokenResponse, request: TokenRequest, realm: Realm, now: Int64) {
        guard let secret = response.accessToken else { return nil }
        let asked = request.askedScope ?? request.scope
        let granted = (response.scope ?? request.scope).with(reservedTokensOf: asked)
        // Whatever an issuer says, no calendar has a later time, and no import takes one.
        func moment(after delay: Int64) -> Int64 { min(now + delay, .lastUnixSecond) }
        let expiresOn = moment(after: response.lifetime(at: now))
        let extended = response.extendedExpiresIn.map { moment(after: max(0, $0.secondsRoundedUp)) }
        self.init(
            clientID: request.clientID,
            environment: request.authority.environment,
            realm: realm.name,
            realmFold: realm.fold,
            target: granted.sortedText,
            asked: granted.covers(asked) ? nil : asked,
            tokenType: response.tokenType ?? "Bearer",
            // An issuer may bind the refresh token alone (RFC 9449 §5).
            keyID: (response.tokenType ?? "Bearer").lowercased() == "bearer" ? "" : request.keyID ?? "",
            variant: TokenVariant(requestedClaims: request.claims).text,
            cachedAt: now,
            expiresOn: expiresOn,
            extendedExpiresOn: extended ?? expiresOn,
            refreshOn: response.refreshDelay(at: now).map { moment(after: $0) },
            extra: JSONValue.Object(request.claims.map { [("requested_claims", .string($0.serialized))] } ?? []),
            secret: secret
        )
    }
}
