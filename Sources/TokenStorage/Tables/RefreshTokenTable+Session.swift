import Database
package import OAuth
import SQL

extension RefreshTokenRow {
    private static let declined = "declined_scope"

    static func declinedScope(in extra: JSONValue.Object) -> Scope { Scope(extra[declined]?.text ?? "") }

    /// What was asked for at the sign-in, and not granted.
    var declinedScope: Scope {
        get { Self.declinedScope(in: extra) }
        set { extra[Self.declined] = newValue.isEmpty ? nil : .string(newValue.sortedText) }
    }
}

extension RefreshTokenRow {
    /// Not `resource`, by which other programs keep tokens of several APIs apart.
    private static let resource = "asked_resource"

    static func resource(in extra: JSONValue.Object) -> String? { extra[resource]?.text }

    /// The API that the sign-in was for.
    var resource: String? {
        get { Self.resource(in: extra) }
        set { extra[Self.resource] = newValue.map { .string($0) } }
    }
}

extension RefreshTokenRow {
    private static let signIn = "sign_in_nonces"

    static func signInNonces(in extra: JSONValue.Object) -> [String] {
        extra[signIn]?.array?.compactMap(\.text) ?? []
    }

    /// The nonces of the ID tokens of its sign-in, where a later one brought an ID token alone.
    var signInNonces: [String] {
        get { Self.signInNonces(in: extra) }
        set { extra[Self.signIn] = newValue.isEmpty ? nil : .array(newValue.map { .string($0) }) }
    }
}

extension StoreConnection {
    /// Removes what a session has stored since it began at `start`, in Unix seconds: older tokens, those of a family and
    /// those that are no session stay.
    func deleteRefreshTokens(of account: Int64, client: String, since start: Int64) throws {
        var rows: [Int64] = []
        try connection.forEach(Self.sinceStart, .integer(account), .text(client.folded), .integer(start)) { row in
            if try isOrdinary(row) { rows.append(row.integer(0)) }
        }
        for row in rows { try deleteRefreshToken(row, account: account) }
    }

    /// Keeps the refresh tokens that a client has before a sign-in that brings none, and was granted `scope`.
    ///
    /// What was declined with them is so no more, and the nonces of their own sign-in are kept, as its ID token is about
    /// to be replaced. Those that the issuer has ended go, unless a successor may be on its way: the session that begins
    /// has no part of theirs.
    func keepRefreshTokens(whenGranted scope: Scope, account: Int64, id: Account.ID, client: String) throws {
        // Microsoft's answers do not say what was declined, and its refreshed ID tokens need no nonce kept.
        let earlier = try id.hasIssuer ? earlierIDTokens(row: account, client: client) : EarlierIDTokens()
        var ended: [Int64] = []
        var changed: [(row: Int64, generation: Int64, token: RefreshTokenRow)] = []
        try connection.forEach(Self.sinceStart, .integer(account), .text(client.folded), .integer(0)) { row in
            guard let stored = try intact({ try openRefreshToken(row) }) else { return }
            let (id, generation) = (row.integer(0), row.integer(SealedTable.refreshToken["generation"]))
            if try hasEnded(id, stored.secret, generation: generation, account: account, forGood: true) {
                return ended.append(id)
            }
            var token = stored
            token.declinedScope = stored.declinedScope.missing(from: scope)
            token.signInNonces = earlier.nonces(kept: stored.signInNonces, storedAt: stored.modifiedAt)
            guard token.extra != stored.extra else { return }
            changed.append((id, generation, token))
        }
        for row in ended { try deleteRefreshToken(row, account: account) }
        for (row, generation, token) in changed {
            try writeRefreshToken(token, account: account, id: row, generation: generation)
        }
    }

    fileprivate func earlierIDTokens(row: Int64, client: String) throws -> EarlierIDTokens {
        try askAheadForState(of: row, client: client)
        let tokens = try idTokens(row, client: client, leavingOutDamaged: true).map(\.idToken)
        let nonces = tokens.compactMap { $0.claims.payload["nonce"]?.text }
        // A row that was altered must not keep anyone from signing in.
        let signedInAt = try nonces.isEmpty ? nil : intact { try signInTime(ofAccount: row, client: client) } ?? nil
        return EarlierIDTokens(tokens: tokens, nonces: nonces, signedInAt: signedInAt)
    }

    private static let sinceStart = SQL(
        SealedTable.refreshToken.selection
            + "WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.modified_at >= ?3 AND t.family_id IS NULL"
    )
}

extension StoreReading {
    /// The ID tokens of an account at a client without those that are damaged: for what must go on without them.
    package func earlierIDTokens(of account: Account.ID, client: String) throws -> EarlierIDTokens {
        try read { session in
            try session.connection.read {
                guard let row = try session.accountRow(account) else { return EarlierIDTokens() }
                return try session.earlierIDTokens(row: row, client: client)
            }
        }
    }
}

/// The ID tokens that a client has of an account before a refresh.
package struct EarlierIDTokens: Sendable {
    package private(set) var tokens: [IDToken] = []
    fileprivate private(set) var nonces: [String] = []

    /// When the person signed in last, in Unix seconds; nil where that is not known.
    fileprivate private(set) var signedInAt: Int64?

    /// The nonces that the ID token of a refresh may have; none: it may have any.
    package func nonces(for token: StoredRefreshToken) -> [String] {
        nonces(kept: token.signInNonces, storedAt: token.modifiedAt?.unixSeconds ?? 0)
    }

    /// The nonces of the sign-in that a refresh token came from: those that were kept with it, else those of the ID
    /// tokens, unless they are of a later sign-in that brought no refresh token.
    fileprivate func nonces(kept: [String], storedAt: Int64) -> [String] {
        guard kept.isEmpty else { return kept }
        return signedInAt.map { $0 > storedAt } ?? false ? [] : nonces
    }
}

extension StoreConnection {
    /// Those that a client may use: its own before those of a family, newest first.
    static let usableRefreshTokens = SealedTable.refreshToken.ownedRows { dialect in
        """
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 5, owners: ["t.account_id"]))
            AND (t.client_fold = ?3 OR t.family_id = ?4)
        ORDER BY t.client_fold = ?3 DESC, t.modified_at DESC, t.id DESC
        """
    }

    /// Those of a client alone, for which an index is: it serves no choice between a client and a family.
    static let ownRefreshTokens = SealedTable.refreshToken.ownedRows { dialect in
        """
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 4, owners: ["t.account_id"]))
            AND t.client_fold = ?3
        ORDER BY t.modified_at DESC, t.id DESC
        """
    }
}
