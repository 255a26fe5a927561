import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// How a store on a server gets to a new schema, and who is told what meanwhile.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerMigrationTests {
    /// The schema with a step more.
    private func newer(_ sql: String = "CREATE TABLE extra (id bigint PRIMARY KEY)", floor: Int = 14) -> Schema {
        let step = Migration(
            name: "V015_extra",
            sql: sql,
            readerFloor: floor,
            writerFloor: floor,
            isIrreversible: false
        )
        return Schema(migrations: Migration.onServer + [step], after: 13)
    }

    private func scene(_ sql: String = "CREATE TABLE extra (id bigint PRIMARY KEY)") throws -> ServerScene {
        var scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted", audit: "certified"))
        scene.options.serverSchema = newer(sql)
        return scene
    }

    @Test func `a store is migrated once, and programs may use what is new`() throws {
        let scene = try scene()
        let trial = try TokenStore.migrate(at: scene.location, options: scene.options, dryRun: true)
        #expect(trial.steps == ["V015_extra"])
        expectCode(.olderStore) { _ = try scene.open() }
        let report = try TokenStore.migrate(at: scene.location, options: scene.options)
        #expect((report.oldVersion, report.newVersion) == (14, 15))
        #expect(try TokenStore.migrate(at: scene.location, options: scene.options).steps == [])
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let application = try scene.server.connect(user: "trusted")
        try application.execute("SET search_path = \(scene.schema); INSERT INTO extra VALUES (1)")
        let error = #expect(throws: PostgreSQLError.self) {
            try application.execute("DELETE FROM data_key")
        }
        #expect(error?.code == .permission)
    }

    @Test(arguments: [ServerRoles(), ServerRoles(application: "trusted", audit: "certified")])
    func `a new table is for the roles of the store alone, whatever it comes with`(roles: ServerRoles) throws {
        var scene = try ServerScene()
        try scene.create(granting: roles)
        scene.options.serverSchema = newer()
        let other = "n\(scene.schema)"
        try scene.server.connect().execute(
            """
            CREATE ROLE \(other);
            ALTER DEFAULT PRIVILEGES IN SCHEMA \(scene.schema)
                GRANT ALL ON TABLES TO trusted, certified, \(other), PUBLIC
            """
        )
        try TokenStore.migrate(at: scene.location, options: scene.options)
        for role in ["certified", other, "public"] {
            let may = "has_table_privilege('\(role)', '\(scene.schema).extra', 'SELECT')"
            #expect(try scene.count("SELECT \(may)::int") == 0, "\(role) may read a new table")
        }
        let may = "has_table_privilege('trusted', '\(scene.schema).extra', 'INSERT')"
        #expect(try scene.count("SELECT \(may)::int") == (roles.application == nil ? 0 : 1))
        let mayRead = "has_column_privilege('certified', 'account', 'username', 'SELECT')"
        #expect(try scene.count("SELECT \(mayRead)::int") == (roles.audit == nil ? 0 : 1))
    }

    @Test func `programs of the version before go on unless a step shuts them out`() throws {
        var scene = try ServerScene()
        try scene.create()
        let store = try scene.open()
        scene.options.serverSchema = newer()
        try TokenStore.migrate(at: scene.location, options: scene.options)
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try store.accounts().count == 1)
    }

    @Test func `a step that fails leaves the store as it was`() throws {
        let scene = try scene("CREATE TABLE extra (id bigint PRIMARY KEY); SELECT 1 / 0")
        expectCode(.storage) { try TokenStore.migrate(at: scene.location, options: scene.options) }
        #expect(try scene.count("SELECT schema_version FROM store") == 14)
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = '\(scene.schema)'"
        #expect(try scene.count(tables + " AND tablename = 'extra'") == 0)
    }

    @Test(.disabled(if: TestCluster.isWanted, "one server of its own tells as much"))
    func `a store is made and migrated past the standby that its address prefers`() throws {
        let (primary, standby) = (try TestServer(), try TestServer(isStandby: true))
        defer {
            primary.stop()
            standby.stop()
        }
        var scene = try ServerScene(on: primary)
        let places = "host=\(standby.directory),\(primary.directory)&port=\(standby.port),\(primary.port)"
        let location = try StoreLocation(
            "postgresql://owner@/tests?\(places)&schema=\(scene.schema)&target_session_attrs=prefer-standby"
        )
        #expect(try TokenStore.create(at: location, options: scene.options))
        scene.options.serverSchema = newer()
        #expect(try TokenStore.migrate(at: location, options: scene.options).steps == ["V015_extra"])
    }

    @Test func `a program's role cannot migrate`() throws {
        let scene = try scene("ALTER TABLE account ADD COLUMN extra bigint")
        expectCode(.access) {
            try TokenStore.migrate(at: scene.location(as: "trusted"), options: scene.options)
        }
        #expect(try scene.count("SELECT schema_version FROM store") == 14)
    }

    @Test func `what is no store of this program is not migrated`() throws {
        var scene = try ServerScene()
        expectCode(.noStore) { try TokenStore.migrate(at: scene.location, options: scene.options) }
        #expect(try scene.count("SELECT count(*) FROM pg_namespace WHERE nspname = '\(scene.schema)'") == 0)
        try scene.server.connect().execute("CREATE SCHEMA \(scene.schema); CREATE TABLE \(scene.schema).store (a int)")
        expectCode(.damaged) { try TokenStore.migrate(at: scene.location, options: scene.options) }
        try scene.server.connect().execute("DROP SCHEMA \(scene.schema) CASCADE")
        try scene.create()
        try scene.sql("UPDATE store SET schema_version = 99, reader_floor = 99, writer_floor = 99, written_by = '9.9'")
        scene.options.serverSchema = newer()
        expectCode(.newerStore) { try TokenStore.migrate(at: scene.location, options: scene.options) }
    }

    @Test func `a role that may not use the schema is told so, and not that there is no store`() throws {
        let scene = try ServerScene()
        try scene.create()
        expectCode(.access) { _ = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options) }
        expectCode(.access) {
            _ = try TokenStore.inspect(at: scene.location(as: "trusted"), options: scene.options)
        }
    }

    @Test func `a file is migrated as well`() throws {
        let fixture = try TestStore(older: 9)
        let trial = try TokenStore.migrate(at: fixture.location, options: fixture.options, dryRun: true)
        #expect((trial.oldVersion, trial.steps.first) == (9, "V010_binding"))
        #expect(try TokenStore.migrate(at: fixture.location, options: fixture.options) == trial)
        #expect(try TokenStore.migrate(at: fixture.location, options: fixture.options).steps == [])
        let nowhere = StoreLocation(StorePath(fixture.directory.file("nothing.db")))
        expectCode(.noStore) { try TokenStore.migrate(at: nowhere, options: fixture.options) }
    }

    @Test func `everything is removed from a server, and the next sign-in finds the keys`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let location = try scene.location(as: "trusted")
        let store = try TokenStore.open(at: location, options: scene.options)
        for number in 0..<3 {
            try store.save(ServerScene.response("u\(number)", token: "a"), for: ServerScene.request())
        }
        #expect(try TokenStore.purgeAll(at: location, options: scene.options, dryRun: true).accounts == 3)
        #expect(try store.accounts().count == 3)
        var withoutKey = scene.options
        withoutKey.keySource = nil
        let counts = try TokenStore.purgeAll(at: location, options: withoutKey)
        #expect((counts.accounts, counts.refreshTokens, counts.accessTokens) == (3, 3, 3))
        for table in ["account", "access_token", "refresh_token", "sign_out", "mark_key", "app_metadata"] {
            #expect(try scene.count("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        #expect(try store.events().map(\.kind) == [.purge])
        #expect(try store.check() == [])
        try store.save(ServerScene.response("u9", token: "z"), for: ServerScene.request())
        #expect(try TokenStore.open(at: location, options: scene.options).accounts().count == 1)
        let nowhere = try ServerScene()
        #expect(try TokenStore.purgeAll(at: nowhere.location, options: scene.options) == PurgeCounts())
    }
}
