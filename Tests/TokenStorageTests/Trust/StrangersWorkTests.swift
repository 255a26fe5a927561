import Foundation
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What other roles of a database have made in the store's schema, or hide there: it is refused before any of it is
/// run.
@Suite(
    .onWaitingThreads,
    .ifServerIsInstalled,
    .disabled(if: TestCluster.isWanted, "Citus carries roles to its machines in its own time")
)
struct StrangersWorkTests {
    /// Statements of the owner; `S` is the schema, `M` a role that may not use the store.
    enum Way: String, CaseIterable {
        case mayMake = "GRANT CREATE ON SCHEMA S TO M"
        case mayMakeTrigger = "GRANT TRIGGER ON S.refresh_token TO M"
        case mayRefer = "GRANT REFERENCES ON S.account TO M"
        case mayReferToColumn = "GRANT REFERENCES (id) ON S.account TO M"
        case refers = """
            CREATE SCHEMA S_else; CREATE TABLE S_else.hook (account bigint REFERENCES S.account ON DELETE CASCADE);
            GRANT CREATE ON SCHEMA S_else TO M; ALTER TABLE S_else.hook OWNER TO M
            """
        case hasMadeTriggerAtReference = """
            CREATE SCHEMA S_else; CREATE TABLE S_else.hook (account bigint REFERENCES S.account ON DELETE CASCADE);
            CREATE FUNCTION S_else.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END';
            GRANT CREATE ON SCHEMA S_else TO M; ALTER FUNCTION S_else.f() OWNER TO M;
            CREATE TRIGGER t AFTER DELETE ON S_else.hook FOR EACH ROW EXECUTE FUNCTION S_else.f()
            """
        case hasMadeOperator = """
            CREATE FUNCTION S.trap(oid, integer) RETURNS boolean LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''the trap was run''; END';
            CREATE OPERATOR S.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = S.trap);
            ALTER FUNCTION S.trap(oid, integer) OWNER TO M; ALTER OPERATOR S.= (oid, integer) OWNER TO M
            """
        case hasMadeFunction = """
            CREATE FUNCTION S.unnest(oid[]) RETURNS SETOF oid LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''the trap was run''; END';
            ALTER FUNCTION S.unnest(oid[]) OWNER TO M
            """
        case refersToWhatRefers = """
            CREATE SCHEMA S_else;
            CREATE TABLE S_else.first (account bigint PRIMARY KEY REFERENCES S.account ON DELETE CASCADE);
            CREATE TABLE S_else.second (account bigint REFERENCES S_else.first ON DELETE CASCADE);
            GRANT CREATE ON SCHEMA S_else TO M; ALTER TABLE S_else.second OWNER TO M
            """
        case inherits = """
            CREATE SCHEMA S_else; CREATE TABLE S_else.child () INHERITS (S.account);
            GRANT CREATE ON SCHEMA S_else TO M; ALTER TABLE S_else.child OWNER TO M
            """
        case hasMadeTrigger = """
            CREATE SCHEMA S_else; CREATE FUNCTION S_else.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
            GRANT CREATE ON SCHEMA S_else TO M; ALTER FUNCTION S_else.f() OWNER TO M;
            CREATE TRIGGER t BEFORE INSERT ON S.refresh_token FOR EACH ROW EXECUTE FUNCTION S_else.f()
            """
        case hasMadeView = "CREATE VIEW S.seen AS SELECT 1 AS one; ALTER VIEW S.seen OWNER TO M"
        case hasAddedToExtension = """
            CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public; CREATE FUNCTION S.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
            ALTER FUNCTION S.f() OWNER TO M; ALTER EXTENSION pg_trgm ADD FUNCTION S.f()
            """
    }

    private func stranger(_ scene: ServerScene) throws -> String {
        let role = "m" + scene.schema
        try scene.server.connect().execute("CREATE ROLE \(role)")
        return role
    }

