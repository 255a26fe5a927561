import PostgreSQL
import SQL
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct TransactionTests {
    private let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    private func connection(_ columns: String = "a bigint, b text, c bytea") throws -> Connection {
        let connection = try server.connect()
        try connection.execute("CREATE TEMPORARY TABLE t (\(columns))")
        return connection
    }

    @Test func `an error in the middle of a batch names its statement and ends the transaction`() throws {
        let connection = try connection("a bigint PRIMARY KEY, b text")
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                for number in [1, 2, 3, 2, 5] {
                    try connection.run("INSERT INTO t VALUES (?1, ?2)", .integer(number), .text("planted-\(number)"))
                }
            }
        }
        #expect(error?.code == .uniqueViolation)
        #expect(error?.statement == 4)
        #expect(error?.sql == "INSERT INTO t VALUES (?1, ?2)")
        #expect(error?.state == .usable)
        #expect(error?.description.contains("planted") == false)
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        #expect(!connection.isInTransaction)
    }

    @Test func `a transaction whose error was kept from its end does not commit`() throws {
        let connection = try connection("a bigint PRIMARY KEY")
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                try connection.run("INSERT INTO t VALUES (1)")
                do { _ = try connection.integer("SELECT 1 / 0") } catch {}
                do { try connection.run("INSERT INTO t VALUES (2)") } catch {}
            }
        }
        #expect(error?.code.rawValue == "22012")
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `an error of the body undoes what was sent`() throws {
        struct Stop: Error {}
        let connection = try connection()
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.run("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.run("INSERT INTO absent VALUES (1)")
                throw Stop()
            }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `a transaction inside another is part of it`() throws {
        struct Stop: Error {}
        let connection = try connection()
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.write { try connection.run("INSERT INTO t VALUES (1)") }
                throw Stop()
            }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `a commit that the server refuses is an error and leaves the connection usable`() throws {
        let connection = try connection("a bigint UNIQUE DEFERRABLE INITIALLY DEFERRED")
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                try connection.run("INSERT INTO t VALUES (1), (1)")
            }
        }
        #expect(error?.code == .uniqueViolation)
        #expect(error?.state == .usable)
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `a full batch that is given up leaves the connection usable`() throws {
        struct Stop: Error {}
        let connection = try connection()
        for count in [1, 63, 64, 65, 200] {
            #expect(throws: Stop.self) {
                try connection.write {
                    for number in 0..<count { try connection.run("INSERT INTO t VALUES (?1)", .integer(number)) }
                    throw Stop()
                }
            }
            #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        }
        try connection.prepare("").run([])
        #expect(connection.isAlive)
    }

    @Test func `serialization failures and deadlocks can be told from other errors`() throws {
        let (one, two) = (try server.connect(), try server.connect())
        let name = "s\(UInt32.random(in: 0...UInt32.max))"
        try one.execute("CREATE TABLE \(name) (a bigint); INSERT INTO \(name) VALUES (1)")
        defer { #expect(throws: Never.self) { try one.execute("DROP TABLE \(name)") } }
        let update = one.prepare("UPDATE \(name) SET a = a + 1")
        let error = #expect(throws: PostgreSQLError.self) {
            try two.write {
                try two.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                _ = try two.prepare("SELECT a FROM \(name)").first([]) { $0.integer(0) }
                try update.run([])
                try two.prepare("UPDATE \(name) SET a = a + 1").run([])
            }
        }
        #expect(error?.code == .serializationFailure)
        #expect(error?.code.isRetryable == true)
        #expect(try one.prepare("SELECT a FROM \(name)").first([]) { $0.integer(0) } == 2)
    }

    @Test func `a read sees one moment and may not write`() throws {
        let (reader, writer) = (try server.connect(), try server.connect())
        let name = "r\(UInt32.random(in: 0...UInt32.max))"
        try writer.execute("CREATE TABLE \(name) (a bigint)")
        defer { #expect(throws: Never.self) { try writer.execute("DROP TABLE \(name)") } }
        let count = reader.prepare("SELECT count(*) FROM \(name)")
        try reader.read {
            #expect(try count.first([]) { $0.integer(0) } == 0)
            try writer.execute("INSERT INTO \(name) VALUES (1)")
            #expect(try count.first([]) { $0.integer(0) } == 0)
        }
        #expect(try count.first([]) { $0.integer(0) } == 1)
        let error = #expect(throws: PostgreSQLError.self) {
            try reader.read { try reader.execute("INSERT INTO \(name) VALUES (2)") }
        }
        #expect(error?.code == .readOnlyTransaction)
    }

    @Test func `the isolation of a transaction is not the standard of the database or the role`() throws {
        let role = "r\(UInt32.random(in: 0...UInt32.max))"
        let owner = try server.connect()
        try owner.execute(
            """
            CREATE ROLE \(role) LOGIN;
            ALTER ROLE \(role) SET default_transaction_isolation = 'serializable';
            ALTER ROLE \(role) SET default_transaction_deferrable = on;
            ALTER ROLE \(role) SET quote_all_identifiers = on
            """
        )
        defer { #expect(throws: Never.self) { try owner.execute("DROP ROLE \(role)") } }
        let connection = try server.connect(user: role)
        defer { connection.close() }
        func level() throws -> String? { try connection.first("SHOW transaction_isolation") { $0.text(0) } }
        #expect(try level() == "read committed")
        #expect(try connection.write { try level() } == "read committed")
        #expect(try connection.read { try level() } == "repeatable read")
        #expect(try connection.first("SHOW quote_all_identifiers") { $0.text(0) } == "off")
    }

    @Test func `the limits of time of a role end no statement and no transaction`() throws {
        let role = "r\(UInt32.random(in: 0...UInt32.max))"
        let owner = try server.connect()
        let version = try #require(try owner.integer("SELECT current_setting('server_version_num')::bigint"))
        let limits = ["statement_timeout"] + (version >= 170_000 ? ["transaction_timeout"] : [])
        try owner.execute("CREATE ROLE \(role) LOGIN")
        for limit in limits { try owner.execute("ALTER ROLE \(role) SET \(limit) = '2s'") }
        defer { #expect(throws: Never.self) { try owner.execute("DROP ROLE \(role)") } }
        for query in ["", "&pooler=transaction"] {
            let connection = try server.connect(query, user: role)
            defer { connection.close() }
            try connection.write {
                for limit in limits {
                    let value = try connection.first("SELECT current_setting(?1)", .text(limit)) { $0.text(0) }
                    #expect(value == "0")
                }
            }
        }
    }
}
