import Database
import OAuth
import SQL

extension RefreshTokenRow {
    private static let declined = "declined_scope"

    static func declinedScope(in extra: JSONValue.Object) -> Scope { Scope(extra[declined]?.text ?? "") }

    /// What was asked for at the sign-in, and not granted.
    var declinedScope: Scope {
        get { Self.declinedScope(in: extra) }
        set { extra[Self.declined] = newValue.tokens.isEmpty ? nil : .string(newValue.sortedText) }
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

    /// Forgets that `scope` was declined: a sign-in that brought no refresh token was granted it.
    func forgetDeclined(_ scope: Scope, account: Int64, client: String) throws {
        var granted: [(row: Int64, generation: Int64, token: RefreshTokenRow)] = []
        try connection.forEach(Self.sinceStart, .integer(account), .text(client.folded), .integer(0)) { row in
            guard var token = try intact({ try openRefreshToken(row) }) else { return }
            let declined = token.declinedScope
            token.declinedScope = declined.missing(from: scope)
            guard token.declinedScope != declined else { return }
            granted.append((row.integer(0), row.integer(SealedTable.refreshToken["generation"]), token))
        }
        for (row, generation, token) in granted {
            try writeRefreshToken(token, account: account, id: row, generation: generation)
        }
    }

    private static let sinceStart = SQL(
        SealedTable.refreshToken.selection
            + "WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.modified_at >= ?3 AND t.family_id IS NULL"
    )
}
