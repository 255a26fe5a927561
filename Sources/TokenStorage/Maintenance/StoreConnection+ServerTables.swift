import Database
import OAuth
import SQL

extension StoreConnection {
    /// Where a server's tables are not as the migrations made them, each with the statement that mends it, if one does.
    func serverTableProblems() throws -> [StoreProblem] {
        let schema = Schema.server
        guard header.schemaVersion == schema.version else { return [] }
        let wanted = ServerTables(schema.migrations)
        let isDistributed = try isDistributed()
        let expected = wanted.parts.filter { !isDistributed || $0.name != Connection.constraintOfOneMachine }
        let found = try tableParts(wanted.tables)
        let absent = Set(wanted.tables).subtracting(found.keys.filter { $0.kind == .table }.map(\.table))
        let unknown = found.filter {
            wanted.definitions[$0.key] == nil && !Self.isHarmless($0.key, $0.value)
                && !Self.goesWithColumn($0.key, wanted)
        }
        var renamed: Set<ServerTables.Part> = []
        var problems: [StoreProblem] = []
        for part in expected where part.kind == .table || !absent.contains(part.table) {
            guard let definition = wanted.definitions[part] else { continue }
            guard found[part].map({ Self.comparable($0) }) != Self.comparable(definition) else { continue }
            let other = found[part] == nil ? Self.renamed(part, definition, among: unknown) : nil
            if let other, renamed.insert(other).inserted {
                problems.append(problem(part, "has another name", renaming(of: other, to: part.name)))
                continue
            }
            let state = found[part] == nil ? "is missing" : "was altered"
            let mending = mending(part, definition, found: found[part])
            problems.append(problem(part, state, mending))
        }
        for part in unknown.keys.sorted(by: { $0.description < $1.description }) where !renamed.contains(part) {
            problems.append(problem(part, "does not belong there", removal(of: part, found[part] ?? "")))
        }
        return problems
    }

    /// The constraint that is a missing one by another name: a second one cannot be made beside a primary key, nor that
    /// be taken away while others refer to it.
    private static func renamed(
        _ part: ServerTables.Part,
        _ definition: String,
        among unknown: [ServerTables.Part: String]
    ) -> ServerTables.Part? {
        guard part.kind == .constraint else { return nil }
        return unknown.filter { other, found in
            other.kind == .constraint && other.table == part.table && comparable(found) == comparable(definition)
        }.keys.min { $0.name < $1.name }
    }

    private func renaming(of part: ServerTables.Part, to name: String) -> String {
        "ALTER TABLE \(place(part.table)) RENAME CONSTRAINT \(ServerRoles.quoted(part.name)) TO \(name)"
    }

