import SQLite

/// The tables that hold sealed values: what a check opens, a rekey seals anew and a repair copies.
struct SealedTable: Sendable {
    let name: String

    /// The column whose row owns a row, if there is one; values are bound to it.
    let owner: String?
    let columns: [String]

    static let all = [
        SealedTable(name: "account", owner: nil, columns: ["name"]),
        SealedTable(name: "tenant_profile", owner: "account_id", columns: ["extra"]),
        SealedTable(name: "app_metadata", owner: nil, columns: ["extra"]),
        SealedTable(name: "id_token", owner: "account_id", columns: ["extra", "secret"]),
        SealedTable(name: "refresh_token", owner: "account_id", columns: ["extra", "secret"]),
        SealedTable(name: "access_token", owner: "account_id", columns: ["extra", "secret"]),
        SealedTable(name: "mark_key", owner: nil, columns: ["secret"]),
        SealedTable(name: "foreign_entry", owner: nil, columns: ["entry"]),
    ]

    /// Whether any row holds a sealed value.
    func hasValues(in connection: Connection) throws -> Bool {
        let conditions = columns.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
        var isFound = false
        try connection.prepare("SELECT 1 FROM \(name) WHERE \(conditions) LIMIT 1").forEach([]) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// Rows after `?1` with their owner and sealed values.
    var selection: String {
        "SELECT id, coalesce(\(owner ?? "0"), 0), \(columns.joined(separator: ", ")) FROM \(name) "
            + "WHERE id > ?1 ORDER BY id"
    }
}
