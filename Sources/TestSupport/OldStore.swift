import Database
import Foundation
public import TokenStorage

/// A store as an older version of this program left it, whose rows are in a file of the repository.
public enum OldStore {
    /// The rows of the file.
    public enum Rows: String {
        /// Two accounts and what belongs to them.
        case twoAccounts = "old-store-two-accounts.sql"
        /// Twelve accounts, each with one refresh token.
        case twelveAccounts = "old-store-twelve-accounts.sql"
    }

    /// The version whose rows the file holds.
    private static let recorded = 7

    /// The versions that a release has known, but for the current one; the first four steps make one release.
    public static let versions = 4..<Migration.all.count

    /// Makes a store of a schema version, with its key beside it, in an empty directory.
    public static func make(at path: StorePath, version: Int, rows: Rows) throws {
        let file = Repository.root.appending(path: "Tests/Fixtures").appending(path: rows.rawValue)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let key = lines.first { $0.hasPrefix("-- key ") }?.dropFirst("-- key ".count) ?? ""
        try write(Data(hexadecimal: key), to: path.directory + "/key")
        try write(Data(), to: path.database)
        let recording = try Connection(path: "", mode: .memory, busyTimeout: .zero)
        for migration in Migration.all.prefix(recorded) { try recording.execute(migration.sql) }
        try recording.execute(lines.joined(separator: "\n"))
        let store = try Connection(path: path.database, mode: .readWrite, busyTimeout: .zero)
        try store.execute("PRAGMA application_id = 0x746B7374; PRAGMA synchronous = OFF")
        for migration in Migration.all.prefix(min(version, recorded)) { try store.execute(migration.sql) }
        try copy(recording, to: store)
        for migration in Migration.all.prefix(version).dropFirst(recorded) { try store.execute(migration.sql) }
        let steps = Migration.all.prefix(version)
        try store.execute(
            """
            PRAGMA user_version = \(version);
            UPDATE store SET schema_version = \(version), reader_floor = \(steps.map(\.readerFloor).max() ?? 0),
                writer_floor = \(steps.map(\.writerFloor).max() ?? 0);
            PRAGMA journal_mode = WAL
            """
        )
    }

    private static func write(_ bytes: Data, to path: String) throws {
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Copies the columns that both have.
    private static func copy(_ recording: Connection, to store: Connection) throws {
        let tables = try store.all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ) { $0.text(0) }
        for table in tables {
            var columns: [String] = []
            try store.prepare("SELECT name FROM pragma_table_info('\(table)')").forEach([]) { row in
                columns.append(row.text(0))
                return true
            }
            let names = columns.joined(separator: ", ")
            let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            let insert = try store.prepare("INSERT INTO \(table) (\(names)) VALUES (\(places))")
            try recording.prepare("SELECT \(names) FROM \(table)").forEach([]) { row in
                try insert.run((0..<row.columnCount).map { row.value($0) })
                return true
            }
        }
    }
}

extension Data {
    fileprivate init(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
