import Foundation
import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What a check says of the tables of a server, which their owner can change, and that its statements mend them.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerCheckTests {
    /// A change of the tables, and how the problem names what was changed.
    struct Change: CustomTestStringConvertible {
        let sql: String
        let part: String
        /// The rows of a cluster are not changed so.
        var isOfOneMachine = false

        var testDescription: String { part }
    }

    static let changes = [
        Change(sql: "DROP INDEX account_identity", part: "index account_identity of table account is missing"),
        Change(
            sql: "DROP INDEX data_key_current; CREATE INDEX data_key_current ON data_key (is_current)",
            part: "index data_key_current of table data_key was altered"
        ),
        Change(
            sql: "CREATE UNIQUE INDEX planted ON account_tag (account_id, secret)",
            part: "index planted of table account_tag does not belong there"
        ),
        Change(
            sql: "CREATE RULE \"Keep it\" AS ON DELETE TO account DO INSTEAD NOTHING",
            part: "rule Keep it of table account does not belong there",
            isOfOneMachine: true
        ),
        // For Swift the letter and the mark behind it are one character.
        Change(
            sql: "CREATE RULE \"x\u{D4E}\"\" ON account --\" AS ON DELETE TO account DO INSTEAD NOTHING",
            part: "rule x\u{D4E}\" ON account -- of table account does not belong there",
            isOfOneMachine: true
        ),
        Change(
            sql: """
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER planted BEFORE DELETE ON refresh_token FOR EACH ROW EXECUTE FUNCTION keep()
                """,
            part: "trigger planted of table refresh_token does not belong there",
            isOfOneMachine: true
        ),
        Change(
            sql: "ALTER TABLE account RENAME CONSTRAINT account_pkey TO \"Old key\"",
            part: "constraint account_pkey of table account has another name",
            isOfOneMachine: true
        ),
        Change(
            sql: "ALTER TABLE event RENAME CONSTRAINT event_pkey TO event_pkey1",
            part: "constraint event_pkey of table event has another name",
            isOfOneMachine: true
        ),
        Change(
            sql: "ALTER TABLE account ALTER COLUMN name SET DEFAULT '\\x00'",
            part: "default of column account.name does not belong there"
        ),
        Change(
            sql: "ALTER TABLE event ALTER COLUMN tx SET DEFAULT '3'::xid8",
            part: "default of column event.tx was altered"
        ),
        Change(
            sql: "ALTER TABLE sign_out DROP CONSTRAINT sign_out_pkey",
            part: "constraint sign_out_pkey of table sign_out is missing",
            isOfOneMachine: true
        ),
        Change(
            sql: "ALTER TABLE throttle DROP CONSTRAINT throttle_account_id_fkey",
            part: "constraint throttle_account_id_fkey of table throttle is missing"
        ),
        Change(
            sql: "ALTER TABLE id_token DISABLE TRIGGER ALL",
            part: "constraint id_token_account_id_fkey of table id_token was altered",
            isOfOneMachine: true
        ),
        Change(
            sql: "ALTER TABLE account ADD CONSTRAINT planted CHECK (created_at > 0)",
            part: "constraint planted of table account does not belong there"
        ),
        Change(
            sql: "ALTER TABLE account ALTER COLUMN username DROP NOT NULL",
            part: "NOT NULL of column account.username is missing"
        ),
        Change(sql: "ALTER TABLE throttle SET UNLOGGED", part: "table throttle was altered", isOfOneMachine: true),
        Change(
            sql: "ALTER TABLE throttle ENABLE ROW LEVEL SECURITY, SET UNLOGGED",
            part: "table throttle was altered",
            isOfOneMachine: true
        ),
    ].filter { !TestCluster.isWanted || !$0.isOfOneMachine }

    @Test(arguments: changes)
    func `a change of the tables is a problem, and the statement in it mends it`(change: Change) throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try store.check() == [])
        try scene.sql(change.sql)
        // A disabled reference is off at both of its tables, and so are those that refer to a key.
        var problems = try store.check()
        #expect(problems.contains { $0.problem.hasPrefix(change.part) }, "\(problems)")
        while let problem = problems.first {
            #expect(problem.location == "schema")
            #expect(problem.remedy?.advice.contains("run the statements") == true)
            let statement = try #require(problem.problem.components(separatedBy: ", which this mends: ").last)
            try scene.server.connect().execute(statement)
            let left = try store.check()
            #expect(left.count < problems.count, "\(left)")
            problems = left.count < problems.count ? left : []
        }
        #expect(try store.check() == [])
    }

    @Test(.disabled(if: TestCluster.isWanted, "no table of one machine refers to one that is spread"))
    func `a table elsewhere that refers to accounts is a problem, and named where it is in the way`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let place = "\(scene.schema)_crm"
        try scene.sql(
            """
            CREATE SCHEMA \(place); CREATE TABLE \(place)."Deals" (account bigint REFERENCES account);
            INSERT INTO \(place)."Deals" SELECT id FROM account
            """
        )
        let error = #expect(throws: TokenStoreError.self) { _ = try store.purge(.all) }
        #expect(error?.code == .access)
        let reason = "the table \(place).Deals refers to it by the constraint Deals_account_fkey"
        #expect(error?.problem.contains(reason) == true)
        #expect(try store.accounts().count == 1)
        let problems = try store.check().map(\.problem)
        #expect(problems.count == 1)
        let problem = try #require(problems.first)
        let constraint = "\(place).\"Deals\".\"Deals_account_fkey\""
        #expect(problem.hasPrefix("a reference to table account, constraint \(constraint), does not belong there"))
        try scene.server.connect().execute(try #require(problem.components(separatedBy: ", which this mends: ").last))
        #expect(try store.check() == [])
        #expect(try store.purge(.all).accounts == 1)
    }

    @Test func `a column that the server makes up has no default to be dropped`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        try scene.sql(
            """
            ALTER TABLE access_token DROP COLUMN refresh_on;
            ALTER TABLE access_token ADD COLUMN refresh_on bigint GENERATED ALWAYS AS (1) STORED
            """
        )
        let problems = try store.check().map(\.problem)
        #expect(problems.contains { $0.hasPrefix("column access_token.refresh_on was altered") })
        #expect(!problems.contains { $0.hasPrefix("default of") }, "\(problems)")
    }

    @Test func `a column that does not belong there is one problem`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        try scene.sql("ALTER TABLE account ADD COLUMN planted bigint NOT NULL DEFAULT 7")
        let problems = try store.check().map(\.problem)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("column account.planted does not belong there") == true)
    }

    @Test func `an index of columns that an administrator added is no problem`() throws {
        let scene = try ServerScene()
        try scene.create()
        try scene.sql("CREATE INDEX event_program ON event (program, at) WITH (fillfactor = 70)")
        try scene.sql("ALTER INDEX data_key_current SET (fillfactor = 60)")
        try scene.sql("CREATE INDEX event_times ON event (at) INCLUDE (program)")
        #expect(try scene.open().check() == [])
        for columns in ["(secret)", "(account_id) INCLUDE (secret)"] {
            try scene.sql("CREATE INDEX long_values ON access_token \(columns)")
            #expect(try scene.open().check().map(\.problem).first?.contains("long_values") == true)
            try scene.sql("DROP INDEX long_values")
        }
    }

    @Test func `a server that quotes every name has the same tables`() throws {
        let server = try TestServer(["quote_all_identifiers = on", "default_transaction_isolation = 'repeatable read'"])
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        let store = try scene.createdStore()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        #expect(try store.check() == [])
    }

    /// The expected parts are read from the migrations: this compares all of them with what a server made of those.
    @Test func `each index and constraint that a migration makes is missed`() throws {
        let scene = try ServerScene()
        try scene.create()
        let store = try scene.open()
        let wanted = ServerTables(Schema.server.migrations)
        let indexes = wanted.parts.filter { $0.kind == .index }
        let references = wanted.parts.filter { $0.kind == .constraint && $0.name.hasSuffix("_fkey") }
        let constant = "SELECT count(*) FROM pg_constraint WHERE connamespace = '\(scene.schema)'::regnamespace"
        #expect(try Int(scene.count(constant + " AND contype = 'f'")) == references.count)
        let free = """
            SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisprimary
                AND c.relnamespace = '\(scene.schema)'::regnamespace
                AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)
            """
        #expect(try Int(scene.count(free)) == indexes.count)
        for part in references { try scene.sql("ALTER TABLE \(part.table) DROP CONSTRAINT \(part.name)") }
        for part in indexes { try scene.sql("DROP INDEX \(part.name)") }
        let problems = try store.check()
        for part in indexes + references {
            #expect(problems.contains { $0.problem.hasPrefix(part.description + " is missing") }, "\(part.description)")
        }
        #expect(problems.count == indexes.count + references.count)
    }

    @Test(.disabled(if: TestCluster.isWanted, "the rows of a cluster are not in one table"))
    func `a table that is another, or gone, is one problem`() throws {
        let scene = try ServerScene()
        try scene.create()
        let store = try scene.open()
        try scene.sql("DROP TABLE refresh_lease; CREATE TABLE another () INHERITS (throttle)")
        let problems = try store.check().map(\.problem)
        #expect(problems == ["table refresh_lease is missing", "table throttle was altered"])
    }
}
