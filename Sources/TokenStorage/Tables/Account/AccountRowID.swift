import Crypto
import Database
package import OAuth
import SQL

extension StoreConnection {
    /// The row of an account, or nil.
    ///
    /// In a transaction that writes to a server the row stays locked: what is decided by it must not change before.
    package func accountRow(_ id: Account.ID) throws -> Int64? {
        if isWriting {
            if let row = lockedRows[id] { return row }
            if presumption?.account == id { return nil }
            let row = try row(of: id, by: Self.lockedRow) { $0.integer(0) }
            witness.accounts.insert(id)
            lockedRows[id] = row
            return row
        }
        return try row(of: id, by: Self.rowOfAccount) { $0.integer(0) }
    }

    /// What `body` makes of the row of an account that a statement of ``ownRow(_:and:)`` finds, or nil.
    ///
    /// The index that finds the row does not decide whose it is: it is not sealed, and what is written by the number
    /// in it would be another's.
    ///
    /// Nor does the first of several: who writes to a server can copy a row to another id that the account may have,
    /// where it does not open.
    private func row<Found>(of id: Account.ID, by statement: SQL, _ body: (Row) throws -> Found) throws -> Found? {
        let key = id.key
        var found: [(row: Int64, value: Found)] = []
        try connection.forEach(statement, values(.text(key), .text(id.issuer), of: id)) { row in
            guard row.text(1).hasSameBytes(as: id.issuer), row.text(2).hasSameBytes(as: key) else {
                throw misplacedRow()
            }
            found.append((row.integer(0), try body(row)))
        }
        guard found.count > 1, let intact = try intactRow(of: id) else { return found.first?.value }
        return found.first { $0.row == intact }?.value
    }

    private static let rowOfID = SQL { SealedTable.account.selection + "WHERE " + account(in: $0, as: "t") }

    /// The row of an account that is as the program wrote it; nil where none is.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` if several are: each may have tokens, and a sign-out of one would
    ///   leave the other's.
    private func intactRow(of id: Account.ID) throws -> Int64? {
        let (table, key) = (SealedTable.account, id.key)
        var intact: [Int64] = []
        try connection.forEach(Self.rowOfID, values(.text(key), .text(id.issuer), of: id)) { row in
            // By a column that was made to compare otherwise the row of another may be found.
            let isOwn = row.text(table["account_key"]).hasSameBytes(as: key)
            guard isOwn, row.text(table["authority"]).hasSameBytes(as: id.issuer) else { throw misplacedRow() }
            if try isIntact(row, of: table) { intact.append(row.integer(0)) }
        }
        guard intact.count < 2 else { throw severalRows() }
        return intact.first
    }

    /// What is stored of an account is in rows that nobody can name apart.
    func severalRows() -> TokenStoreError {
        .damaged("\(location) has more than one row of an account", connection.isServer ? Self.purgeOfAll : .repair)
    }

    fileprivate static let purgeOfAll = Remedy(
        .correctArgument,
        "purge the account, which deletes all of its rows, and sign in again"
    )

    /// Makes sure that the row of an account was not altered.
    func verifyAccount(_ id: Account.ID) throws {
        guard try intactRow(of: id) == nil else { return }
        _ = try connection.first(Self.rowOfID, values(.text(id.key), .text(id.issuer), of: id)) { row in
            try verify(row, of: .account)
        }
    }

    /// The accounts that have more than one row: a server has no constraint against it, as ids are computed.
    func sharedIdentityProblems() throws -> [StoreProblem] {
        try connection.all(
            """
            SELECT min(id), max(id) FROM account GROUP BY account_key, authority HAVING count(*) > 1
            ORDER BY min(id)
            """
        ) { row -> StoreProblem in
            let remedy: Remedy? = connection.isServer ? Self.purgeOfAll : nil
            let advice = remedy.map { ": \($0.advice)" } ?? ""
            return StoreProblem(
                location: "account row \(row.integer(0))",
                problem: "row \(row.integer(1)) is of the same account" + advice,
                remedy: remedy
            )
        }
    }

    private static let rowOfAccount = SQL { ownRow($0) }
    private static let lockedRow = SQL { ownRow($0) + " FOR NO KEY UPDATE" }

    /// The number, the identity and `further` columns of the row of an account.
    ///
    /// What an index has is not read from the row in a file, unless that is looked up by its number.
    private static func ownRow(_ dialect: Dialect, and further: String...) -> String {
        let row = dialect == .sqlite ? "r" : "a"
        let columns = ["authority", "account_key"] + further
        return "SELECT a.id, " + columns.map { "\(row).\($0)" }.joined(separator: ", ") + " FROM account a "
            + (dialect == .sqlite ? "LEFT JOIN account r ON r.id = a.id " : "") + "WHERE " + account(in: dialect)
    }

    private static func account(in dialect: Dialect, as alias: String = "a") -> String {
        dialect.account(alias, key: "?1", authority: "?2", rows: 3)
    }

    /// Asks a server where the row of an account is, or is to be.
    func askAheadForRow(of id: Account.ID) throws {
        try connection.askAhead(Self.lockedRow, values(.text(id.key), .text(id.issuer), of: id))
        let row = AccountRowID.first(id, mask: options.accountRowMask)
        try connection.askAhead(Self.idOfRow, .integer(row))
    }

    private static let idOfRow = SQL("SELECT authority, home_account_id FROM account WHERE id = ?1")

    /// Asks a server what ``accountID(_:)`` will ask.
    func askAheadForAccountID(_ row: Int64) throws { try connection.askAhead(Self.idOfRow, .integer(row)) }

