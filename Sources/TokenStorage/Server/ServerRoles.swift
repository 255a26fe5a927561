import Database
import OAuth
import SQL

/// Who may use the tables of a store on a server besides the role that made them; the roles have to be there.
public struct ServerRoles: Hashable, Sendable {
    /// Reads and writes the store's rows, and can change neither tables nor roles: what programs sign in with.
    public var application: String?

    /// Reads the columns that are not sealed, and no sealed value.
    public var audit: String?

    /// Roles by their names; nil grants nothing.
    public init(application: String? = nil, audit: String? = nil) {
        self.application = application
        self.audit = audit
    }
}

extension ServerRoles {
    /// Lets only the named roles make something in a schema, and no other transaction change its rights meanwhile.
    ///
    /// Of two that do so at once, the server refuses one.
    static func takeSchema(_ schema: String, by connection: Connection) throws {
        try connection.run(lockOfRights, .text(schema))
        try connection.execute("REVOKE CREATE ON SCHEMA \(quoted(schema)) FROM PUBLIC")
    }

    private static let lockOfRights: StaticString = """
        SELECT pg_catalog.pg_advisory_xact_lock(
            pg_catalog.hashtextextended('store '::text || ?1::text, 0::bigint))
        """

    /// Takes what new tables came with for other roles, by default privileges of the role that made them.
    static func revokeDefaults(on schema: String, by connection: Connection) throws {
        let others = try connection.all(granted, .text(schema)) { $0.text(0) }
        for other in others {
            try connection.execute("REVOKE ALL ON ALL TABLES IN SCHEMA \(quoted(schema)) FROM \(quoted(other))")
        }
    }

    private static let granted: StaticString = """
        SELECT DISTINCT r.rolname::text FROM pg_catalog.pg_namespace n
        JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x
        JOIN pg_catalog.pg_roles r ON r.oid = x.grantee
        WHERE n.nspname::text = ?1::text AND x.grantee <> c.relowner
        """

