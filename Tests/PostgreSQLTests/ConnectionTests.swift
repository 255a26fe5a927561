import PostgreSQL
import SQL
import Testing

extension Trait where Self == ConditionTrait {
    static var ifServerIsInstalled: Self {
        .enabled(if: TestServer.isInstalled, "PostgreSQL and libpq5 are installed")
    }
}

@Suite(.ifServerIsInstalled)
struct ConnectionTests {
    private let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    private func connection(_ columns: String = "a bigint, b text, c bytea") throws -> Connection {
        let connection = try server.connect()
        try connection.execute("CREATE TEMPORARY TABLE t (\(columns))")
        return connection
    }

    @Test func `every value comes back as it went in`() throws {
        let connection = try connection("n bigint, a bigint, b text, c bytea")
        let numbers: [Int64?] = [nil, 0, .min, .max, -1, 256]
        let texts: [String?] = [nil, "", "ü\u{1F600}", "a'b\\c", String(repeating: "x", count: 100_000), "$1 ?1"]
        let blobs: [[UInt8]?] = [nil, [], [0, 255, 0], [UInt8](repeating: 7, count: 1_000_000), [1], [2]]
        for index in numbers.indices {
            try connection.run(
                "INSERT INTO t VALUES (?1, ?2, ?3, ?4)",
                .integer(index),
                .optional(numbers[index]),
                .optional(texts[index]),
                .optional(blobs[index])
            )
        }
        let sql: StaticString = "SELECT a, b, c FROM t ORDER BY n"
        #expect(try connection.all(sql) { $0.value(0) } == numbers.map { .optional($0) })
        #expect(try connection.all(sql) { $0.value(1) } == texts.map { .optional($0) })
        #expect(try connection.all(sql) { $0.value(2) } == blobs.map { .optional($0) })
        #expect(try connection.all(sql) { $0.optionalBlob(2) } == blobs)
    }

