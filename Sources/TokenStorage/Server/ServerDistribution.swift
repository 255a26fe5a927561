import Database

// A store whose rows are spread over machines by Citus: those of an account are on one of them, and what belongs to no
// account is on all.

extension Connection {
    /// Whether the database can spread tables over machines.
    func hasCitus() throws -> Bool {
        try integer("SELECT (to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL)::int::bigint") == 1
    }

    /// Whether the rows of the accounts are spread.
    func isDistributed() throws -> Bool {
        // Without Citus there is no such table to ask.
        guard try hasCitus() else { return false }
        return try integer("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('account')") != nil
    }

    /// Lets tables be changed in a transaction that also uses them.
    func changeTablesOneByOne() throws { try execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'") }

    /// Spreads the tables of the store, in the transaction that makes them, as far as they are not spread yet.
    func distributeTables() throws {
        try changeTablesOneByOne()
        // It is unique over all machines by the lock under which it is written.
        try execute("ALTER TABLE default_account DROP CONSTRAINT IF EXISTS \(Self.constraintOfOneMachine)")
        for command in try all(Self.distribution, body: { $0.text(0) }) { try execute(command) }
    }

    /// A constraint that tables which are spread do without.
    static let constraintOfOneMachine = "default_account_id_key"

    /// What is to be run for each table, those first that others refer to.
    private static let distribution: StaticString = """
        SELECT CASE WHEN t.key IS NULL THEN format('SELECT create_reference_table(%L)', t.name)
            ELSE format('SELECT create_distributed_table(%L, %L, colocate_with := %L)', t.name, t.key,
                CASE t.name WHEN 'account' THEN 'none' ELSE 'account' END) END
        FROM (
            SELECT c.oid, c.relname::text AS name, CASE c.relname WHEN 'account' THEN 'id' ELSE (
                SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id') END AS key
            FROM pg_class c
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
                AND NOT EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid)
        ) t ORDER BY t.key IS NOT NULL, t.name <> 'account', t.oid
        """
}

extension StoreConnection {
    /// Whether the rows of the store are spread over machines.
    func isDistributed() throws -> Bool {
        guard case .server(let server) = connection.engine, server.spreadsRows else { return false }
        return try connection.isDistributed()
    }

    /// The machines that have rows of accounts, each with its port; none where the store is not spread.
    func machines() throws -> [String] {
        guard try isDistributed() else { return [] }
        return try connection.all(Self.machinesOfAccounts) { $0.text(0) }
    }

    private static let machinesOfAccounts: StaticString = """
        SELECT DISTINCT n.nodename || ':' || n.nodeport FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
            JOIN pg_dist_node n USING (groupid)
        WHERE s.logicalrelid = 'account'::regclass AND n.noderole = 'primary' ORDER BY 1
        """
}