    /// Lets the roles use the tables: programs read and write rows, an audit reads the columns that are not sealed.
    func grant(on schema: String, by connection: Connection) throws {
        let schema = Self.quoted(schema)
        // They may have been given more, or other columns.
        for role in [application, audit].compactMap(\.self).map(Self.quoted) + ["PUBLIC"] {
            try connection.execute("REVOKE ALL ON ALL TABLES IN SCHEMA \(schema) FROM \(role)")
        }
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
                let columns = (["id"] + (table.isKeyedByOwner(on: .postgreSQL) ? ["account_id"] : []) + table.clear)
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
            WHERE c.oid = 'account'::regclass::oid AND x.privilege_type = 'INSERT' AND x.grantee <> c.relowner
            UNION ALL
            SELECT x.grantee, 0 FROM pg_attribute a, aclexplode(a.attacl) x
            WHERE a.attrelid = 'account'::regclass::oid AND a.attname = 'username' AND x.privilege_type = 'SELECT'
        ) g JOIN pg_roles r ON r.oid = g.grantee GROUP BY r.rolname ORDER BY r.rolname
        """

    /// A name as it stands in a statement.
    ///
    /// By bytes: together with some letters before it a quotation mark is another character, but not to a server.
    static func quoted(_ name: String) -> String {
        let mark = UInt8(ascii: "\"")
        let doubled = name.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] }
        return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
    }

    /// Makes sure that the roles are there, before anything is made for them, and that none is the tables' owner.
    func requireRoles(_ connection: Connection, on schema: String, at location: StoreLocation) throws {
        for role in [application, audit].compactMap(\.self) {
            let values: [Value] = [.text(role), .text(schema)]
            guard let isOwner = try connection.first(Self.ownership, values, body: { $0.bool(0) }) else {
                throw TokenStoreError.invalidArgument(
                    "there is no role \(role) at \(location)",
                    .correct("have it made with CREATE ROLE, or name another")
                )
            }
            guard !isOwner else { throw Self.refusedOwner(role, at: location) }
        }
        if let audit, audit == application { throw Self.refusedAuditor(audit, at: location) }
    }

    /// Makes sure that no role of programs becomes one for audits, by the rights that it has by now.
    func requireNoProgram(_ connection: Connection, at location: StoreLocation) throws {
        guard let audit, try Self.granted(by: connection).contains(ServerRoles(application: audit)) else { return }
        throw Self.refusedAuditor(audit, at: location)
    }

    private static func refusedAuditor(_ role: String, at location: StoreLocation) -> TokenStoreError {
        .invalidArgument(
            "the role \(role) is one of programs at \(location), and could not use the store any more as one for audits",
            .correct("name another role for audits, or revoke the rights of this one first")
        )
    }

    /// It would be left with the rights of a program, or of an audit.
    private static func refusedOwner(_ role: String, at location: StoreLocation) -> TokenStoreError {
        .invalidArgument(
            "the role \(role) makes or owns the tables at \(location), and would lose its own rights to them",
            .correct("name another role for programs and for an audit, and have it made with CREATE ROLE")
        )
    }

    /// Whether a role is the one that is connected, or owns something of a schema.
    private static let ownership = SQL(
        """
        SELECT CASE WHEN r.rolname = current_user OR EXISTS (
            SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname::text = ?2::text AND c.relowner = r.oid) THEN 1::bigint ELSE 0::bigint END
        FROM pg_roles r WHERE r.rolname::text = ?1::text
        """
    )
}

extension Connection {
    func hasSchema(_ schema: String) throws -> Bool {
        try integer("SELECT 1 FROM pg_namespace WHERE nspname = ?1", .text(schema)) != nil
    }

    /// Makes sure that a statement does not come to run, with the rights of the program, a function, an operator, a
    /// trigger or a view that a stranger has made in the store's schema, or can make.
    ///
    /// The first statement that is run there; what is made later runs in programs that have looked before. Without
    /// `grants` only what has been made counts: who is about to make a store revokes the rest.
    func requireTrustedSchema(_ schema: String, at location: StoreLocation, grants: Bool = true) throws {
        let values: [Value] = [.text(schema), .integer(grants ? 1 : 0)]
        guard let names = try first(Self.strangers, values, body: { $0.optionalText(0) }) ?? nil else { return }
        throw TokenStoreError(
            .access,
            "\(names) can make functions in the schema \(schema) of \(location), or triggers or references at its "
                + "tables, or has made something there, and the programs that use the store could come to run it",
            Remedy(
                .checkPermissions,
                "have CREATE on it and TRIGGER and REFERENCES on its tables revoked, constraints of other tables that refer "
                    + "to them dropped, and what others own there dropped or given to the store's role, the schema too "
                    + "(ALTER … OWNER TO), or name a schema that the store's role has made"
            )
        )
    }

    /// Who can make something in a schema or has made something in it, also a trigger at one of its tables, a member of
    /// an extension, or a table elsewhere that refers to one here or inherits from it, and is neither the owner of the
    /// store's tables (or who is about to make them) nor a role above that.
    ///
    /// A row that is deleted takes with it those of other tables that refer to it, and of tables that refer to these, and
    /// what is done to a table is done to those that inherit from it: their triggers run in the session that does it.
    ///
    /// A membership counts if a role that may make roles gave it: PostgreSQL 14 lets any role take members.
    ///
    /// What belongs to a table is asked for by an array, so that it is found by an index: a join would read the columns
    /// of all tables of the database.
    ///
    /// Each operator and function is the one of `pg_catalog` by the very types of what it is given: one for types that
    /// had to be converted could be a stranger's.
    private static let strangers = SQL(
        """
        WITH RECURSIVE part (id) AS (
            SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname::text = ?1::text
            UNION SELECT x.id FROM part JOIN (
                SELECT k.conrelid AS id, k.confrelid AS parent FROM pg_catalog.pg_constraint k WHERE k.contype = 'f'::"char"
                UNION ALL SELECT i.inhrelid, i.inhparent FROM pg_catalog.pg_inherits i
            ) x ON x.parent = part.id
        )
        SELECT string_agg(DISTINCT CASE WHEN made.id = 0::oid THEN 'every role'
            ELSE 'the role ' || r.rolname::text END, ', '::text)
        FROM pg_catalog.pg_namespace n
        CROSS JOIN LATERAL (SELECT n.nspowner AS id
            UNION SELECT x.grantee FROM pg_catalog.aclexplode(n.nspacl) x
                WHERE x.privilege_type = 'CREATE' AND ?2::bigint = 1::bigint
            UNION SELECT m.id FROM pg_catalog.pg_class c CROSS JOIN LATERAL (SELECT c.relowner AS id
                UNION ALL SELECT x.grantee FROM pg_catalog.aclexplode(c.relacl) x
                WHERE x.privilege_type IN ('TRIGGER', 'REFERENCES') AND ?2::bigint = 1::bigint) m
                WHERE c.oid = ANY (ARRAY(SELECT part.id FROM part))
            UNION SELECT x.grantee FROM pg_catalog.pg_attribute a CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) x
                WHERE a.attrelid = ANY (ARRAY(SELECT part.id FROM part)) AND a.attacl IS NOT NULL
                    AND x.privilege_type = 'REFERENCES' AND ?2::bigint = 1::bigint
            UNION SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid
            UNION SELECT o.oprowner FROM pg_catalog.pg_operator o WHERE o.oprnamespace = n.oid
            UNION SELECT p.proowner FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
                WHERE t.tgrelid = ANY (ARRAY(SELECT part.id FROM part))
        ) made
        LEFT JOIN pg_catalog.pg_roles r ON r.oid = made.id
        WHERE n.nspname::text = ?1::text AND NOT coalesce(
            r.rolsuper OR r.rolcreaterole OR r.rolname IN (current_user, 'pg_database_owner'::name)
            OR r.oid IN (SELECT c.relowner FROM pg_catalog.pg_class c
                WHERE c.relnamespace = n.oid AND c.relname = 'store'::name AND c.relkind = 'r'::"char")
            OR r.oid IN (SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname = current_database())
            OR EXISTS (SELECT 1 FROM pg_catalog.pg_auth_members m
                JOIN pg_catalog.pg_roles a ON a.oid = m.grantor AND (a.rolsuper OR a.rolcreaterole
                    OR a.oid IN (SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname = current_database()))
                WHERE m.roleid = r.oid AND m.member IN (SELECT u.oid FROM pg_catalog.pg_roles u WHERE u.rolname = current_user
                    UNION SELECT c.relowner FROM pg_catalog.pg_class c
                    WHERE c.relnamespace = n.oid AND c.relname = 'store'::name AND c.relkind = 'r'::"char")), false)
        """
    )

    /// Makes sure that what was granted is there, and no more: a role that may not grant is only told so, and others give
    /// theirs to their members.
    func requireGranted(_ roles: ServerRoles, on schema: String, at location: StoreLocation) throws {
        for (role, isForAudit) in [(roles.application, false), (roles.audit, true)] {
            guard let role else { continue }
            let prefix = ServerRoles.quoted(schema) + "."
            let rights = try first(Self.rights, [.text(role), .text(prefix), .text(schema)]) { row in
                (writes: row.bool(0), reads: row.bool(1), owns: row.bool(2), opens: row.bool(3))
            }
            guard let rights, isForAudit ? rights.reads : rights.writes else {
                throw TokenStoreError(
                    .access,
                    "the rights at \(location) could not be given to the role \(role)",
                    Remedy(.checkPermissions, "name the role that owns the tables in the address")
                )
            }
            guard rights.owns || isForAudit && (rights.writes || rights.opens) else { continue }
            let excess = isForAudit ? "read what is sealed, or write" : "change the tables and the data keys"
            throw TokenStoreError.invalidArgument(
                "the role \(role) could \(excess) at \(location), as a superuser, the owner of the schema or a member of another role",
                .correct("name one that is none of these, or take that from it first")
            )
        }
    }

    /// What a role may do, or could as one that it is a member of: write rows, read those of accounts, change the
    /// tables or the data keys, and read sealed values.
    private static let rights = SQL(
        """
        SELECT max(has_table_privilege(m.oid, ?2::text || 'account', 'INSERT')::int)::bigint,
            max(has_column_privilege(m.oid, ?2::text || 'account', 'username', 'SELECT')::int)::bigint,
            max((m.rolsuper OR has_column_privilege(m.oid, ?2::text || 'data_key', 'wrapped', 'UPDATE')
                OR EXISTS (SELECT 1 FROM pg_namespace n WHERE n.nspname::text = ?3::text AND n.nspowner = m.oid)
                OR EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                    WHERE n.nspname::text = ?3::text AND c.relowner = m.oid))::int)::bigint,
            max(has_column_privilege(m.oid, ?2::text || 'refresh_token', 'secret', 'SELECT')::int)::bigint
        FROM pg_roles r JOIN pg_roles m ON pg_has_role(r.oid, m.oid, 'MEMBER')
        WHERE r.rolname::text = ?1::text
        """
    )
}
