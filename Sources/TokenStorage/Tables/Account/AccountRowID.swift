import Crypto
import Database
import OAuth

extension StoreConnection {
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
                let start = 4 + 4 * attempt
                let half = hash[start..<start + 4].reduce(Int64(0)) { $0 << 8 | Int64($1) } & 0x7FFF_FFFF
                let other = first ^ (half << 32 | half)
                return other == 0 ? first : other
            }
    }

    /// The likeliest one, which also names an account to the other nodes: it needs no row to be computed from.
    static func first(_ id: Account.ID, mask: UInt64 = .max >> 1) -> Int64 { first(hash(of: id), mask: mask) }

    private static func first(_ hash: [UInt8], mask: UInt64) -> Int64 {
        let bits = hash[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // 0 is the owner of what belongs to no account.
        return Int64(max(1, bits & mask))
    }

    private static func hash(of id: Account.ID) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Array("0:\(id.issuer.utf8.count):\(id.issuer)\(id.key)".utf8))
        return Array(hash.finalize())
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
    func values(_ values: Value..., of account: Account.ID) -> [Value] {
        guard connection.isServer else { return values }
        return values + AccountRowID.candidates(account, mask: options.accountRowMask).map { .integer($0) }
    }
}
