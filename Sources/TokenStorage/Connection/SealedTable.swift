import Database
import OAuth
import Synchronization

/// A table with sealed values, and the clear columns that they are bound to.
///
/// All code that reads, writes, checks, seals anew or repairs a row uses this one list: a value opens only together
/// with the very columns it was sealed with. A column outside ``clear`` decides nothing, or is computed from those.
final class SealedTable: Sendable {
    let name: String

    /// Whether its rows belong to an account, whose authority and key their values are bound to as well.
    let isOwned: Bool

    /// The clear columns that decide where a row belongs and what it may be used for.
    let clear: [String]

    /// The most bytes that a text of each clear column may have.
    let limits: [Int]

    /// The first one is the row's proof, and never `NULL`: a row whose proof does not open is not believed.
    let sealed: [String]

    /// Clear columns that a row keeps: it is written by its id, which an index of a file may have named wrongly.
    let kept: [String]

    /// Columns that are computed from others.
    let derived: [String]

    /// What becomes of a row that was altered.
    let whenAltered: WhenAltered

    /// Whether a server keeps the account's id in a row although a file, which finds rows by their own, does not.
    let isOwnedOnServers: Bool

    /// Where the account's id stands in ``selection`` that is part of a row's key on a server; nil: there is none.
    let ownerOnServers: CInt?

    /// Where the first sealed column stands in ``columns``.
    let firstSealed: CInt

    /// Rows with their id, owner, bound columns, and all sealed and derived ones.
    ///
    /// A condition goes behind it, in which the row is `t` and its account `a`.
    let selection: String

    /// All rows, as ``selection`` gives them, by their ids.
    let everyRow: SQL

    /// The greatest id of a row.
    let greatestID: SQL

    private let columns: String

    /// Where the columns come from.
    private let origin: String
    private let writing = AtomicLazyReference<WritingStatements>()

    init(
        _ name: String,
        isOwned: Bool,
        clear: [String],
        sealed: [String],
        kept: [String] = [],
        derived: [String] = [],
        whenAltered: WhenAltered = .isKept,
        isOwnedOnServers: Bool = false
    ) {
        self.name = name
        self.whenAltered = whenAltered
        self.isOwned = isOwned
        self.isOwnedOnServers = isOwned || isOwnedOnServers
        greatestID = SQL("SELECT max(id) FROM \(name)")
        self.clear = clear
        limits = clear.map { Self.limit(of: $0) }
        self.sealed = sealed
        self.kept = kept
        self.derived = derived
        let account = ["coalesce(t.account_id, 0)", "a.authority", "a.account_key"]
        let heading = ["t.id"] + (isOwned ? account : ["0"])
        firstSealed = CInt(heading.count + clear.count)
        let firstDerived = firstSealed + CInt(sealed.count)
        ownerOnServers = isOwned ? 1 : derived.firstIndex(of: "account_id").map { firstDerived + CInt($0) }
        columns = (heading + (clear + sealed + derived).map { "t.\($0)" }).joined(separator: ", ")
        origin = "FROM \(name) t " + (isOwned ? "LEFT JOIN account a ON a.id = t.account_id " : "")
        selection = "SELECT \(columns) \(origin)"
        everyRow = SQL(selection + "ORDER BY t.id")
    }

    /// What becomes of a row that was altered, and so does not open.
    enum WhenAltered {
        /// It counts for nothing, as if it were deleted, and a rekey deletes it.
        case countsForNothing

        /// It is refused until the program writes it anew. Nothing but its proof is sealed in it, and a rekey takes that
        /// away.
        case isRefused

        /// It is refused, and may hold what is stored nowhere else: a rekey keeps it, with the data key that it names.
        case isKept
    }

    /// Where a column stands in ``selection``.
    subscript(_ column: String) -> CInt {
        let index =
            clear.firstIndex(of: column) ?? sealed.firstIndex(of: column).map { $0 + clear.count }
            ?? derived.firstIndex(of: column).map { $0 + clear.count + sealed.count }
        guard let index else { preconditionFailure("\(name) has no column \(column)") }
        return firstSealed + CInt(index - clear.count)
    }

    /// The columns of ``selection`` that values are bound to.
    var bound: Range<CInt> { 2..<firstSealed }

    /// Where what is behind the columns of ``selection`` begins.
    var end: CInt { firstSealed + CInt(sealed.count + derived.count) }

    /// The rows after an id, in their order.
    func selection(after id: String) -> String { selection + "WHERE t.id > \(id) ORDER BY t.id" }

    /// What the proof of a row holds that has nothing to say.
    var absentProof: Secret { sealed[0] == "extra" ? Secret(JSONValue.Object()) : Secret("") }

    /// Whether a row may be without its proof: what a purge deletes, and so that it was one, needs no key; and so does
    /// the note that its erasing is unfinished.
    func needsNoProof(_ row: Row) -> Bool {
        guard self === SealedTable.event else { return false }
        let kinds = [StoreEvent.Kind.purge, .erase].map(\.rawValue)
        // Behind the greatest id no other entry could be written.
        guard kinds.contains(row.text(self["kind"])), 0..<Int64.max - 1_000_000 ~= row.integer(0) else { return false }
        return ["account_mark", "client_id", "fingerprint"].allSatisfy { row.isNull(self[$0]) }
    }

