import Foundation
import SQL
import SQLite
import TestSupport
import Testing

struct ConnectionTests {
    private func connection(_ schema: String = "CREATE TABLE t (a, b)") throws -> Connection {
        let connection = try Connection(path: "", mode: .memory, busyTimeout: .zero)
        try connection.execute(schema)
        return connection
    }

    @Test func `every value comes back as it went in`() throws {
        let connection = try connection()
        let values: [Value] = [
            .null, .integer(0), .integer(Int64.min), .integer(Int64.max), .text(""), .text("ü\u{0}b"),
            .text("\u{1F600}"),
            .blob([]), .blob([0, 255, 0]), .blob([UInt8](repeating: 7, count: 100_000)),
        ]
        for value in values { try connection.run("INSERT INTO t VALUES (?1, typeof(?1))", value) }
        #expect(try connection.all("SELECT a FROM t ORDER BY rowid") { $0.value(0) } == values)
        #expect(try connection.integer("SELECT count(*) FROM t WHERE b = 'null'") == 1)
    }

    @Test func `a statement is reused without the values of its last use`() throws {
        let connection = try connection()
        for value in 1...3 { try connection.run("INSERT INTO t VALUES (?1, ?2)", .integer(value), .text("x")) }
        let insert = try connection.prepare("INSERT INTO t VALUES (?1, ?2)")
        try insert.run([.integer(4), .text("y")])
        try insert.run([.integer(5)])
        #expect(try connection.all("SELECT b FROM t ORDER BY a") { $0.optionalText(0) } == ["x", "x", "x", "y", nil])
    }

    @Test func `many statements are kept, each by the text it was made of`() throws {
        let connection = try connection()
        let texts = (0..<300).map { SQL("SELECT \($0)") }
        let statements = try texts.map { try connection.statement($0) }
        for (number, text) in texts.enumerated() {
            let statement = try connection.statement(text)
            #expect(statement === statements[number])
            #expect(try statement.first([]) { $0.integer(0) } == Int64(number))
        }
    }

    @Test func `a statement that was not read to its end can be run again`() throws {
        let connection = try connection()
        for value in 1...3 { try connection.run("INSERT INTO t VALUES (?1, 0)", .integer(value)) }
        struct Stop: Error {}
        for _ in 0..<3 {
            #expect(try connection.first("SELECT a FROM t ORDER BY a") { $0.integer(0) } == 1)
            #expect(throws: Stop.self) {
                try connection.forEach("SELECT a FROM t ORDER BY a") { _ in throw Stop() }
            }
        }
        try connection.execute("DROP TABLE t")
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"))
    func `an index of the log that finds no room on the disk is a full disk`() throws {
        let disk = try ReadOnlyMount(ofKind: "tmpfs", "size=300k,mode=0700")
        defer { disk.end() }
        let path = disk.path + "/a.db"
        try Data().write(to: URL(filePath: path))
        try Connection(path: path, mode: .readWrite, busyTimeout: .zero).execute(
            "PRAGMA journal_mode = WAL; CREATE TABLE t (a)"
        )
        try Shell.run("/bin/sh", "-c", "dd if=/dev/zero of=\"$0/rest\" bs=4k 2> /dev/null || true", disk.path)
        let error = #expect(throws: SQLiteError.self) {
            try Connection(path: path, mode: .readWrite, busyTimeout: .zero).execute("SELECT * FROM t")
        }
        #expect(error?.code == .diskFull)
    }

    @Test func `an error names the statement and never a value`() throws {
        let connection = try connection("CREATE TABLE t (a TEXT UNIQUE CHECK (a <> 'planted-bad')) STRICT")
        try connection.run("INSERT INTO t VALUES (?1)", .text("planted-one"))
        for value in ["planted-one", "planted-bad"] {
            let error = #expect(throws: SQLiteError.self) {
                try connection.run("INSERT INTO t VALUES (?1)", .text(value))
            }
            #expect(error?.code.primary == .constraint)
            #expect(error?.sql == "INSERT INTO t VALUES (?1)")
            #expect(error?.description.contains("planted-one") == false)
        }
        let missing = #expect(throws: SQLiteError.self) { try connection.run("SELECT * FROM absent") }
        #expect(missing?.description.contains("absent") == true)
    }

    @Test func `a transaction happens whole or not at all, also inside another`() throws {
        let connection = try connection()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.run("INSERT INTO t VALUES (1, 1)")
                _ = try connection.write { try connection.run("INSERT INTO t VALUES (2, 2)") }
                throw Stop()
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        _ = try connection.write { try connection.run("INSERT INTO t VALUES (1, 1)") }
        #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    }

    @Test func `a busy database is waited for, but not beyond the limit`() async throws {
        let directory = try TemporaryDirectory()
        try Shell.run("/usr/bin/sqlite3", directory.file("x.db"), "CREATE TABLE t (a)")
        let holder = try Connection(path: directory.file("x.db"), mode: .readWrite, busyTimeout: .zero)
        let waiter = try Connection(path: directory.file("x.db"), mode: .readWrite, busyTimeout: .milliseconds(30))
        try holder.write {
            let start = ContinuousClock.now
            let error = #expect(throws: SQLiteError.self) { try waiter.write {} }
            #expect(error?.code.primary == .busy)
            #expect(ContinuousClock.now - start >= .milliseconds(30))
        }
        _ = try waiter.write { try waiter.run("INSERT INTO t VALUES (1)") }
        #expect(try holder.integer("SELECT count(*) FROM t") == 1)
    }

    @Test(arguments: ["plain.db", "with space?#%.db", "ünï\u{1F600}.db", "file:x.db"])
    func `a path may hold any character, and a missing file is not created`(name: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file(name)
        let error = #expect(throws: SQLiteError.self) {
            try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
        }
        #expect(error?.code.primary == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
        try connection.execute("CREATE TABLE t (a)")
        #expect(try DamagedFile(path).bytes().count > 0)
    }

    @Test func `commits of another connection change the data version, and its own do not`() throws {
        let directory = try TemporaryDirectory()
        try Shell.run("/usr/bin/sqlite3", directory.file("x.db"), "CREATE TABLE t (a)")
        let one = try Connection(path: directory.file("x.db"), mode: .readWrite, busyTimeout: .zero)
        let other = try Connection(path: directory.file("x.db"), mode: .readWrite, busyTimeout: .zero)
        let before = try one.dataVersion()
        try one.run("INSERT INTO t VALUES (1)")
        #expect(try one.dataVersion() == before)
        try other.run("INSERT INTO t VALUES (2)")
        #expect(try one.dataVersion() != before)
    }

    @Test(arguments: [Connection.Mode.readWrite, .alone])
    func `a super-journal that a journal names is not opened, and stays`(mode: Connection.Mode) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("x.db")
        try Shell.run("/usr/bin/sqlite3", path, "CREATE TABLE t (a); INSERT INTO t VALUES (7)")
        let named = DamagedFile(try directory.write("precious", to: "named"))
        try DamagedFile(path).plantJournal(naming: named.path)
        let connection = try Connection(path: path, mode: mode, busyTimeout: .zero)
        let error = #expect(throws: SQLiteError.self) { try connection.execute("SELECT * FROM t") }
        #expect(error?.code.primary == .cannotOpen)
        #expect(try named.bytes() == Array("precious".utf8))
        // Without it, the database is as it was.
        let next = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
        #expect(try next.integer("SELECT a FROM t") == 7)
        #expect(try named.bytes() == Array("precious".utf8))
    }
}
