import Database
import OAuth
import SQL

/// What a shell may complete a word to.
package enum Suggestion: Sendable {
    case account
    case userFlow
    case issuer
    case tenant
    case client
    case scope
    case claim
}

extension StoreReading {
    /// What the store knows that begins with `prefix`, in any letter case; of a large store what is newest.
    ///
    /// It takes milliseconds whatever the size of the store. Names of claims are sealed and need the key, the others
    /// do not.
    package func suggestions(_ kind: Suggestion, prefix: String) throws -> [String] {
        let found = try read { session in try session.connection.read { try session.suggestions(kind, prefix.folded) } }
        let start = prefix.folded
        return Set(found).filter { !$0.isEmpty && $0.folded.hasPrefix(start) }.sorted()
    }
}

extension StoreConnection {
    fileprivate func suggestions(_ kind: Suggestion, _ prefix: String) throws -> [String] {
        switch kind {
        case .account: try accountNames(prefix)
        case .userFlow: try connection.all(Self.userFlows) { $0.text(0) }
        case .issuer:
            try connection.all(
                """
                SELECT DISTINCT coalesce(issuer, environment)
                FROM (SELECT issuer, environment FROM account ORDER BY id DESC LIMIT 2000) AS newest
                """
            ) { $0.text(0) }
        case .tenant:
            try connection.all(
                "SELECT DISTINCT realm FROM (SELECT realm FROM tenant_profile ORDER BY id DESC LIMIT 2000) AS newest"
            ) { $0.text(0) }
        case .client:
            try connection.all(
                """
                SELECT DISTINCT client_id
                FROM (SELECT client_id FROM refresh_token ORDER BY id DESC LIMIT 1000) AS newest
                """
            ) { $0.text(0) }
        case .scope:
            try connection.all(
                "SELECT DISTINCT target FROM (SELECT target FROM access_token ORDER BY id DESC LIMIT 1000) AS newest"
            ) { Scope($0.text(0)).tokens }.flatMap(\.self)
        case .claim: try claimNames()
        }
    }

    /// From value to value of the index, however many accounts have each.
    private static let userFlows: StaticString = """
        WITH RECURSIVE flow (policy) AS (
            SELECT min(policy) FROM account WHERE policy IS NOT NULL
            UNION ALL SELECT (SELECT min(policy) FROM account WHERE policy > flow.policy) FROM flow
            WHERE flow.policy IS NOT NULL
        ) SELECT policy FROM flow WHERE policy IS NOT NULL LIMIT 100
        """

    private func accountNames(_ prefix: String) throws -> [String] {
        let end = prefix + "\u{10FFFF}"
        let names = try connection.all(
            """
            SELECT username FROM account WHERE username_fold >= ?1 AND username_fold < ?2 ORDER BY username_fold LIMIT 100
            """,
            .text(prefix),
            .text(end)
        ) { $0.text(0) }
        guard !prefix.isEmpty, names.isEmpty else { return names }
        return try connection.all(
            "SELECT home_account_id FROM account WHERE account_key >= ?1 AND account_key < ?2 LIMIT 100",
            .text(prefix),
            .text(end)
        ) { $0.text(0) }
    }

    private static let newestIDTokens = SQL(SealedTable.idToken.selection + "ORDER BY t.id DESC LIMIT 20")

    private func claimNames() throws -> [String] {
        try connection.all(Self.newestIDTokens) { row in
            let secret = try open(row, of: .idToken)
            // One that cannot be read is kept as it came, and has no names to suggest.
            return (try? IDToken(decoding: secret))?.claims.payload.members.map(\.name) ?? []
        }.flatMap(\.self)
    }
}
