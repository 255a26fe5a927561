import Database
import OAuth

extension StoreHeader {
    /// Reads the header of a store on a server.
    ///
    /// - Throws: ``TokenStoreError/Code/noStore`` if there is none, ``TokenStoreError/Code/access`` if the role may not
    ///   look, ``TokenStoreError/Code/damaged`` if the tables are another program's.
    init(onServer connection: Connection, at address: ServerAddress) throws {
        let location = StoreLocation(address)
        do {
            try self.init(connection, at: location)
        } catch let error as PostgreSQLError where error.code == .undefinedTable {
            switch try connection.integer(Self.contents, .text(address.schema)) {
            case Self.closed:
                throw TokenStoreError(
                    .access,
                    "the role may not use the schema \(address.schema) at \(location)",
                    Remedy(.checkPermissions, "name a role that may, or have it granted")
                )
            case Self.foreign: throw TokenStoreError.foreignTables(in: address.schema, at: location)
            default: throw TokenStoreError.noStore(at: location)
            }
        } catch let error as PostgreSQLError where error.code == .undefinedColumn {
            throw TokenStoreError.foreignTables(in: address.schema, at: location)
        }
    }

    private static let closed: Int64 = 0
    private static let foreign: Int64 = 1

    /// What a schema is in which the table `store` was not found.
    ///
    /// What a role may not use is to it as if it were not there. The tables of an extension, which makes them in the
    /// schema that everyone has, are not another program's; and a store may have been made in this moment.
    private static let contents: StaticString = """
        SELECT CASE WHEN NOT has_schema_privilege(n.oid, 'USAGE') THEN 0
            WHEN bool_or(c.relname = 'store') THEN 2 WHEN count(c.oid) > 0 THEN 1 ELSE 2 END::bigint
        FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p') AND NOT EXISTS
            (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = c.oid AND d.deptype = 'e')
        WHERE n.nspname = ?1 GROUP BY n.oid
        """
}
