import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A store that no program has open is read without locks; one that comes meanwhile is no damage.
@Suite(.aboutFiles("a file is inspected without locks"))
struct UnlockedReadTests {
    /// A copy of a store with its key and nothing else, which is read without locks.
    final class Copy {
        let directory: TemporaryDirectory
        let path: StorePath
        let options: StoreOptions

        init(timeout: Duration = .seconds(5)) throws {
            let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
            directory = try TemporaryDirectory()
            for name in ["tokenstore.db", "key"] {
                try FileManager.default.copyItem(atPath: fixture.directory.file(name), toPath: directory.file(name))
            }
            path = StorePath(directory.path)
            var options = fixture.options
            options.busyTimeout = timeout
            self.options = options
        }

        func inspect() throws -> StoreInspection {
            try #require(try TokenStore.inspect(at: path, options: options))
        }

        /// Takes the access tokens away in another process, which keeps the store open.
        func write() throws -> SQLiteShell { try UnlockedReadTests.write(to: path.database) }
    }

    static func write(to database: String) throws -> SQLiteShell {
        let shell = try SQLiteShell(database)
        try shell.run("DELETE FROM access_token; SELECT 1;")
        return shell
    }

    private static func tokens(_ session: StoreConnection) throws -> Int64? {
        try session.connection.integer("SELECT count(*) FROM access_token")
    }

    @Test(arguments: [true, false])
    func `a read that a writer comes into is done again, and what looked like damage is none`(
        isTorn: Bool
    ) throws {
        let copy = try Copy()
        let inspection = try copy.inspect()
        var writer: SQLiteShell?
        let counts = try inspection.read { session in
            let before = try Self.tokens(session)
            if writer == nil {
                writer = try copy.write()
                if isTorn { throw TokenStoreError(.damaged, "torn") }
            }
            return try [before, Self.tokens(session)]
        }
        #expect(counts == [0, 0])
        try writer?.end()
        withExtendedLifetime(copy) {}
    }

    @Test func `a writer that came and went is noticed too`() throws {
        let copy = try Copy()
        let inspection = try copy.inspect()
        var runs = 0
        let count = try inspection.read { session in
            runs += 1
            // The shell takes the log and its index along.
            if runs == 1 { try copy.write().end() }
            return try Self.tokens(session)
        }
        #expect(runs == 2)
        #expect(count == 0)
        withExtendedLifetime(copy) {}
    }

    @Test func `a read whose caller was told nothing yet is done again, whatever it returns`() throws {
        let copy = try Copy()
        let inspection = try copy.inspect()
        var runs = 0
        try inspection.connections.read(isTold: false) { _ in
            runs += 1
            if runs == 1 { try copy.write().end() }
        }
        #expect(runs == 2)
        withExtendedLifetime(copy) {}
    }

    @Test func `a list that was begun is not begun again, and the store is busy and not damaged`() throws {
        let copy = try Copy()
        let inspection = try copy.inspect()
        var writer: SQLiteShell?
        expectError(.busy) {
            try inspection.forEachAccount { _ in
                writer = try copy.write()
                throw TokenStoreError(.damaged, "torn")
            }
        }
        var names: [String] = []
        try inspection.forEachAccount { names.append($0.account.username) }
        #expect(names == ["ada@example.net"])
        try writer?.end()
        withExtendedLifetime(copy) {}
    }

    @Test func `an export that was begun is not written twice`() throws {
        let copy = try Copy()
        let inspection = try copy.inspect()
        var writer: SQLiteShell?
        var document: [UInt8] = []
        expectError(.busy) {
            try inspection.exportMSALCache { piece in
                document.append(contentsOf: piece)
                if writer == nil { writer = try copy.write() }
            }
        }
        // Two documents in a row would be none.
        _ = try JSONValue(parsing: String(decoding: document, as: UTF8.self))
        try writer?.end()
        withExtendedLifetime(copy) {}
    }

    @Test func `damage that nobody is writing stays damage`() throws {
        let copy = try Copy()
        let inspection = try copy.inspect()
        expectError(.damaged) {
            _ = try inspection.read { _ -> Int in throw TokenStoreError(.damaged, "torn", .repair) }
        }
        withExtendedLifetime(copy) {}
    }
}