    /// The account of a row, or nil.
    func accountID(_ row: Int64) throws -> Account.ID? {
        try connection.first(Self.idOfRow, .integer(row)) {
            Account.ID(issuer: $0.text(0), homeAccountID: $0.text(1))
        }
    }

    /// Asks a server what ``accountRow(_:)`` will ask where nothing is written, and ``verifyAccount(_:)``.
    func askAheadForOwnRow(of id: Account.ID) throws {
        let identity = values(.text(id.key), .text(id.issuer), of: id)
        try connection.askAhead(Self.rowOfAccount, identity)
        try connection.askAhead(Self.rowOfID, identity)
    }

    /// The host that an account signed in at, or nil.
    func environment(of id: Account.ID) throws -> String? {
        try row(of: id, by: Self.environmentOfAccount) { $0.text(3) }
    }

    private static let environmentOfAccount = SQL { ownRow($0, and: "environment") }

    /// The id of a new account's row.
    ///
    /// On a server it is computed from the account's identity: so nobody asks for the greatest one, two nodes that make
    /// the same account at once meet in one row, and where rows are spread by it everyone knows where they are. Two
    /// accounts may get the same one; then the later takes the next.
    func newAccountRow(_ id: Account.ID) throws -> Int64? {
        guard connection.isServer else { return nil }
        if presumption?.account == id { return AccountRowID.first(id, mask: options.accountRowMask) }
        for candidate in AccountRowID.candidates(id, mask: options.accountRowMask) {
            guard let occupant = try accountID(candidate) else { return candidate }
            // Another node has made this very account since it was looked for: with its row in the way, all of this
            // begins again.
            if occupant == id, try accountRow(id) != nil { return candidate }
        }
        throw TokenStoreError.storage("no row of an account is free in \(location)", .retry)
    }
}

/// The ids that the row of an account may have on a server, the likeliest first.
///
/// Where rows are spread by them, all ids of an account are in one place: PostgreSQL and Citus compute that of a number
/// from its upper half and its lower half combined by "exclusive or", which is the same for all of them.
enum AccountRowID {
    /// Among a hundred million accounts one meeting of two is as likely as one in two thousand.
    static let count = 4

    /// `mask` is what the first of them is cut down to: tests make it smaller, so that accounts meet.
    static func candidates(_ id: Account.ID, mask: UInt64 = .max >> 1) -> [Int64] {
        let hash = hash(of: id)
        let first = first(hash, mask: mask)
        return [first]
            + (1..<count).map { attempt in
                let half = Int64(hash.number(at: 4 + 4 * attempt, UInt32.self) & 0x7FFF_FFFF)
                let other = first ^ (half << 32 | half)
                return other == 0 ? first : other
            }
    }

    /// The likeliest one, which also names an account to the other nodes: it needs no row to be computed from.
    static func first(_ id: Account.ID, mask: UInt64 = .max >> 1) -> Int64 { first(hash(of: id), mask: mask) }

    private static func first(_ hash: SHA256Digest, mask: UInt64) -> Int64 {
        // 0 is the owner of what belongs to no account.
        Int64(max(1, hash.number(at: 0, UInt64.self) & mask))
    }

    private static func hash(of id: Account.ID) -> SHA256Digest {
        let pieces = ["0:\(id.issuer.utf8.count):", id.issuer, id.key]
        let size = pieces.reduce(0) { $0 + $1.utf8.count }
        // As one text they would be copied once more, and piece by piece they would be hashed more slowly.
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { bytes in
            var end = 0
            for piece in pieces {
                UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: piece.utf8)
                end += piece.utf8.count
            }
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
            return hash.finalize()
        }
    }
}

extension SHA256Digest {
    /// The big-endian number at a place.
    fileprivate func number<Number: FixedWidthInteger>(at offset: Int, _ type: Number.Type) -> Number {
        Number(bigEndian: withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) })
    }
}

// MARK: - Statements about an account

extension Dialect {
    /// Whether `account` is the row of the account with a key and an authority.
    ///
    /// A server is also told which rows that may be, by the values from `rows` on, for the columns in `owners` as well:
    /// so it knows where they are without asking every machine.
    func account(_ account: String, key: String, authority: String, rows: Int, owners: [String] = []) -> String {
        let identity = "\(account).account_key = \(key) AND \(account).authority = \(authority)"
        return ([identity] + (["\(account).id"] + owners).compactMap { place($0, rows) }).joined(separator: " AND ")
    }

    /// Behind another condition: that a column names a row which the account may have; on a file nothing.
    func owned(_ column: String, rows: Int) -> String { place(column, rows).map { " AND " + $0 } ?? "" }

    private func place(_ column: String, _ rows: Int) -> String? {
        guard self == .postgreSQL else { return nil }
        let places = (0..<AccountRowID.count).map { "?\(rows + $0)" }
        return "\(column) IN (\(places.joined(separator: ", ")))"
    }
}

extension StoreConnection {
    /// Values for a statement about an account; on a server the rows that it may have are behind them.
    func values(_ values: Value..., of account: Account.ID) -> [Value] { self.values(values, of: account) }

    func values(_ values: [Value], of account: Account.ID) -> [Value] {
        guard connection.isServer else { return values }
        return values + AccountRowID.candidates(account, mask: options.accountRowMask).map { .integer($0) }
    }
}

extension TokenStoreError {
    /// Whether an account has several rows, which a purge of it deletes.
    package var isMendedByPurge: Bool { remedy == StoreConnection.purgeOfAll }
}
