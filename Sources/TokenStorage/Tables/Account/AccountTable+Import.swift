import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// The accounts with an id, however it is spelled.
    func accounts(called homeAccountID: String) throws -> [(row: Int64, id: Account.ID)] {
        let keys = Account.ID.keys(of: homeAccountID)
        return try connection.all(Self.accountsOfKeys, .text(keys[0]), .text(keys[1])) {
            (row: $0.integer(0), id: Account.ID(issuer: $0.text(1), homeAccountID: $0.text(2)))
        }
        .filter { $0.id.named(homeAccountID) == $0.id }
    }

    private static let accountsOfKeys = SQL {
        "SELECT r.id, r.authority, r.home_account_id " + rows($0) { "\($0) IN (?1, ?2)" }
    }

    private static let placesOfKeys = SQL {
        "SELECT r.authority, r.home_account_id, r.environment " + rows($0) { "\($0) >= ?1 AND \($0) < ?2" }
    }

    /// The rows `r` of the accounts whose key meets a condition.
    ///
    /// A file reads them by their numbers: an index may lie. A server, which keeps its indexes itself, would read all
    /// rows of one table for each of the other while it has no statistics.
    private static func rows(_ dialect: Dialect, where condition: (_ key: String) -> String) -> String {
        dialect == .sqlite
            ? "FROM account a JOIN account r ON r.id = a.id WHERE " + condition("a.account_key")
            : "FROM account r WHERE " + condition("r.account_key")
    }

    /// Where the accounts are that have a folded id, in any letter case.
    fileprivate func places(ofAccounts id: String) throws -> [AccountPlace] {
        let end = id + Account.ID.separator + "\u{10FFFF}"
        return try connection.all(Self.placesOfKeys, .text(id), .text(end)) {
            AccountPlace(authority: $0.text(0), homeAccountID: $0.text(1), environment: $0.text(2))
        }
        .filter { $0.homeAccountID.folded.hasSameBytes(as: id) }
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

    private static let idTokensAtPorts = SQL(
        SealedTable.idToken.selection(with: "a.home_account_id, a.environment")
            + "WHERE a.id IS NOT NULL AND (t.environment LIKE '%:%' OR a.environment LIKE '%:%') ORDER BY t.id"
    )

    /// Calls `body` with the account and the claims of each ID token whose environment, or its account's, has a port,
    /// and with both environments; a token that cannot be decoded has no claims.
    func forEachIDTokenAtPort(_ body: (Account.ID, Claims?, _ environments: [String]) throws -> Void) throws {
        let table = SealedTable.idToken
        try connection.walk(Self.idTokensAtPorts) { row in
            // One that was altered tells nothing.
            let secret = try intact { try open(row, of: table) }
            let claims = secret.flatMap { try? IDToken(decoding: $0) }?.claims
            let environments = [row.text(table["environment"]), row.text(table.end + 1)]
            try body(table.account(row.text(table.end), of: row), claims, environments)
        }
    }

    func hasAccount(key: String, environment: String) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM account WHERE account_key = ?1 AND environment = ?2",
            .text(key),
            .text(environment)
        ) != nil
    }

    /// Whether the environment of some account has a port.
    func hasAccountsAtPorts() throws -> Bool {
        try connection.integer("SELECT 1 FROM account WHERE environment LIKE '%:%' LIMIT 1") != nil
    }

    func environment(ofAccount row: Int64) throws -> String? {
        try connection.first("SELECT environment FROM account WHERE id = ?1", .integer(row)) { $0.text(0) }
    }

    /// The environments of the accounts with a key.
    func environments(ofAccountsWithKey key: String) throws -> Set<String> {
        Set(try connection.all("SELECT environment FROM account WHERE account_key = ?1", .text(key)) { $0.text(0) })
    }

    /// The accounts at one host, named with its port or without, that have one id.
    ///
    /// Several questions: over several machines no row can be asked for by what another one has. But one for each id,
    /// however many hosts have it.
    func accountsThatShareIDs() throws -> [Account.ID] {
        let shared = try connection.all(
            "SELECT account_key, lower(environment) FROM account GROUP BY 1, 2 HAVING count(*) > 1"
        ) { (key: $0.text(0), environment: $0.text(1)) }
        return try Dictionary(grouping: shared) { Array($0.key.utf8) }.values.flatMap { places in
            let environments = Set(places.map(\.environment))
            return try connection.all(
                "SELECT authority, home_account_id, lower(environment) FROM account WHERE account_key = ?1",
                .text(places[0].key)
            ) { environments.contains($0.text(2)) ? Account.ID(issuer: $0.text(0), homeAccountID: $0.text(1)) : nil }
            .compactMap(\.self)
        }
    }
}