    /// Whether it is an index of columns alone, as an administrator may add: it refuses no row, and calls no function.
    ///
    /// One of a sealed value would refuse long ones, also where the value is only kept along with the index.
    private static func isHarmless(_ part: ServerTables.Part, _ definition: String) -> Bool {
        let definition = withoutSettings(definition).replacing(") INCLUDE (", with: ", ")
        let columns = definition.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }.split { $0 == "," || $0 == " " }
        return part.kind == .index && definition.hasPrefix("CREATE INDEX ")
            && definition.count(where: { $0 == "(" }) == 1 && !definition.contains(" WHERE ")
            && longColumns.isDisjoint(with: columns.map(String.init))
    }

    /// Whether it is of a column that does not belong there itself, and goes with it.
    private static func goesWithColumn(_ part: ServerTables.Part, _ wanted: ServerTables) -> Bool {
        let column = ServerTables.Part(kind: .column, table: part.table, name: part.name)
        return (part.kind == .value || part.kind == .standard) && wanted.definitions[column] == nil
    }

    private static let longColumns = Set(SealedTable.all.flatMap(\.sealed) + ["document"])

    /// Without what an administrator may set of an index, such as how full its pages are.
    private static func withoutSettings(_ definition: String) -> String {
        // Few have any, and the pattern is compiled at each use.
        guard definition.contains(" WITH (") else { return definition }
        return definition.replacing(#/ WITH \([^)]*\)/#, with: "")
    }

    private func problem(_ part: ServerTables.Part, _ state: String, _ statement: String?) -> StoreProblem {
        StoreProblem(
            location: "schema",
            problem: "\(part.description) \(state)" + (statement.map { ", which this mends: \($0)" } ?? ""),
            remedy: statement.map { _ in Self.adviceOnTables }
        )
    }

    private static let adviceOnTables = Remedy(
        .correctArgument,
        "run the statements that the problems name with the role that owns the tables, and check again"
    )

    /// Without what the server writes in its own way.
    private static func comparable(_ definition: String) -> String {
        withoutSettings(definition).replacing("\"", with: "").replacing(" USING btree", with: "")
            .filter { !$0.isWhitespace }
    }

    /// The statement that makes a part as it was, if one does; `found` is what it is now.
    private func mending(_ part: ServerTables.Part, _ definition: String, found: String?) -> String? {
        let column = "ALTER TABLE \(place(part.table)) ALTER COLUMN \(part.name)"
        switch part.kind {
        case .value: return "\(column) SET NOT NULL"
        case .standard: return "\(column) SET DEFAULT \(definition)"
        case .index:
            let removal = found != nil ? "DROP INDEX \(place(part.name)); " : ""
            return removal + definition.replacing(" ON \(part.table) ", with: " ON \(place(part.table)) ")
        case .constraint:
            let removal = found != nil ? "DROP CONSTRAINT \(part.name) CASCADE, " : ""
            // The other table is in the same schema.
            let definition = definition.replacing("REFERENCES ", with: "REFERENCES \(quotedSchema).")
            return "ALTER TABLE \(place(part.table)) \(removal)ADD CONSTRAINT \(part.name) \(definition)"
        case .table: return found.flatMap { $0 == "altered" ? nil : "ALTER TABLE \(place(part.table)) \($0)" }
        case .column, .trigger, .rule, .reference: return nil
        }
    }

    private func removal(of part: ServerTables.Part, _ definition: String) -> String? {
        // Anyone may have named it.
        let (table, name) = (place(part.table), ServerRoles.quoted(part.name))
        switch part.kind {
        case .value: return "ALTER TABLE \(table) ALTER COLUMN \(name) DROP NOT NULL"
        case .standard: return "ALTER TABLE \(table) ALTER COLUMN \(name) DROP DEFAULT"
        case .column: return "ALTER TABLE \(table) DROP COLUMN \(name)"
        case .constraint: return "ALTER TABLE \(table) DROP CONSTRAINT \(name)"
        case .index: return "DROP INDEX \(place(name))"
        case .trigger: return "DROP TRIGGER \(name) ON \(table)"
        case .rule: return "DROP RULE \(name) ON \(table)"
        case .reference: return definition
        case .table: return nil
        }
    }

    private var quotedSchema: String { ServerRoles.quoted(location.address?.schema ?? "") }

    private func place(_ name: String) -> String { "\(quotedSchema).\(name)" }

    /// What the server has of the parts of some tables.
    private func tableParts(_ tables: [String]) throws -> [ServerTables.Part: String] {
        let rows = try connection.all(Self.partsOfTables, .text(tables.joined(separator: " "))) { row in
            (ServerTables.Part.Kind(rawValue: row.text(0)), row.text(1), row.text(2), row.text(3))
        }
        var found: [ServerTables.Part: String] = [:]
        for (kind, table, name, definition) in rows {
            guard let kind else { continue }
            found[ServerTables.Part(kind: kind, table: table, name: name)] = definition
        }
        return found
    }

    /// What the tables have, each with its definition; a table's own is what makes it an ordinary one again, if it can
    /// be made one.
    ///
    /// The triggers of references are the server's own, and one of them that is off lets a reference break; those of
    /// Citus are its own, and are not looked at. Nor are indexes that `REINDEX CONCURRENTLY` is at.
    ///
    /// The columns are asked for by an array, so that those of all other tables of the database are not read.
    private static let partsOfTables = SQL(
        """
        WITH t AS (
            SELECT c.oid, c.relname::text AS name, CASE WHEN c.relkind <> 'r' OR c.relispartition
                OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid)
                THEN 'altered'::text
                WHEN c.relpersistence <> 'p' AND c.relrowsecurity
                THEN 'SET LOGGED, DISABLE ROW LEVEL SECURITY'::text
                WHEN c.relpersistence <> 'p' THEN 'SET LOGGED'::text
                WHEN c.relrowsecurity THEN 'DISABLE ROW LEVEL SECURITY'::text
                ELSE 'table'::text END AS state
            FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace::oid
                AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                AND c.relname::text = ANY (string_to_array(?1::text, ' '::text))
        ), a AS (
            SELECT a.attrelid, a.attname::text AS name, format_type(a.atttypid, a.atttypmod)
                || coalesce(' COLLATE '::text || k.collname::text, ''::text)
                || a.attgenerated::text || a.attidentity::text AS type,
                a.attnotnull AS is_value, a.attnum, a.attgenerated
            FROM pg_attribute a LEFT JOIN pg_collation k ON k.oid = a.attcollation
            WHERE a.attrelid = ANY (ARRAY(SELECT t.oid FROM t)) AND a.attnum > 0 AND NOT a.attisdropped
        )
        SELECT 'table'::text, t.name, t.name, t.state FROM t
        UNION ALL SELECT 'column'::text, t.name, a.name, a.type FROM t JOIN a ON a.attrelid = t.oid
        UNION ALL SELECT 'NOT NULL'::text, t.name, a.name, 'NOT NULL'::text FROM t JOIN a ON a.attrelid = t.oid
            WHERE a.is_value
        UNION ALL SELECT 'default'::text, t.name, a.name, pg_get_expr(d.adbin, d.adrelid)
            FROM t JOIN a ON a.attrelid = t.oid JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
            WHERE a.attgenerated = ''::"char"
        UNION ALL SELECT 'constraint'::text, t.name, c.conname::text, pg_get_constraintdef(c.oid, true)
                || CASE WHEN EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = c.conindid
                        AND c.contype IN ('p', 'u') AND NOT (i.indisvalid AND i.indisready))
                    OR EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgconstraint = c.oid AND g.tgenabled NOT IN ('O', 'A'))
                    THEN ' off'::text ELSE ''::text END
            FROM t JOIN pg_constraint c ON c.conrelid = t.oid WHERE c.contype IN ('p', 'u', 'f', 'c', 'x')
        UNION ALL SELECT 'index'::text, t.name, x.relname::text, pg_get_indexdef(i.indexrelid, 0, true)
                || CASE WHEN i.indisvalid AND i.indisready THEN ''::text ELSE ' off'::text END
            FROM t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class x ON x.oid = i.indexrelid
            WHERE NOT EXISTS (SELECT 1 FROM pg_constraint c
                    WHERE c.conrelid = i.indrelid AND c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
                AND (i.indisvalid OR x.relname::text !~ '_cc(new|old)[0-9]*$'::text)
        UNION ALL SELECT 'trigger'::text, t.name, g.tgname::text, ''::text
            FROM t JOIN pg_trigger g ON g.tgrelid = t.oid JOIN pg_proc p ON p.oid = g.tgfoid
            WHERE NOT g.tgisinternal
                AND NOT (p.pronamespace = 'pg_catalog'::regnamespace::oid AND starts_with(p.proname::text, 'citus_'::text))
        UNION ALL SELECT 'reference'::text, t.name, format('%I.%I.%I'::text, s.nspname, o.relname, c.conname),
                format('ALTER TABLE %I.%I DROP CONSTRAINT %I'::text, s.nspname, o.relname, c.conname)
            FROM t JOIN pg_constraint c ON c.confrelid = t.oid JOIN pg_class o ON o.oid = c.conrelid
                JOIN pg_namespace s ON s.oid = o.relnamespace
            WHERE c.contype = 'f' AND s.oid <> current_schema()::regnamespace::oid
        UNION ALL SELECT 'rule'::text, t.name, r.rulename::text, ''::text
            FROM t JOIN pg_rewrite r ON r.ev_class = t.oid WHERE r.rulename <> '_RETURN'::name
        """
    )
}
