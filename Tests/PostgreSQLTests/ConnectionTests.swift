import PostgreSQL
import SQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads, .ifServerIsInstalled)
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
        #expect(try second.integer() == 2)
        #expect(throws: PostgreSQLError.self) { try first.integer() }
        #expect(try connection.integer("SELECT 3") == 3)
    }

    @Test func `a connection with a question that was not answered is closed with its last use`() throws {
        weak var gone: Connection?
        let answer: Answer
        do {
            let connection = try server.connect()
            answer = try connection.ask("SELECT 1")
            gone = connection
        }
        #expect(gone == nil)
        #expect(throws: PostgreSQLError.self) { try answer.rows() }
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

    @Test func `who reads pages may take an hour between two, and who writes may not`() throws {
        let connection = try connection()
        try connection.run("INSERT INTO t VALUES (1)")
        func limit() throws -> String? {
            try connection.first("SELECT current_setting('idle_in_transaction_session_timeout')") { $0.text(0) }
        }
        var limits: [String?] = []
        try connection.forEachPage("SELECT a FROM t") { _ in limits.append(try limit()) }
        try connection.write { limits.append(try limit()) }
        #expect(limits == ["1h", "15s"])
    }

    @Test(arguments: [PostgreSQLError.Code.wrongKindOfServer, .serializationFailure])
    func `a server that the program has something against is passed over`(code: PostgreSQLError.Code) throws {
        let (host, port) = (server.directory, server.port)
        let two = try ServerAddress(
            "postgresql://owner@/tests?host=\(host),\(host)&port=\(port),\(port)",
            origin: .argument
        ) { _ in nil }
        let seen = Mutex<[Int32]>([])
        var options = Connection.Options()
        options.judge = { connection throws(PostgreSQLError) in
            let count = seen.withLock { seen in
                seen.append(connection.serverProcess)
                return seen.count
            }
            if count == 1 { throw PostgreSQLError(code, "not this one", state: .lost) }
        }
        let connection = try Connection.judged(to: two, options: options)
        #expect(try connection.integer("SELECT pg_backend_pid()") == seen.withLock { $0.last.map(Int64.init) })
        #expect(seen.withLock { $0.count } == 2)
        options.judge = { _ throws(PostgreSQLError) in throw PostgreSQLError(code, "not this one", state: .lost) }
        let refused = options
        let error = #expect(throws: PostgreSQLError.self) { _ = try Connection.judged(to: two, options: refused) }
        #expect(error?.code == code)
    }

    @Test func `a server that stops at the first question is passed over`() throws {
        let (host, port) = (server.directory, server.port)
        let two = try ServerAddress(
            "postgresql://owner@/tests?host=\(host),\(host)&port=\(port),\(port)",
            origin: .argument
        ) { _ in nil }
        let count = Mutex(0)
        var options = Connection.Options()
        options.judge = { connection throws(PostgreSQLError) in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return }
            do {
                try connection.execute("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(9)")
            } catch let error as PostgreSQLError {
                throw error
            } catch {
                throw PostgreSQLError(.connectionLost, "\(error)", state: .lost)
            }
        }
        let connection = try Connection.judged(to: two, options: options)
        #expect(try connection.integer("SELECT 1") == 1)
        #expect(count.withLock { $0 } == 2)
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
        let broken = #expect(throws: PostgreSQLError.self) {
            try connection.run(#"SELECT convert_from('\xff', 'UTF8')"#)
        }
        #expect(broken?.code == .brokenText)
    }

    @Test func `a session has the settings of a store`() throws {
        let connection = try server.connect()
        let expected = [
            "plan_cache_mode": "force_generic_plan", "synchronous_commit": "on", "search_path": "public,pg_temp",
            "row_security": "off", "statement_timeout": "0", "client_min_messages": "warning",
            "idle_in_transaction_session_timeout": "15s", "lock_timeout": "5s", "client_encoding": "UTF8",
            "application_name": "tokenstore", "jit": "off",
        ]
        for (name, value) in expected {
            #expect(try connection.first("SELECT current_setting(?1)", .text(name)) { $0.text(0) } == value)
        }
    }
}