    /// Whether any row holds a sealed value.
    func hasValues(in connection: Connection) throws -> Bool {
        let conditions = sealed.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
        var isFound = false
        try connection.prepare("SELECT 1 FROM \(name) WHERE \(conditions) LIMIT 1").forEach([]) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// The columns of ``selection`` of rows `alias` whose account, of the id `owner`, is the one of the two parameters
    /// named: what their values are bound to of it need not be read, and neither need columns that the condition wants
    /// `equal` to a parameter.
    func columns(
        of alias: String,
        owner: String,
        authority: String,
        key: String,
        equal: [String: String] = [:]
    ) -> [String] {
        ["\(alias).id", owner, authority, key] + (clear + sealed + derived).map { equal[$0] ?? "\(alias).\($0)" }
    }

    /// The account of an owned row, whose id stands behind ``selection``.
    func account(_ homeAccountID: String, of row: Row) -> Account.ID {
        Account.ID(issuer: row.text(bound.lowerBound), homeAccountID: homeAccountID)
    }

    /// ``selection`` with further columns.
    func selection(with further: String) -> String { "SELECT \(columns), \(further) \(origin)" }

    /// ``selection`` of rows of the account with the key ?1 and the authority ?2, by which an index finds them.
    ///
    /// In the condition the row is `t` and its account `a`. What was found for another account does not open: values are
    /// bound to the one that was asked for.
    func ownedRows(_ condition: (Dialect) -> String) -> SQL {
        SQL(selecting: columns(of: "t", owner: "a.id", authority: "?2", key: "?1")) { dialect in
            "FROM \(name) t JOIN account a ON a.id = t.account_id \(condition(dialect))"
        }
    }
}

// MARK: - Writing

extension SealedTable {
    /// Writes a new row; one of its id, or with what only one row may have, is an error.
    var insert: SQL { statements.insert }

    /// Writes the row of an id, new or not; in a file nothing where the row is of another account, or has other ``kept``
    /// columns.
    var upsert: SQL { statements.upsert }

    /// Writes the sealed columns of a row.
    var reseal: SQL { statements.reseal }

    /// Put together at the first use: most commands only read.
    private var statements: WritingStatements {
        writing.load() ?? writing.storeIfNil(WritingStatements(insert: insertion, upsert: upsertion, reseal: resealing))
    }

    /// Whether a row has the account's id beside those columns that are listed here.
    func hasOwner(on dialect: Dialect) -> Bool { dialect == .sqlite ? isOwned : isOwnedOnServers }

    /// Whether it takes the account's id to find a row by its own: rows of a server are spread by accounts.
    private func isFoundByOwner(on dialect: Dialect) -> Bool {
        dialect == .postgreSQL && (isOwnedOnServers || derived.contains("account_id"))
    }

    private var insertion: SQL { SQL(insertion(on:)) }

    private func insertion(on dialect: Dialect) -> String {
        let written = written(on: dialect)
        return "INSERT INTO \(name) (\((["id"] + written).joined(separator: ", "))) VALUES (?1"
            + written.indices.map { ", ?\($0 + 2)" }.joined() + ")"
    }

    private var upsertion: SQL {
        SQL { dialect in
            let isFoundByOwner = isFoundByOwner(on: dialect)
            let changed = written(on: dialect).filter { !isFoundByOwner || $0 != "account_id" }
            let same = dialect == .sqlite ? (isOwned ? ["account_id"] : []) + kept : []
            let condition = same.map { "\(name).\($0) IS excluded.\($0)" }.joined(separator: " AND ")
            return insertion(on: dialect) + " ON CONFLICT (\(isFoundByOwner ? "account_id, id" : "id")) DO UPDATE SET "
                + changed.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
                + (condition.isEmpty ? "" : " WHERE " + condition)
        }
    }

    private func written(on dialect: Dialect) -> [String] {
        (hasOwner(on: dialect) ? ["account_id"] : []) + clear + sealed + derived
    }

    /// Whether a row that was selected with ``selection`` is found by the id at ``ownerOnServers`` and its own.
    func isKeyedByOwner(on dialect: Dialect) -> Bool { dialect == .postgreSQL && ownerOnServers != nil }

    private var resealing: SQL {
        let assignments = sealed.enumerated().map { "\($1) = ?\($0 + 2)" }.joined(separator: ", ")
        return SQL { dialect in
            let owner = isKeyedByOwner(on: dialect) ? " AND account_id = ?\(sealed.count + 2)" : ""
            return "UPDATE \(name) SET \(assignments) WHERE id = ?1\(owner)"
        }
    }

    /// Values for ``reseal``: of a row that was selected with ``selection``.
    func resealing(_ row: Int64, of owner: Int64, with values: [Value], on dialect: Dialect) -> [Value] {
        [.integer(row)] + values + (isKeyedByOwner(on: dialect) ? [.integer(owner)] : [])
    }
}

private final class WritingStatements: Sendable {
    let insert: SQL
    let upsert: SQL
    let reseal: SQL

    init(insert: SQL, upsert: SQL, reseal: SQL) {
        (self.insert, self.upsert, self.reseal) = (insert, upsert, reseal)
    }
}

extension SealedTable {
    /// In the order of their references.
    static let all = [
        account, accountTag, defaultAccount, tenantProfile, accountState, authorityMap, appMetadata, idToken,
        refreshToken, accessToken, dpopKey, markKey, foreignEntry, issuerDocument, refreshAttempt, throttle, signOut,
        event,
    ]
}
