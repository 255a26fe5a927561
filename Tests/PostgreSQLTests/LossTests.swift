import Foundation
import PostgreSQL
import SQL
import TestSupport
import TestTraits
import Testing

/// What is known when a connection ends or a server falls silent.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct LossTests {
    private let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    /// Holds a process of the server still until the value is gone.
    private final class Suspension {
        private let process: Int32

        init(_ process: Int32) {
            self.process = process
            kill(process, SIGSTOP)
        }

        deinit { kill(process, SIGCONT) }
    }

    private func impatient() throws -> Connection {
        var options = Connection.Options()
        options.patience = .milliseconds(300)
        return try server.connect(options: options)
    }

    @Test func `a session that the server ends in a transaction is lost, and nothing has happened`() throws {
        let (connection, other) = (try server.connect(), try server.connect())
        let name = "l\(UInt32.random(in: 0...UInt32.max))"
        try other.execute("CREATE TABLE \(name) (a bigint)")
        defer { #expect(throws: Never.self) { try other.execute("DROP TABLE \(name)") } }
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                try connection.execute("INSERT INTO \(name) VALUES (1)")
                _ = try other.first(
                    "SELECT pg_terminate_backend(?1::int, 5000)",
                    .integer(Int(connection.serverProcess))
                ) {
                    $0.bool(0)
                }
                _ = try connection.integer("SELECT 1")
            }
        }
        #expect(error?.state == .lost)
        #expect(connection.loss == error)
        #expect(!connection.isAlive)
        #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
        #expect(try other.prepare("SELECT count(*) FROM \(name)").first([]) { $0.integer(0) } == 0)
    }

    @Test func `a server killed before a commit is lost, and after it was sent the outcome is unknown`() throws {
        let own = try TestServer()
        defer { own.stop() }
        let connection = try own.connect()
        try connection.execute("CREATE TABLE t (a bigint)")
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                try connection.run("INSERT INTO t VALUES (1)")
                try own.kill()
            }
        }
        // The commit went into a socket whose other end was gone: the client cannot know that.
        #expect(error?.state == .lostAfterCommit)
        let again = #expect(throws: PostgreSQLError.self) { _ = try own.connect() }
        #expect(again?.code == .unreachable)
    }

    @Test func `a server that hangs is given up after the patience`() throws {
        let connection = try impatient()
        let suspension = Suspension(connection.serverProcess)
        let error = #expect(throws: PostgreSQLError.self) { try connection.read { try connection.integer("SELECT 1") } }
        #expect(error?.code == .timedOut)
        #expect(error?.state == .lost)
        #expect(!connection.isAlive)
        withExtendedLifetime(suspension) {}
    }

    @Test func `a server that hangs at a commit leaves its outcome unknown`() throws {
        let connection = try impatient()
        var suspension: Suspension?
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                try connection.run("SELECT 1")
                suspension = Suspension(connection.serverProcess)
            }
        }
        #expect(error?.code == .timedOut)
        #expect(error?.state == .lostAfterCommit)
        withExtendedLifetime(suspension) {}
    }

    @Test func `a commit that no longer waits for its standby is an error`() throws {
        let own = try TestServer(["synchronous_standby_names = 'absent'"])
        defer { own.stop() }
        let other = try own.connect()
        // What a role hears of the server is not what counts.
        try other.execute("SET synchronous_commit = local; CREATE TABLE t (a bigint)")
        try other.execute("ALTER ROLE owner SET client_min_messages = error")
        let connection = try own.connect()
        let process = connection.serverProcess
        // The question holds the other connection until the commit waits, then ends that wait.
        let canceller = try own.connect()
        try canceller.execute(
            """
            SET synchronous_commit = local;
            CREATE FUNCTION cancel_wait(pid int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
                WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep') LOOP
                    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
                END LOOP;
                RETURN pg_cancel_backend(pid);
            END $$
            """
        )
        let answer = try canceller.ask("SELECT cancel_wait(?1::int)", .integer(Int(process)))
        try canceller.flush()
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write { try connection.run("INSERT INTO t VALUES (1)") }
        }
        #expect(try answer.first { $0.bool(0) } == true)
        #expect(error?.code == .notReplicated)
        #expect(try other.integer("SELECT count(*) FROM t") == 1)
        connection.patience = .milliseconds(300)
        let late = #expect(throws: PostgreSQLError.self) { try connection.run("INSERT INTO t VALUES (2)") }
        #expect(late?.code == .timedOut)
        #expect(late?.state == .lostAfterCommit)
    }

    /// A connection with a table `t`, in whose commits the server says something as Citus does.
    private func clusterLike(_ saying: String) throws -> Connection {
        let connection = try server.connect()
        try connection.execute(
            """
            CREATE TEMPORARY TABLE t (a bigint);
            CREATE FUNCTION pg_temp.say() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(saying) RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER late AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION pg_temp.say()
            """
        )
        return connection
    }

    @Test(arguments: ["XX000", "08006"])
    func `a commit that failed in another machine of a cluster may have happened`(state: String) throws {
        let connection = try clusterLike("RAISE EXCEPTION 'could not commit transaction' USING ERRCODE = '\(state)';")
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write { try connection.run("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.state == .lostAfterCommit)
    }

    @Test func `a commit that another machine of a cluster will catch up with is one`() throws {
        let text = "failed to commit transaction on worker:5432"
        let connection = try clusterLike("RAISE WARNING '\(text)' USING ERRCODE = '01000';")
        try connection.write { try connection.run("INSERT INTO t VALUES (1)") }
        #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    }

    @Test func `a machine of a cluster that went away is a failure of a connection`() throws {
        let connection = try server.connect()
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                try connection.run(
                    """
                    DO $$ BEGIN
                        RAISE EXCEPTION 'failure on connection marked as essential: w:5432' USING ERRCODE = 'XX000';
                    END $$
                    """
                )
            }
        }
        #expect(error?.code == .connectionFailure)
        #expect(error?.state == .usable)
    }

    @Test(arguments: [false, true])
    func `an answer that was not read says that its connection was closed`(isForgotten: Bool) throws {
        var connection: Connection? = try server.connect()
        let answer = try #require(connection).ask("SELECT 1")
        if isForgotten { connection = nil } else { connection?.close() }
        let error = #expect(throws: PostgreSQLError.self) { _ = try answer.integer() }
        #expect(error?.code == .connectionLost)
        #expect(error?.message == "the connection was closed")
    }
}
