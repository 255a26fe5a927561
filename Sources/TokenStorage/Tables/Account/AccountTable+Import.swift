import Database
import OAuth
import SQL

extension StoreConnection {
    /// The accounts with an id, however it is spelled.
    func accounts(called homeAccountID: String) throws -> [(row: Int64, id: Account.ID)] {
        let keys = Account.ID.keys(of: homeAccountID)
        return try connection.all(Self.accountsOfKeys, .text(keys[0]), .text(keys[1])) {
            (row: $0.integer(0), id: Account.ID(issuer: $0.text(1), homeAccountID: $0.text(2)))
        }
        .filter { $0.id.named(homeAccountID) == $0.id }
    }

    /// The authority of the one account of this name at a host, where a document itself does not tell the issuer.
    func knownAuthority(homeAccountID: String, environment: String) throws -> String? {
        let keys = Account.ID.keys(of: homeAccountID)
        let known = try connection.all(
            Self.authoritiesOfKeys,
            .text(keys[0]),
            .text(keys[1]),
            .text(environment.folded)
        ) { (authority: $0.text(0), id: $0.text(1)) }
        .filter { Self.isAuthority($0.authority, of: environment) }
        // Another account may have the same id but for the case of letters.
        let exact = known.filter { $0.id.hasSameBytes(as: homeAccountID) }
        let authorities = Set((exact.isEmpty ? known : exact).map(\.authority))
        return authorities.count == 1 ? authorities.first : nil
    }

    private static let accountsOfKeys = SQL { "SELECT r.id, r.authority, r.home_account_id " + rowsOfKeys($0) }
    private static let authoritiesOfKeys = SQL {
        "SELECT r.authority, r.home_account_id \(rowsOfKeys($0)) AND lower(r.environment) = ?3"
    }

    /// The rows `r` of the accounts with one of two keys.
    ///
    /// A file reads them by their numbers: an index may lie. A server, which keeps its indexes itself, would read all
    /// rows of one table for each of the other while it has no statistics.
    private static func rowsOfKeys(_ dialect: Dialect) -> String {
        dialect == .sqlite
            ? "FROM account a JOIN account r ON r.id = a.id WHERE a.account_key IN (?1, ?2)"
            : "FROM account r WHERE r.account_key IN (?1, ?2)"
    }

    /// Whether a refresh token of a host may be sent to an authority: an issuer elsewhere was named by another
    /// document.
    private static func isAuthority(_ authority: String, of environment: String) -> Bool {
        guard let issuer = WebAddress(authority) else { return true }
        return issuer.host == HostAndPort(environment.folded, usualPort: 443)?.host
    }

    /// Calls `body` with the key and environment of each account whose environment has a port, and whether it has an ID
    /// token.
    func forEachEnvironmentWithPort(_ body: (_ key: String, _ environment: String, Bool) throws -> Void) throws {
        try connection.forEach(
            """
            SELECT account_key, environment, EXISTS (SELECT 1 FROM id_token t WHERE t.account_id = a.id)
            FROM account a WHERE environment LIKE '%:%'
            """
        ) { try body($0.text(0), $0.text(1), $0.bool(2)) }
    }

    func hasAccount(key: String, environment: String) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM account WHERE account_key = ?1 AND environment = ?2",
            .text(key),
            .text(environment)
        ) != nil
    }

    /// The accounts at one host, named with its port or without, that have one id.
    ///
    /// Two questions: over several machines no row can be asked for by what another one has.
    func accountsThatShareIDs() throws -> [Account.ID] {
        let shared = try connection.all(
            "SELECT account_key, lower(environment) FROM account GROUP BY 1, 2 HAVING count(*) > 1"
        ) { (key: $0.text(0), environment: $0.text(1)) }
        return try shared.flatMap { place in
            try connection.all(
                "SELECT authority, home_account_id FROM account WHERE account_key = ?1 AND lower(environment) = ?2",
                .text(place.key),
                .text(place.environment)
            ) { Account.ID(issuer: $0.text(0), homeAccountID: $0.text(1)) }
        }
    }

    /// The environments at `host`, with a port or without, of the accounts with a folded id.
    func environments(host: String, ofAccount id: String) throws -> [String] {
        let start = id + Account.ID.separator
        return try connection.all(
            """
            SELECT DISTINCT environment FROM account
            WHERE (account_key = ?1 OR account_key >= ?2 AND account_key < ?3)
                AND (environment = ?4 OR substr(environment, 1, length(?4) + 1) = ?4 || ':')
            """,
            .text(id),
            .text(start),
            .text(start + "\u{10FFFF}"),
            .text(host)
        ) { $0.text(0) }
    }
}
