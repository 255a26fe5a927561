import Database
import SQL

/// Who may use the tables of a store on a server besides the role that made them; the roles have to be there.
public struct ServerRoles: Hashable, Sendable {
    /// Reads and writes the store's rows, and can change neither tables nor roles: what programs sign in with.
    public var application: String?

    /// Reads what is not sealed, and no sealed value.
    public var audit: String?

    /// Roles by their names; nil grants nothing.
    public init(application: String? = nil, audit: String? = nil) {
        self.application = application
        self.audit = audit
    }
}

extension ServerRoles {
    /// Lets the roles use the tables: programs their rows, an audit what is not sealed.
    func grant(on schema: String, by connection: Connection) throws {
        let schema = Self.quoted(schema)
        try connection.execute("REVOKE ALL ON SCHEMA \(schema) FROM PUBLIC")
        if let application = application.map(Self.quoted) {
            try connection.execute(
                """
                GRANT USAGE ON SCHEMA \(schema) TO \(application);
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(application);
                REVOKE INSERT, UPDATE, DELETE ON \(schema).store, \(schema).data_key FROM \(application);
                GRANT UPDATE (created_at) ON \(schema).store, \(schema).data_key TO \(application)
                """
            )
        }
        if let audit = audit.map(Self.quoted) {
            try connection.execute("GRANT USAGE ON SCHEMA \(schema) TO \(audit)")
            for table in SealedTable.all where !table.clear.isEmpty {
                let columns = (["id"] + (table.isOwnedOnServers ? ["account_id"] : []) + table.clear)
                try connection.execute(
                    "GRANT SELECT (\(columns.joined(separator: ", "))) ON \(schema).\(table.name) TO \(audit)"
                )
            }
        }
    }

    /// The roles that may use the store's tables, each with what it may: new tables are for the same.
    static func granted(by connection: Connection) throws -> [ServerRoles] {
        try connection.all(readers) { row in
            row.bool(1) ? ServerRoles(application: row.text(0)) : ServerRoles(audit: row.text(0))
        }
    }

    private static let readers: StaticString = """
        SELECT r.rolname::text, max(g.writes)::bigint FROM (
            SELECT x.grantee, 1 AS writes FROM pg_class c, aclexplode(c.relacl) x
            WHERE c.oid = 'account'::regclass AND x.privilege_type = 'INSERT' AND x.grantee <> c.relowner
            UNION ALL
            SELECT x.grantee, 0 FROM pg_attribute a, aclexplode(a.attacl) x
            WHERE a.attrelid = 'account'::regclass AND a.attname = 'username' AND x.privilege_type = 'SELECT'
        ) g JOIN pg_roles r ON r.oid = g.grantee GROUP BY r.rolname ORDER BY r.rolname
        """

    private static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
