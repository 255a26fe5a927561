import Foundation
import PostgreSQL
import SQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads, .ifServerIsInstalled, .enabled(if: Bouncer.program != nil, "pgbouncer is installed"))
struct PoolerTests {
    @Test func `behind a transaction pooler nothing depends on the session`() throws {
        let server = try TestServer.shared.get()
        let bouncer = try Bouncer(server)
        let connections = try (0..<4).map { _ in try bouncer.connect() }
        let table = "p\(UInt32.random(in: 0...UInt32.max))"
        try connections[0].execute("CREATE TABLE \(table) (a bigint PRIMARY KEY, b text)")
        defer { #expect(throws: Never.self) { try connections[0].execute("DROP TABLE \(table)") } }
        for round in 0..<50 {
            for (index, connection) in connections.enumerated() {
                let number = round * 4 + index
                try connection.write {
                    try connection.prepare("INSERT INTO \(table) VALUES (?1, ?2)").run([.integer(number), .text("x")])
                    #expect(try connection.integer("SELECT ?1 + 1", .integer(number)) == Int64(number) + 1)
                }
                #expect(try connection.integer("SELECT ?1 + 2", .integer(number)) == Int64(number) + 2)
            }
        }
        let direct = try server.connect()
        #expect(try direct.prepare("SELECT count(*) FROM \(table)").first([]) { $0.integer(0) } == 200)
        #expect(
            try connections[1].integer("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%?1 +%'") == 0
        )
    }

    @Test func `many clients that share two sessions get their own answers`() throws {
        let bouncer = try Bouncer(try TestServer.shared.get())
        defer { withExtendedLifetime(bouncer) {} }
        let address = try bouncer.address()
        let failures = Mutex<[String]>([])
        let group = DispatchGroup()
        for client in 0..<12 {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    let connection = try Connection(to: address)
                    for round in 0..<100 { try Self.ask(Int64(1_000 * client + round), on: connection) }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        group.wait()
        #expect(failures.withLock { $0 } == [])
    }

    private struct WrongAnswer: Error {
        let answers: [Int64?]
    }

    /// Reads and writes; each transaction is more than a few statements, and so is sent in several packets.
    private static func ask(_ number: Int64, on connection: Connection) throws {
        func answers() throws -> [Int64?] {
            let first = try connection.ask("SELECT ?1 + 1", .integer(number))
            let second = try connection.ask("SELECT ?1 + 2", .integer(number))
            let last = try connection.integer("SELECT ?1 + 3", .integer(number))
            return [try first.integer(), try second.integer(), last]
        }
        let read = try connection.read(answers)
        let written = try connection.write {
            connection.tellAfterCommit("SELECT pg_notify('nobody', ?1)", .text("\(number)"))
            return try answers()
        }
        guard read == [number + 1, number + 2, number + 3], written == read else {
            throw WrongAnswer(answers: read + written)
        }
    }

    @Test func `through a pooler a batch waits for the answer to the last one`() throws {
        let proxy = try DelayingProxy(to: try TestServer.shared.get().port, roundTrip: .milliseconds(20))
        defer { proxy.stop() }
        let text = "postgresql://trusted@127.0.0.1:\(proxy.port)/tests?schema=public&pooler=transaction"
        let connection = try Connection(to: ServerAddress(text, origin: .argument) { _ in nil })
        defer { connection.close() }
        func roundTrips(_ body: () throws -> Void) rethrows -> Int {
            let before = proxy.roundTrips
            for _ in 0..<8 { try body() }
            return proxy.roundTrips - before
        }
        // The question, and the commit; that of the last one is not waited for. Sent ahead, it would take no trip.
        #expect(try roundTrips { try connection.read { _ = try connection.integer("SELECT 1") } } > 12)
        // The commit, and what is told after it.
        let writing = try roundTrips {
            try connection.write {
                try connection.run("SELECT 1")
                connection.tellAfterCommit("SELECT 2")
            }
        }
        #expect(writing > 12)
    }

    @Test func `the settings of a store hold in each transaction and in no other`() throws {
        let bouncer = try Bouncer(try TestServer.shared.get())
        let connection = try bouncer.connect()
        #expect(try connection.first("SHOW search_path") { $0.text(0) } == "public,pg_temp")
        #expect(
            try connection.write { try connection.first("SHOW plan_cache_mode") { $0.text(0) } } == "force_generic_plan"
        )
        #expect(try connection.read { try connection.first("SHOW lock_timeout") { $0.text(0) } } == "5s")
    }

    @Test func `a failure behind a pooler leaves no transaction open`() throws {
        let bouncer = try Bouncer(try TestServer.shared.get())
        let connection = try bouncer.connect()
        for _ in 0..<5 {
            let error = #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1 / 0") }
            #expect(error?.code.rawValue == "22012")
            #expect(error?.statement == 1)
            #expect(try connection.integer("SELECT 1") == 1)
            #expect(throws: PostgreSQLError.self) { try connection.write { try connection.run("SELECT 1 / 0") } }
        }
        #expect(!connection.isInTransaction)
    }

    @Test func `a database or a user that a pooler does not know is no server that is away`() throws {
        let cases: [(authentication: String, place: String, code: PostgreSQLError.Code)] = [
            ("any", "owner@/nothing", .invalidAuthorization), ("trust", "owner@/nothing", .unknownDatabase),
            ("trust", "stranger@/tests", .invalidPassword),
        ]
        for (authentication, place, code) in cases {
            let bouncer = try Bouncer(try TestServer.shared.get(), authentication: authentication)
            let text = "postgresql://\(place)?host=\(bouncer.directory)&port=6432&pooler=transaction"
            let address = try ServerAddress(text, origin: .argument) { _ in nil }
            let error = #expect(throws: PostgreSQLError.self) { _ = try Connection(to: address) }
            #expect(error?.code == code, "\(String(describing: error))")
        }
    }

    @Test func `a pooler that the address does not name refuses the settings of a session`() throws {
        let bouncer = try Bouncer(try TestServer.shared.get())
        let error = #expect(throws: PostgreSQLError.self) { _ = try bouncer.connect("") }
        #expect(error?.message.contains("pooler=transaction") == true)
    }

    @Test func `a pooler that allows no transactions says so, and the answers are not out of step`() throws {
        let bouncer = try Bouncer(try TestServer.shared.get(), mode: "statement")
        let connection = try bouncer.connect()
        #expect(try connection.integer("SELECT 1") == 1)
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.write { _ = try connection.integer("SELECT 1") }
        }
        #expect(error?.code == .statementPooler)
        #expect(error?.state == .lost)
        #expect(error?.message == "transaction blocks not allowed in statement pooling mode")
    }
}