    @Test func `integers are read by their width, and sums too`() throws {
        let connection = try connection()
        let row = try #require(
            try connection.first(
                "SELECT 7::int2, -7::int4, true, 40::int8, 5::oid, 123456789012::numeric, -10000.9::numeric, 0::numeric"
            ) { row in (0..<row.columnCount).map { row.integer($0) } }
        )
        #expect(row == [7, -7, 1, 40, 5, 123_456_789_012, -10_000, 0])
        let sums = try connection.first(
            "SELECT sum(n), count(*), max(n) FROM generate_series(1, ?1) n",
            .integer(20_000)
        ) {
            [$0.integer(0), $0.integer(1), $0.integer(2)]
        }
        #expect(sums == [200_010_000, 20_000, 20_000])
        #expect(try connection.integer("SELECT 9223372036854775807::numeric") == .max)
        #expect(try connection.integer("SELECT 92233720368547758070::numeric") == .max)
        #expect(try connection.integer("SELECT -9223372036854775808::numeric") == .min)
        #expect(
            try connection.first("SELECT 'x' AS name, 1 = 2") { [$0.name(0), "\($0.bool(1))"] } == ["name", "false"]
        )
    }

    @Test func `a parameter takes values of other types than at its first use`() throws {
        let connection = try connection()
        let values: [Value] = [.null, .integer(1), .null, .text("x"), .integer(2), .blob([3]), .text("y")]
        for value in values { #expect(try connection.first("SELECT ?1", value) { $0.value(0) } == value) }
        let kept = try connection.integer("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1'")
        #expect(kept == 1)
    }

    @Test func `ten thousand statements are sent without waiting for each`() throws {
        let connection = try connection()
        try connection.write {
            for number in 1...10_000 {
                try connection.run(
                    "INSERT INTO t VALUES (?1, ?2, ?3)",
                    .integer(number),
                    .text("text \(number)"),
                    .blob([UInt8](repeating: 1, count: 2000))
                )
            }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 10_000)
        #expect(try connection.integer("SELECT sum(a) FROM t") == 50_005_000)
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

    @Test func `several questions are asked before the first is answered`() throws {
        let connection = try connection()
        try connection.write {
            try connection.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
            let count = try connection.ask("SELECT count(*) FROM t")
            let names = try connection.ask("SELECT b FROM t WHERE a > ?1 ORDER BY a", .integer(0))
            let none = try connection.ask("SELECT b FROM t WHERE a > ?1", .integer(9))
            #expect(try none.first { $0.text(0) } == nil)
            #expect(try names.all { $0.text(0) } == ["a", "b"])
            #expect(try count.integer() == 2)
        }
        let first = try connection.ask("SELECT 1 / ?1", .integer(0))
        let second = try connection.ask("SELECT ?1 + 1", .integer(1))
        #expect(throws: PostgreSQLError.self) { try first.integer() }
        #expect(try second.integer() == 2)
    }

    @Test func `changing returns the number of rows`() throws {
        let connection = try connection()
        #expect(try connection.changing("INSERT INTO t VALUES (1), (2), (3)") == 3)
        #expect(try connection.changing("UPDATE t SET b = 'x' WHERE a > ?1", .integer(1)) == 2)
        #expect(try connection.changing("DELETE FROM t WHERE a = ?1", .integer(9)) == 0)
        #expect(try connection.changing(SQL("DELETE FROM t WHERE a < ?1"), [.integer(3)]) == 2)
    }

    @Test func `pages arrive with the answers to other questions between them`() throws {
        let connection = try connection()
        try connection.run("INSERT INTO t SELECT n FROM generate_series(1, 450) n")
        var (sizes, sum): ([Int], Int64) = ([], 0)
        try connection.forEachPage("SELECT a FROM t WHERE a > ?1 ORDER BY a", .integer(0)) { page in
            sizes.append(page.count)
            let answers = try page.all { try connection.ask("SELECT ?1 * 2", .integer($0.integer(0))) }
            for answer in answers { sum += try answer.integer() ?? 0 }
        }
        #expect(sizes == [200, 200, 50])
        #expect(sum == 450 * 451)
        sizes = []
        try connection.forEachPage("SELECT a FROM t ORDER BY a", size: 225) { sizes.append($0.count) }
        #expect(sizes == [225, 225])
    }

    @Test func `a statement that was put together is sent each time, and several at once run as a script`() throws {
        let connection = try connection()
        let insert = connection.prepare("INSERT INTO t VALUES (?1, '?1')")
        for number in 1...3 { try insert.run([.integer(number)]) }
        var seen: [Int64] = []
        try connection.prepare("SELECT a FROM t ORDER BY a").forEach([]) {
            seen.append($0.integer(0))
            return seen.count < 2
        }
        #expect(seen == [1, 2])
        try connection.execute("DELETE FROM t WHERE a = 1; INSERT INTO t VALUES (9, ';'); -- end")
        #expect(try connection.all("SELECT b FROM t ORDER BY a") { $0.text(0) } == ["?1", "?1", ";"])
        #expect(try connection.prepare("SELECT count(*) FROM t").first([]) { $0.integer(0) } == 3)
        #expect(
            try connection.integer("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'") == 0
        )
    }

    @Test func `literals are prepared once for each connection`() throws {
        let connection = try connection()
        for number in 1...5 { try connection.run("INSERT INTO t VALUES (?1)", .integer(number)) }
        let prepared = try connection.all("SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'")
        {
            $0.text(0)
        }
        #expect(prepared == ["INSERT INTO t VALUES ($1)"])
    }

    @Test func `a value of the wrong kind is refused without being quoted`() throws {
        let connection = try connection()
        for sql in ["SELECT CAST(CAST(?1 AS text) AS bigint)", "SELECT ?1::text::uuid"] {
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.prepare(sql).run([.text("planted-value")])
            }
            #expect(error?.code.category == "22")
            #expect(error?.description.contains("planted") == false)
        }
        let zero = #expect(throws: PostgreSQLError.self) { try connection.run("SELECT ?1", .text("a\u{0}b")) }
        #expect(zero?.code == .characterNotInRepertoire)
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

    @Test func `a session has the settings of a store`() throws {
        let connection = try server.connect()
        let expected = [
            "plan_cache_mode": "force_generic_plan", "synchronous_commit": "on", "search_path": "public",
            "idle_in_transaction_session_timeout": "15s", "lock_timeout": "5s", "client_encoding": "UTF8",
            "application_name": "tokenstore",
        ]
        for (name, value) in expected {
            #expect(try connection.first("SELECT current_setting(?1)", .text(name)) { $0.text(0) } == value)
        }
    }
}
