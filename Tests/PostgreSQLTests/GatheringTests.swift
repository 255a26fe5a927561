import Foundation
import PostgreSQL
import SQL
import TestSupport
import TestTraits
import Testing

/// Rows that are sent several at a time, as one statement.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct GatheringTests {
    private let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    private func connection(_ columns: String) throws -> Connection {
        let connection = try server.connect()
        try connection.execute("CREATE TEMPORARY TABLE t (\(columns))")
        return connection
    }

    @Test func `rows are gathered into one statement and all arrive, whatever follows them`() throws {
        let connection = try connection("a bigint PRIMARY KEY, b text, c bytea DEFAULT '\\x00'")
        let rows: StaticString = "SELECT count(*) FROM t"
        for count in 0...9 {
            for name in [nil, "x", nil] {
                try connection.execute("DELETE FROM t")
                try connection.write {
                    connection.gatherInsertions()
                    for number in 0..<count {
                        let values = [Value.integer(number), .optional(name)]
                        if number.isMultiple(of: 2) {
                            try connection.run("INSERT INTO t (a, b) VALUES (?1, ?2)", values)
                        } else {
                            try connection.run("INSERT INTO t (b, a, c) VALUES (?2, ?1, '?1')", values)
                        }
                    }
                    // A question, a change and an addition to what may be there see what was added before them.
                    if count > 6 {
                        #expect(try connection.integer(rows) == Int64(count))
                    } else {
                        try connection.run("UPDATE t SET c = '\\x02' WHERE a = ?1", .integer(count - 1))
                        let copy: StaticString = "INSERT INTO t SELECT a + 100, b, c FROM t WHERE a = ?1"
                        try connection.run(copy, .integer(count - 1))
                        try connection.run(
                            "INSERT INTO t (a, b) VALUES (?1, ?2) ON CONFLICT (a) DO UPDATE SET b = 'again'",
                            .integer(100 + count - 1),
                            .text("first")
                        )
                    }
                }
                let expected = count > 6 ? count : count + 1
                #expect(try connection.integer(rows) == Int64(expected))
                let isKept = name == nil ? "b IS NULL" : "b = 'x'"
                let kept = "SELECT count(*) FROM t WHERE a < 100 AND \(isKept)"
                #expect(try connection.prepare(kept).first([]) { $0.integer(0) } == Int64(count))
                guard 1...6 ~= count else { continue }
                #expect(try connection.first("SELECT b FROM t WHERE a >= 100") { $0.text(0) } == "again")
                #expect(try connection.integer("SELECT count(*) FROM t WHERE c = '\\x02'") == 2)
            }
        }
    }

    @Test func `gathered rows are sent without waiting, and one that is refused undoes all`() throws {
        let connection = try connection("a bigint PRIMARY KEY, b text")
        let before = connection.roundTrips
        try connection.write {
            connection.gatherInsertions()
            for number in 0..<7 { try connection.run("INSERT INTO t (a) VALUES (?1)", .integer(number)) }
        }
        #expect(connection.roundTrips == before + 1)
        #expect(try connection.integer("SELECT count(*) FROM t") == 7)
        for (first, twice) in [(10, 12), (20, 26), (30, 30)] {
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.write {
                    connection.gatherInsertions()
                    for number in Array(first..<first + 7) + [twice] {
                        try connection.run("INSERT INTO t (a, b) VALUES (?1, 'planted')", .integer(number))
                    }
                }
            }
            #expect(error?.code == .uniqueViolation)
            #expect(error?.state == .usable)
        }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.write {
                connection.gatherInsertions()
                try connection.run("INSERT INTO t (a) VALUES (50)")
                throw Stop()
            }
        }
        // The next transaction sends each by itself again.
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write {
                for number in [60, 61, 60] { try connection.run("INSERT INTO t (a) VALUES (?1)", .integer(number)) }
            }
        }
        #expect(error?.statement == 3)
        #expect(try connection.integer("SELECT count(*) FROM t") == 7)
    }

    @Test func `more kinds of statements than are put together are sent one by one`() throws {
        let connection = try connection("a bigint, b bigint")
        let statements = (0..<5).map { SQL("INSERT INTO t (a, b) VALUES (?1, \($0))") }
        var count = 0
        try connection.write {
            connection.gatherInsertions()
            for first in statements {
                for second in statements {
                    for third in statements {
                        for statement in [first, second, third] {
                            try connection.run(statement, [.integer(count)])
                            count += 1
                        }
                        #expect(try connection.integer("SELECT count(*) FROM t") == Int64(count))
                    }
                }
            }
        }
        #expect(try connection.integer("SELECT count(DISTINCT a) FROM t") == Int64(count))
    }

    @Test func `rows are added in their order, so that two who add the same ones do not wait for each other`() throws {
        let (one, two, watcher) = (try server.connect(), try server.connect(), try server.connect())
        let name = "g\(UInt32.random(in: 0...UInt32.max))"
        try one.execute(
            """
            CREATE TABLE \(name) (a bigint PRIMARY KEY);
            CREATE TABLE \(name)_of (a bigint REFERENCES \(name), b bigint UNIQUE)
            """
        )
        defer { #expect(throws: Never.self) { try one.execute("DROP TABLE \(name)_of, \(name)") } }
        let (first, second) = (SQL("INSERT INTO \(name) VALUES (?1)"), SQL("INSERT INTO \(name)_of VALUES (?1, ?1)"))
        let waiting = watcher.prepare(
            "SELECT 1 FROM pg_stat_activity WHERE pid = \(two.serverProcess) AND wait_event_type = 'Lock'"
        )
        try one.execute("BEGIN; INSERT INTO \(name) VALUES (1)")
        let error = #expect(throws: PostgreSQLError.self) {
            try two.write {
                two.gatherInsertions()
                try two.run(first, [.integer(1)])
                try two.run(second, [.integer(1)])
                // What adds nothing has them sent.
                try two.run("SELECT 1")
                while try waiting.first([], { $0.integer(0) }) == nil { usleep(1_000) }
                try one.execute("INSERT INTO \(name)_of VALUES (1, 1); COMMIT")
            }
        }
        #expect(error?.code == .uniqueViolation)
    }
}
