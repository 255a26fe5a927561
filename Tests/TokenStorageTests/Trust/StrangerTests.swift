import Foundation
import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Other roles of a database, which must not come to run anything with the rights of the program.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct StrangerTests {
    /// Statements by which a role may make something in the schema, or has; `S` is the schema, `M` the role.
    enum Way: String, CaseIterable {
        case ownsSchema = "CREATE SCHEMA S AUTHORIZATION M"
        case hasMadeFunction =
            "CREATE SCHEMA S; CREATE FUNCTION S.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION S.f() OWNER TO M"
        case hasMadeOperator = """
            CREATE SCHEMA S; CREATE OPERATOR S.<=> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8pl);
            ALTER OPERATOR S.<=> (bigint, bigint) OWNER TO M
            """
    }

    /// Makes a role that may make schemas; a server grants that for one at a time.
    private func makeSchemaMaker(_ role: String, _ scene: ServerScene) throws {
        try scene.server.connect().execute(
            """
            CREATE ROLE \(role); BEGIN; SELECT pg_advisory_xact_lock(1);
            GRANT CREATE ON DATABASE tests TO \(role); COMMIT
            """
        )
    }

    private func run(_ text: String, _ scene: ServerScene) throws {
        let role = "m" + scene.schema
        let script = text.replacing(#/\bS\b/#.wordBoundaryKind(.simple), with: scene.schema)
            .replacing(#/\bM\b/#.wordBoundaryKind(.simple), with: role)
        try makeSchemaMaker(role, scene)
        // The owner of something has to be able to make it.
        let connection = try scene.server.connect()
        let statements = script.split(separator: ";").map(String.init)
        for statement in statements {
            if statement.contains("OWNER") {
                try connection.execute("GRANT CREATE ON SCHEMA \(scene.schema) TO \(role)")
            }
            try connection.execute(statement)
        }
        if statements.count > 1 { try connection.execute("REVOKE CREATE ON SCHEMA \(scene.schema) FROM \(role)") }
    }

    @Test(
        .disabled(if: TestCluster.isWanted, "Citus carries roles to its machines in its own time"),
        arguments: Way.allCases
    )
    func `no store is made in a schema that is a stranger's, or where one has made something`(way: Way) throws {
        let scene = try ServerScene()
        try run(way.rawValue, scene)
        let error = #expect(throws: TokenStoreError.self) { try scene.create() }
        #expect(error?.code == .access)
        let problem = error?.problem ?? ""
        #expect(problem.contains("the role m\(scene.schema) can make functions"), "\(problem)")
        let tables = "pg_class WHERE relnamespace = '\(scene.schema)'::regnamespace AND relkind = 'r'"
        #expect(try scene.count("SELECT count(*) FROM " + tables) == 0)
    }

    @Test(.disabled(if: TestCluster.isWanted, "Citus carries roles to its machines in its own time"))
    func `a schema may belong to a group of the role that makes the store, and to no other`() throws {
        let scene = try ServerScene()
        let (group, maker) = ("g" + scene.schema, "d" + scene.schema)
        let server = try scene.server.connect()
        try makeSchemaMaker(group, scene)
        try server.execute(
            """
            CREATE ROLE \(maker) LOGIN IN ROLE \(group);
            CREATE SCHEMA \(scene.schema) AUTHORIZATION \(group)
            """
        )
        let place = StoreLocation(try scene.server.address(user: maker, schema: scene.schema))
        let roles = ServerRoles(application: "trusted")
        #expect(try TokenStore.create(at: place, options: scene.options, granting: roles))
        let program = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        try program.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try program.accounts().count == 1)
        try server.execute("REVOKE \(group) FROM \(maker)")
        let error = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options).accounts()
        }
        #expect(error?.problem.contains("the role \(group) can make functions") == true, "\(error?.problem ?? "")")
    }

    @Test func `a store is not used where every role can make functions`() throws {
        let scene = try ServerScene()
        try scene.server.connect().execute(
            "CREATE SCHEMA \(scene.schema); GRANT CREATE, USAGE ON SCHEMA \(scene.schema) TO PUBLIC"
        )
        try scene.create()
        let store = try scene.open()
        _ = try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        // What the schema was for before, it is still.
        #expect(try scene.count("SELECT has_schema_privilege('public', '\(scene.schema)', 'USAGE')::int") == 1)
        try scene.sql("GRANT CREATE ON SCHEMA \(scene.schema) TO PUBLIC")
        let error = #expect(throws: TokenStoreError.self) { _ = try scene.open().accounts() }
        #expect(error?.code == .access)
        #expect(error?.problem.contains("every role can make functions") == true, "\(error?.problem ?? "")")
    }

    @Test(.disabled(if: TestCluster.isWanted, "the statements are the same, and Citus has operators of its own"))
    func `no statement takes an operator that is not the server's own`() throws {
        let scene = try ServerScene()
        try scene.create()
        // An operator of just the types of a statement's values goes before one that they are converted for.
        try scene.sql(
            """
            DO $$
            DECLARE l text; r text; o text; types text[] := ARRAY['bigint', 'integer', 'smallint', 'numeric',
                'double precision', 'text', 'bytea', 'boolean', 'timestamptz', 'interval', 'xid8', 'name', '"char"', 'oid', 'regclass'];
            BEGIN
                FOREACH l IN ARRAY types LOOP FOREACH r IN ARRAY types LOOP
                    EXECUTE format('CREATE FUNCTION trap(a %s, b %s) RETURNS boolean LANGUAGE plpgsql AS
                        ''BEGIN RAISE EXCEPTION ''''trap %s %s''''; END''', l, r, l, r);
                    FOREACH o IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||'] LOOP
                        IF NOT EXISTS (SELECT 1 FROM pg_operator WHERE oprname = o AND oprleft = l::regtype
                            AND oprright = r::regtype AND oprnamespace = 'pg_catalog'::regnamespace) THEN
                            EXECUTE format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = trap)', o, l, r);
                        END IF;
                    END LOOP;
                END LOOP; END LOOP;
            END $$
            """
        )
        let store = try scene.open()
        for subject in ["u1", "u2", "u3"] {
            for token in ["a", "b"] {
                try store.save(ServerScene.response(subject, token: token), for: ServerScene.request())
            }
        }
        let account = try #require(try store.accounts().first)
        try store.setDefaultAccount(account.id)
        try store.setTags(["team": "red"], of: account.id)
        let query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
        guard case .usable = try store.cachedToken(for: query) else {
            Issue.record("no token")
            return
        }
        let token = try #require(try store.refreshTokens(of: account.id, client: "cid").first)
        try store.save(ServerScene.response("u1", token: "c"), for: ServerScene.request(), refreshing: token)
        for policy: AccountPolicy in [.tag("team"), .username("x"), .unused(since: .now), .all, .defaultAccount] {
            _ = try store.accounts(matching: policy)
        }
        try store.forEachAccount(withTokens: true) { _ in }
        _ = try (store.status(), store.events(), store.exportMSALCache(), store.tidy(), store.purgeExpired())
        #expect(try store.check() == [])
        _ = try store.rekey()
        try store.removeAccount(account.id, client: "cid")
        _ = try store.purge(.username("none").otherwise(.all))
        _ = try TokenStore.purgeAll(at: scene.location, options: scene.options)
        #expect(try store.accounts().isEmpty)
    }

    @Test func `roles that are named later may use the store, and with one that is missing nothing is made`() throws {
        let scene = try ServerScene()
        let error = #expect(throws: TokenStoreError.self) {
            try scene.create(granting: ServerRoles(application: "nobody-\(scene.schema)"))
        }
        #expect(error?.code == .invalidArgument && error?.problem.contains("there is no role") == true)
        #expect(try scene.count("SELECT count(*) FROM pg_namespace WHERE nspname = '\(scene.schema)'") == 0)
        #expect(try scene.create())
        #expect(try !scene.create(granting: ServerRoles(application: "trusted")))
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
    }
}