    private func run(_ way: Way, by role: String, _ scene: ServerScene) throws {
        let script = way.rawValue.replacing(#/\bM\b/#.wordBoundaryKind(.simple), with: role)
            .replacing("S_else", with: scene.schema + "_else")
            .replacing(#/\bS\b/#.wordBoundaryKind(.simple), with: scene.schema)
        // The owner of something has to be able to make it.
        let connection = try scene.server.connect()
        try connection.execute("GRANT CREATE ON SCHEMA \(scene.schema) TO \(role)")
        try connection.execute(script)
        if way != .mayMake { try connection.execute("REVOKE CREATE ON SCHEMA \(scene.schema) FROM \(role)") }
    }

    @Test(arguments: Way.allCases) func `a store is refused, and nothing of a stranger's is run`(way: Way) throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let role = try stranger(scene)
        try run(way, by: role, scene)
        defer {
            let leave = "ALTER EXTENSION pg_trgm DROP FUNCTION \(scene.schema).f()"
            if way == .hasAddedToExtension { try? scene.sql(leave) }
        }
        let openings: [() throws -> Void] = [
            { _ = try scene.open().accounts() },
            { _ = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options).accounts() },
            { try scene.create(granting: ServerRoles(application: "trusted")) },
        ]
        for (index, open) in openings.enumerated() {
            let error = #expect(throws: TokenStoreError.self) { try open() }
            #expect(error?.code == .access, "\(index): \(error?.problem ?? "")")
            #expect(error?.problem.contains("the role \(role) can make functions") == true, "\(error?.problem ?? "")")
        }
    }

    @Test func `rows that a policy hides are an error, and not missing ones`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        try scene.open().save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try scene.sql("ALTER TABLE account ENABLE ROW LEVEL SECURITY")
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        expectCode(.access) { _ = try store.accounts() }
        expectCode(.notStored) { try store.save(ServerScene.response("u2", token: "b"), for: ServerScene.request()) }
        #expect(try scene.open().accounts().count == 1)
    }

    @Test func `roles get what they are granted and no more, whatever new tables come with`() throws {
        let scene = try ServerScene()
        let audit = try stranger(scene)
        let other = "n\(scene.schema)"
        try scene.server.connect().execute(
            """
            CREATE ROLE \(other);
            CREATE SCHEMA \(scene.schema);
            ALTER DEFAULT PRIVILEGES IN SCHEMA \(scene.schema)
                GRANT ALL ON TABLES TO trusted, \(audit), \(other), PUBLIC
            """
        )
        try scene.create(granting: ServerRoles(application: "trusted", audit: audit))
        for (role, table, right) in [
            ("trusted", "data_key", "TRUNCATE"), ("trusted", "account", "TRIGGER"), (audit, "refresh_token", "SELECT"),
            (audit, "data_key", "SELECT"), ("public", "account", "SELECT"), (other, "data_key", "DELETE"),
            (other, "account", "SELECT"), (other, "account", "TRIGGER"),
        ] {
            let may = "has_table_privilege('\(role)', '\(scene.schema).\(table)', '\(right)')"
            #expect(try scene.count("SELECT \(may)::int") == 0, "\(role) may \(right) \(table)")
        }
        #expect(try scene.count("SELECT has_column_privilege('\(audit)', 'account', 'username', 'SELECT')::int") == 1)
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
    }

    @Test func `rights that could not be given are not said to be`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let location = try scene.location(as: "trusted")
        let role = try stranger(scene)
        let error = #expect(throws: TokenStoreError.self) {
            try TokenStore.create(at: location, options: scene.options, granting: ServerRoles(application: role))
        }
        #expect(error?.code == .access, "\(error?.problem ?? "")")
    }

    @Test func `a database whose encoding lacks letters holds no store`() throws {
        let scene = try ServerScene()
        let database = "latin" + scene.schema
        try scene.server.connect().execute(
            "CREATE DATABASE \(database) ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        let location = StoreLocation(try scene.server.address(database: database, schema: scene.schema))
        let error = #expect(throws: TokenStoreError.self) {
            try TokenStore.create(at: location, options: scene.options)
        }
        #expect(error?.problem.contains("LATIN1") == true, "\(error?.problem ?? "")")
    }
}
