import TestSupport
import Testing

@testable import SQLite

struct LogHeaderTests {
    private func connections() throws -> (Connection, Connection) {
        let directory = try TemporaryDirectory()
        let path = directory.file("x.db")
        try Shell.run("/usr/bin/sqlite3", path, "PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
        let (one, other) = (
            try Connection(path: path, mode: .readWrite, busyTimeout: .zero),
            try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
        )
        for connection in [one, other] { _ = try connection.integer("SELECT count(*) FROM t") }
        return (one, other)
    }

    @Test func `each commit of any connection changes it, and counts one`() throws {
        let (one, other) = try connections()
        let header = try #require(try LogHeader(of: one))
        for connection in [one, other] {
            let before = header.words
            try connection.run("INSERT INTO t VALUES (1)")
            #expect(header.words != before)
            #expect(header.words.commitCount == before.commitCount + 1)
        }
    }

    @Test func `reading, an empty transaction and one that is taken back leave it as it is`() throws {
        let (one, other) = try connections()
        let header = try #require(try LogHeader(of: one))
        let before = header.words
        _ = try other.integer("SELECT count(*) FROM t")
        try other.write {}
        #expect(throws: CancellationError.self) {
            try other.write {
                try other.run("INSERT INTO t VALUES (1)")
                throw CancellationError()
            }
        }
        #expect(header.words == before)
    }

    @Test func `a log that is begun anew goes on counting`() throws {
        let (one, other) = try connections()
        let header = try #require(try LogHeader(of: one))
        try other.run("INSERT INTO t VALUES (1)")
        let count = header.words.commitCount
        #expect(try other.checkpointTruncating())
        #expect(header.words.commitCount == count)
        try other.run("INSERT INTO t VALUES (2)")
        #expect(header.words.commitCount == count + 1)
    }

    @Test func `a file without a log has none`() throws {
        let directory = try TemporaryDirectory()
        try Shell.run("/usr/bin/sqlite3", directory.file("x.db"), "CREATE TABLE t (a)")
        let connection = try Connection(path: directory.file("x.db"), mode: .readWrite, busyTimeout: .zero)
        _ = try connection.integer("SELECT count(*) FROM t")
        let header = try LogHeader(of: connection)
        #expect(header == nil)
    }
}
