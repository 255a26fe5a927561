import Dispatch
import OAuth
import PostgreSQL
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Who may use a store on a server, and for what.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerRolesTests {
    @Test func `a program's role writes rows and changes no tables, an audit's reads nothing sealed`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted", audit: "certified"))
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try store.removeAccount(#require(try store.accounts().first).id) == .complete)
        let application = try scene.server.connect(user: "trusted")
        for statement in [
            "DROP TABLE account", "TRUNCATE account", "CREATE TABLE t (a int)", "DELETE FROM data_key",
            "UPDATE data_key SET wrapped = ''", "UPDATE store SET moved_to = 'x'", "INSERT INTO data_key SELECT 2",
        ] {
            let error = #expect(throws: PostgreSQLError.self) {
                try application.execute("SET search_path = \(scene.schema); " + statement)
            }
            #expect(error?.code == .permission, "\(statement)")
        }
        let audit = try scene.server.connect(user: "certified")
        try audit.execute("SELECT username, last_used_at FROM \(scene.schema).account")
        try audit.execute("SELECT account_id, kind, at FROM \(scene.schema).event")
        for statement in ["SELECT secret FROM refresh_token", "SELECT wrapped FROM data_key", "DELETE FROM account"] {
            let error = #expect(throws: PostgreSQLError.self) {
                try audit.execute("SET search_path = \(scene.schema); " + statement)
            }
            #expect(error?.code == .permission, "\(statement)")
        }
    }

    @Test(arguments: [ServerRoles(application: "owner"), ServerRoles(audit: "owner")])
    func `the role that owns the tables is granted nothing, and loses nothing`(roles: ServerRoles) throws {
        let scene = try ServerScene()
        expectCode(.invalidArgument) { try scene.create(granting: roles) }
        #expect(try scene.count("SELECT count(*) FROM pg_namespace WHERE nspname = '\(scene.schema)'") == 0)
        try scene.create()
        let error = #expect(throws: TokenStoreError.self) { try scene.create(granting: roles) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("the role owner makes or owns the tables") == true, "\(error?.problem ?? "")")
        // Another administrator is connected, and the tables have an owner.
        let owner = "o" + scene.schema
        try scene.sql("CREATE ROLE \(owner); ALTER TABLE store OWNER TO \(owner)")
        expectCode(.invalidArgument) { try scene.create(granting: ServerRoles(application: owner)) }
        #expect(try scene.count("SELECT has_table_privilege('\(owner)', 'store', 'TRUNCATE')::int") == 1)
    }

    @Test func `a role of programs does not become one for audits, which could not use the store`() throws {
        let scene = try ServerScene()
        expectCode(.invalidArgument) {
            try scene.create(granting: ServerRoles(application: "trusted", audit: "trusted"))
        }
        #expect(try scene.count("SELECT count(*) FROM pg_namespace WHERE nspname = '\(scene.schema)'") == 0)
        try scene.create(granting: ServerRoles(application: "trusted"))
        let error = #expect(throws: TokenStoreError.self) { try scene.create(granting: ServerRoles(audit: "trusted")) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("the role trusted is one of programs") == true, "\(error?.problem ?? "")")
        #expect(try scene.count("SELECT has_table_privilege('trusted', 'account', 'INSERT')::int") == 1)
        // The other way round a role is given more.
        try scene.create(granting: ServerRoles(audit: "certified"))
        try scene.create(granting: ServerRoles(application: "certified"))
        #expect(try scene.count("SELECT has_table_privilege('certified', 'account', 'INSERT')::int") == 1)
    }

    @Test func `several may grant rights to the same roles at once`() throws {
        let scene = try ServerScene()
        try scene.create()
        let roles = ServerRoles(application: "trusted", audit: "certified")
        let outcomes = LockedValue<[Result<Bool, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: 12) { _ in
            let outcome = Result { try scene.create(granting: roles) }
            outcomes.withLock { $0.append(outcome) }
        }
        let isNew = try outcomes.withLock { $0 }.map { try $0.get() }
        #expect(isNew == Array(repeating: false, count: 12))
    }

    /// Statements that give the role OTHER more than a role of the kind may have.
    @Test(arguments: [
        "ALTER ROLE OTHER SUPERUSER", "GRANT owner TO OTHER", "ALTER ROLE OTHER NOINHERIT; GRANT owner TO OTHER",
        "GRANT pg_write_all_data TO OTHER",
    ])
    func `a role that could change the tables or the data keys is none of programs`(statements: String) throws {
        let scene = try ServerScene()
        let role = "r" + scene.schema
        try scene.create()
        try scene.server.connect().execute("CREATE ROLE \(role); " + statements.replacing("OTHER", with: role))
        let error = #expect(throws: TokenStoreError.self) {
            try scene.create(granting: ServerRoles(application: role))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("the role \(role) could change the tables") == true, "\(error?.problem ?? "")")
        try expectNoRights(role, in: scene)
    }

    @Test(arguments: [
        "ALTER ROLE OTHER SUPERUSER", "GRANT pg_read_all_data TO OTHER", "GRANT trusted TO OTHER",
        "ALTER ROLE OTHER NOINHERIT; GRANT trusted TO OTHER",
    ])
    func `a role that could read what is sealed, or write, is none for audits`(statements: String) throws {
        let scene = try ServerScene()
        let role = "r" + scene.schema
        try scene.create(granting: ServerRoles(application: "trusted"))
        try scene.server.connect().execute("CREATE ROLE \(role); " + statements.replacing("OTHER", with: role))
        let error = #expect(throws: TokenStoreError.self) { try scene.create(granting: ServerRoles(audit: role)) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("the role \(role) could") == true, "\(error?.problem ?? "")")
        try expectNoRights(role, in: scene)
    }

    /// Whatever it has is not by a grant at the table.
    private func expectNoRights(_ role: String, in scene: ServerScene) throws {
        let count = try scene.count(
            """
            SELECT count(*) FROM pg_class c, aclexplode(c.relacl) x JOIN pg_roles r ON r.oid = x.grantee
            WHERE c.oid = 'account'::regclass AND r.rolname = '\(role)'
            """
        )
        #expect(count == 0)
    }
}
