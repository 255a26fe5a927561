import CPostgreSQL
import Foundation
import SQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import PostgreSQL

@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct PoolTests {
    private let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    /// Runs `body` on so many threads at once and waits for them.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failures = Mutex<[String]>([])
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do { try body(index) } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        group.wait()
        #expect(failures.withLock { $0 } == [])
    }

    @Test func `more threads than connections take turns`() throws {
        let pool = ConnectionPool(to: try server.address(), size: 3)
        let processes = Mutex<Set<Int32>>([])
        try onThreads(12) { index in
            for _ in 0..<10 {
                let (process, answer) = try pool.withConnection { connection in
                    (connection.serverProcess, try connection.integer("SELECT ?1 + 0", .integer(index)))
                }
                #expect(answer == Int64(index))
                processes.withLock { _ = $0.insert(process) }
            }
        }
        #expect(processes.withLock { $0.count } <= 3)
        #expect(pool.count <= 3)
        #expect(pool.idleCount == pool.count)
    }

    @Test func `a thread that gets no connection in time is told so`() throws {
        let pool = ConnectionPool(to: try server.address(), size: 1)
        try pool.withConnection { _ in
            let error = #expect(throws: PostgreSQLError.self) {
                try pool.withConnection(patience: .milliseconds(20)) { _ in }
            }
            #expect(error?.code == .poolExhausted)
        }
        #expect(try pool.withConnection { try $0.integer("SELECT 1") } == 1)
    }

    @Test func `a connection that broke or was left in a transaction is not lent again`() throws {
        let pool = ConnectionPool(to: try server.address(), size: 1)
        let first = try pool.withConnection { $0.serverProcess }
        #expect(try pool.withConnection { $0.serverProcess } == first)
        let other = try server.connect()
        _ = try other.first("SELECT pg_terminate_backend(?1::int, 5000)", .integer(Int(first))) { $0.bool(0) }
        let second = try pool.withConnection { try #require(try $0.integer("SELECT pg_backend_pid()")) }
        #expect(second != Int64(first))
        try pool.withConnection { try $0.execute("BEGIN") }
        #expect(pool.count == 0)
        try pool.withConnection { connection in try connection.read { _ = try connection.integer("SELECT 1") } }
        #expect(pool.idleCount == 1)
    }

    @Test func `what is kept with a connection is there for the next user, and goes with the connection`() throws {
        final class Note {}
        let pool = ConnectionPool(to: try server.address(), size: 1)
        let (note, process) = (Note(), try pool.withConnection { $0.serverProcess })
        try pool.withConnection { _, kept in kept = note }
        try pool.withConnection { connection, kept in
            #expect(kept === note)
            #expect(connection.serverProcess == process)
            connection.close()
        }
        try pool.withConnection { _, kept in #expect(kept == nil) }
    }

    @Test func `a place is free again when its connection could not be made`() throws {
        let pool = ConnectionPool(to: try server.address(database: "absent"), size: 1)
        for _ in 0..<3 {
            let error = #expect(throws: PostgreSQLError.self) { try pool.withConnection { _ in } }
            #expect(error?.code == .unknownDatabase)
        }
        #expect(pool.count == 0)
    }

    @Test func `a closed pool lends nothing`() throws {
        let pool = ConnectionPool(to: try server.address(), size: 2)
        try pool.withConnection { _ in pool.close() }
        #expect(pool.count == 0)
        #expect(throws: PostgreSQLError.self) { try pool.withConnection { _ in } }
    }
}

@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ListenerTests {
    private let server: TestServer
    private let channel = "c\(UInt32.random(in: 0...UInt32.max))"

    init() throws { server = try TestServer.shared.get() }

    @Test func `what is sent to the channel is heard, in order and once`() throws {
        let listener = try Listener(to: server.address(), channel: channel)
        let sender = try server.connect()
        for payload in ["one", "two", ""] {
            try sender.run("SELECT pg_notify(?1, ?2)", .text(channel), .text(payload))
        }
        try sender.run("SELECT pg_notify(?1, 'elsewhere')", .text("other_" + channel))
        var heard: [Listener.Notification] = []
        while heard.count < 3 { heard += try listener.wait(for: .seconds(5)) }
        #expect(heard.map(\.payload) == ["one", "two", ""])
        #expect(heard.allSatisfy { $0.serverProcess == sender.serverProcess })
        #expect(try listener.wait(for: .zero).isEmpty)
    }

    @Test func `messages that a connection did not ask for are not kept`() throws {
        let connection = try server.connect()
        // A hostile server sends them without that.
        try connection.execute("LISTEN \"\(channel)\"")
        try server.connect().run("SELECT pg_notify(?1, 'unasked')", .text(channel))
        for _ in 0..<3 { #expect(try connection.integer("SELECT 1") == 1) }
        #expect(connection.isAlive)
        let pipeline = connection.pipeline
        let left: UnsafeMutablePointer<PGnotify>? = try pipeline.library.call.pointee.PQnotifies(pipeline.open())
        #expect(left == nil)
    }

    @Test func `a heartbeat tells a quiet server from one that is gone`() throws {
        var options = Connection.Options()
        options.patience = .seconds(4)
        let listener = try Listener(
            to: server.address(),
            channel: channel,
            heartbeat: .milliseconds(20),
            options: options
        )
        let before = listener.lastSign
        #expect(try listener.wait(for: .milliseconds(100)).isEmpty)
        #expect(listener.lastSign > before)
        let process = listener.serverProcess
        kill(process, SIGSTOP)
        let error = #expect(throws: PostgreSQLError.self) { _ = try listener.wait(for: .seconds(60)) }
        kill(process, SIGCONT)
        #expect(error?.code == .timedOut)
    }

    @Test func `a listener whose session was ended says so at once`() throws {
        let listener = try Listener(to: server.address(), channel: channel, heartbeat: .seconds(60))
        let other = try server.connect()
        try other.run("SELECT pg_terminate_backend(?1::int, 5000)", .integer(Int(listener.serverProcess)))
        let error = #expect(throws: PostgreSQLError.self) { _ = try listener.wait(for: .seconds(20)) }
        #expect(error?.state == .lost)
    }

    @Test func `a listener needs a plain name and a session of its own`() throws {
        let address = try server.address()
        let pooled = try server.address("&pooler=transaction")
        for name in ["", "Upper", "a\"b", "a;b", String(repeating: "a", count: 64)] {
            #expect(throws: PostgreSQLError.self) { _ = try Listener(to: address, channel: name) }
        }
        let error = #expect(throws: PostgreSQLError.self) { _ = try Listener(to: pooled, channel: "good") }
        #expect(error?.code == .unsupported)
    }
}
