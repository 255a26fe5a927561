import Database
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A copy of a damaged store, opened as far as that goes.
struct DamagedStore {
    let connection: Connection

    /// The schema version that its rows are of.
    let version: Int

    /// Opens `copy`, a private copy of the store at `path` with its log, which is changed by that.
    ///
    /// Where its schema cannot be read, the pages of it that are left are put together, or else that of a new store of
    /// the same version is put into it.
    ///
    /// - Throws: ``TokenStoreError/Code/newerStore`` if the file says twice that it is of a
    ///   newer version: what a newer schema has besides would be lost.
    init(copy: String, of path: StorePath, restore: () throws -> Void) throws {
        try restore()
        let known = Schema.current.version
        if let opened = try? Self.open(copy), (try? opened.headerCount()) != nil {
            try Self.refuseNewer(opened, path)
            self.init(connection: opened, version: try Self.version(of: opened))
            return
        }
        if let own = try Self.withOwnSchema(copy, restore) {
            self.init(connection: own.connection, version: own.version)
            return
        }
        let grafted = try Self.graft(known, onto: copy, restore)
        let stored = try? grafted.recordedVersion().map { Int($0) }
        guard let version = stored ?? nil, (1..<known).contains(version) else {
            self.init(connection: grafted, version: known)
            return
        }
        self.init(connection: try Self.graft(version, onto: copy, restore), version: version)
    }

    private init(connection: Connection, version: Int) {
        self.connection = connection
        self.version = version
    }

    private static func open(_ copy: String) throws -> Connection {
        let connection = try Connection(path: copy, mode: .readWrite, busyTimeout: .zero)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        return connection
    }

    /// The copy with a first page that names the other pages of its own schema; nil where these do not hold all of it.
    private static func withOwnSchema(_ copy: String, _ restore: () throws -> Void) throws -> DamagedStore? {
        try restore()
        for suffix in ["-shm", "-journal"] { unlink(copy + suffix) }
        let graft = try SchemaGraft(template: Schema.model(of: Schema.current.version))
        guard try graft.applyOwnSchema(of: copy) else { return nil }
        for suffix in ["-shm", "-wal"] { unlink(copy + suffix) }
        guard let connection = try? open(copy), (try? connection.headerCount()) != nil,
            let found = try? Self.version(of: connection), let columns = try? connection.columnNames()
        else { return nil }
        // A page that is missing among them would take its tables along.
        guard try Schema.model(of: found).columnNames().isSubset(of: columns) else { return nil }
        return DamagedStore(connection: connection, version: found)
    }

    /// Puts the schema of a version into the copy, in the way in which most of its tables can be read.
    ///
    /// The newest commits may be in the log alone: without it older tokens would come back that are spent.
    private static func graft(_ version: Int, onto copy: String, _ restore: () throws -> Void) throws -> Connection {
        let model = try Schema.model(of: version)
        let tables = try model.tableNames()
        let graft = try SchemaGraft(template: model)
        // A purge of everything has written the file anew, with all tables before all indexes.
        try model.vacuum()
        let rewritten = try SchemaGraft(template: model)
        var best = (graft: graft, keepsLog: false, readable: -1)
        for (graft, keepsLog) in [(graft, true), (rewritten, true), (graft, false), (rewritten, false)] {
            let connection = try apply(graft, to: copy, keepingLog: keepsLog, restore)
            let readable = connection.readableCount(of: tables)
            if readable == tables.count { return connection }
            if readable > best.readable { best = (graft, keepsLog, readable) }
        }
        return try apply(best.graft, to: copy, keepingLog: best.keepsLog, restore)
    }

    private static func apply(
        _ graft: SchemaGraft,
        to copy: String,
        keepingLog keepsLog: Bool,
        _ restore: () throws -> Void
    ) throws -> Connection {
        try restore()
        for suffix in ["-shm", "-journal"] + (keepsLog ? [] : ["-wal"]) { unlink(copy + suffix) }
        try graft.apply(to: copy, keepingLog: keepsLog)
        return try open(copy)
    }

    private static func refuseNewer(_ connection: Connection, _ path: StorePath) throws {
        // A header that cannot be read is part of the damage.
        guard let header = try? StoreHeader(connection, at: path), header.schemaVersion == header.userVersion,
            header.userVersion > Schema.current.version
        else { return }
        throw TokenStoreError.newerStore(
            version: header.userVersion,
            writtenBy: header.writtenBy,
            isReadable: header.readerFloor <= Schema.current.version
        )
    }

    /// The version whose tables are most like those that are there; of several, what the file says in two places.
    private static func version(of connection: Connection) throws -> Int {
        let numbers = [
            try? connection.recordedVersion(), try? connection.integer("PRAGMA user_version"),
        ]
        let known = 1...Schema.current.version
        let stored = numbers.compactMap { $0.flatMap { Int(exactly: $0) } }.filter(known.contains)
        let found = try connection.columnNames()
        var best = (version: Schema.current.version, distance: Int.max)
        for version in stored + known.reversed() {
            let distance = try found.symmetricDifference(Schema.model(of: version).columnNames()).count
            if distance < best.distance { best = (version, distance) }
            if distance == 0 { break }
        }
        return best.version
    }
}

extension Schema {
    /// A database in memory with the tables of a version, and no rows.
    static func model(of version: Int) throws -> Connection {
        let model = try Connection(path: "", mode: .memory, busyTimeout: .zero)
        let schema = Schema(migrations: Array(current.migrations.prefix(version)))
        try model.execute("PRAGMA application_id = \(applicationID)")
        try schema.apply(schema.migrations[...], to: model)
        return model
    }
}

extension Connection {
    fileprivate func tableNames() throws -> [String] {
        try all("SELECT name FROM sqlite_schema WHERE type = 'table'") { $0.text(0) }
    }

    /// How many of the tables begin with a page of a table, whatever is below it.
    fileprivate func readableCount(of tables: [String]) -> Int {
        tables.count { table in
            // An index might answer for its table.
            (try? prepare("SELECT 1 FROM \(table) NOT INDEXED LIMIT 1").forEach([]) { _ in false }) != nil
        }
    }

    fileprivate func columnNames() throws -> Set<String> {
        Set(
            try all(
                """
                SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'
                """
            ) { $0.text(0) }
        )
    }
}