/// Where an account is, which others may have the same id as.
private struct AccountPlace {
    let authority: String
    let homeAccountID: String
    let environment: String

    /// Whether a refresh token of its host may be sent to its authority: an issuer elsewhere was named by another
    /// document.
    var isAtAuthority: Bool {
        guard let issuer = WebAddress(authority) else { return true }
        return issuer.host == HostAndPort(environment.folded, usualPort: 443)?.host
    }

    /// Whether the account is found by its id in any letter case.
    var isFoundFolded: Bool {
        Account.ID(issuer: authority, homeAccountID: homeAccountID).key.hasSameBytes(as: homeAccountID.folded)
    }
}

/// Where the accounts are that have one id.
private struct PlacesOfID {
    private struct Name: Hashable {
        let environment: String

        /// The id as it is written; nil for the accounts that are found by it in any letter case.
        let homeAccountID: [UInt8]?
    }

    /// By their hosts.
    private var environments: [[UInt8]: Set<String>] = [:]
    private var authorities: [Name: Set<String>] = [:]

    init(_ places: [AccountPlace]) {
        for place in places { add(place) }
    }

    mutating func add(_ place: AccountPlace) {
        let environment = Array(place.environment.utf8)
        let isAddress = environment.last == UInt8(ascii: "]")
        let end = isAddress ? nil : environment.lastIndex(of: UInt8(ascii: ":"))
        environments[Array(environment[..<(end ?? environment.endIndex)]), default: []].insert(place.environment)
        guard place.isAtAuthority else { return }
        for id in [Array(place.homeAccountID.utf8)] + (place.isFoundFolded ? [nil] : []) {
            let name = Name(environment: place.environment.folded, homeAccountID: id)
            authorities[name, default: []].insert(place.authority)
        }
    }

    func environments(host: String) -> Set<String> { environments[Array(host.utf8)] ?? [] }

    func authorities(_ homeAccountID: String, at environment: String) -> Set<String> {
        // Another account may have the same id but for the case of letters.
        [Array(homeAccountID.utf8), nil].lazy.compactMap {
            authorities[Name(environment: environment.folded, homeAccountID: $0)]
        }.first ?? []
    }
}

/// Where the accounts are that have the ids of a document, while it is taken in.
///
/// No index of the store finds them by their hosts: where many have one id, all the others would be looked through for
/// each. A reference, as each entry asks it.
final class AccountPlaces {
    private let session: StoreConnection

    /// By the folded ids that many accounts have; a document may name many more that few have.
    private var known: [[UInt8]: PlacesOfID] = [:]

    private static let many = 64

    init(_ session: StoreConnection) { self.session = session }

    private func places(of id: String) throws -> PlacesOfID {
        let key = Array(id.utf8)
        if let places = known[key] { return places }
        let stored = try session.places(ofAccounts: id)
        let places = PlacesOfID(stored)
        if stored.count >= Self.many { known[key] = places }
        return places
    }

    /// Notes an account that the document has made.
    func add(_ account: AccountIdentity) {
        known[Array(account.homeAccountID.folded.utf8)]?.add(
            AccountPlace(
                authority: account.issuer,
                homeAccountID: account.homeAccountID,
                environment: account.environment
            )
        )
    }

    /// The environments at `host`, with a port or without, of the accounts with a folded id.
    func environments(host: String, ofAccount id: String) throws -> Set<String> {
        try places(of: id).environments(host: host)
    }

    /// The authority of the one account of this name at a host, where a document itself does not tell the issuer.
    func authority(homeAccountID: String, environment: String) throws -> String? {
        let authorities = try places(of: homeAccountID.folded).authorities(homeAccountID, at: environment)
        return authorities.count == 1 ? authorities.first : nil
    }
}
