import Database
import OAuth
import SQL

extension StoreConnection {
    /// Makes sure, as far as it can be known, that a server would store a sign-in, in the transaction that is open.
    ///
    /// The server checks row security, which is to be off, and tables also of a statement that adds no row.
    ///
    /// Where rows are spread over machines, what every transaction asks first has to do.
    func rehearseSignIn() throws {
        guard case .server(let server) = connection.engine else { return }
        try askAheadForAnswer()
        try requireRights()
        _ = try currentMarkKey()
        if !server.spreadsRows { try connection.execute(Self.signInOfNobody) }
    }

    private static let signInOfNobody: String = [
        "account", "access_token", "refresh_token", "id_token", "app_metadata", "event",
    ].map { "INSERT INTO \($0) (id) SELECT id FROM \($0) WHERE false" }.joined(separator: "; ")

    /// Asks a server what ``rehearseAnswer(about:)`` will ask.
    func askAheadForAnswer() throws {
        try connection.askAhead(Self.missingRights)
        try askAheadForMarkKey()
    }

    /// Makes sure that a server would store the answer to a refresh, as far as it can be known before the refresh token
    /// is spent: that the role may write all that it consists of, and that the record of use can name the account.
    ///
    /// A file has a sealed file beside it for an answer that it does not take.
    func rehearseAnswer(about account: Account.ID) throws {
        guard connection.isServer else { return }
        try requireRights()
        _ = try newMark(of: account)
    }

    /// - Throws: ``TokenStoreError/Code/access`` if the role may not write all that a sign-in and a refresh consist of.
    private func requireRights() throws {
        let found = try connection.first(Self.missingRights) { (role: $0.text(0), missing: $0.optionalText(1)) }
        guard let found, let missing = found.missing else { return }
        throw TokenStoreError(
            .access,
            "the role \(found.role) at \(location) lacks rights by which tokens are stored: \(missing)",
            Remedy(
                .checkPermissions,
                "have the owner of the tables grant them or end the row security, or name another role in the address"
            )
        )
    }

    private static let missingRights: SQL = {
        let writing = ["INSERT", "UPDATE", "DELETE"]
        let wanted: [(table: String, rights: [String])] = [
            ("account", ["INSERT", "UPDATE"]), ("tenant_profile", ["INSERT", "UPDATE"]), ("account_state", writing),
            ("authority_map", ["INSERT", "UPDATE"]), ("app_metadata", ["INSERT", "UPDATE"]),
            ("id_token", ["INSERT", "UPDATE"]), ("claim_index", ["INSERT", "DELETE"]), ("refresh_token", writing),
            ("access_token", writing), ("dpop_key", writing), ("refresh_attempt", writing), ("throttle", writing),
            ("sign_out", ["DELETE"]), ("mark_key", ["INSERT"]), ("event", ["INSERT"]),
        ]
        // Rows that are changed or deleted are found by their columns.
        let rows = wanted.flatMap { table, rights in (["SELECT"] + rights).map { "('\(table)', '\($0)')" } }
        let tables = wanted.map { "('\($0.table)')" }
        // Where row security is in force, every statement is refused, as a policy could hide rows.
        return SQL(
            """
            SELECT current_user::text, string_agg(x.missing, ', ')
            FROM (
                SELECT w.kind || ' on ' || w.name AS missing
                FROM (VALUES \(rows.joined(separator: ", "))) w (name, kind)
                WHERE NOT has_table_privilege(w.name, w.kind)
                UNION ALL
                SELECT 'all rows of ' || t.name || ' (row security)'
                FROM (VALUES \(tables.joined(separator: ", "))) t (name) WHERE row_security_active(t.name)
            ) x
            """
        )
    }()
}
