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
    /// Where its schema cannot be read, that of a new store of the same version is put into it.
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
        let grafted = try Self.graft(known, onto: copy)
        let stored = try? grafted.recordedVersion().map { Int($0) }
        guard let version = stored ?? nil, (1..<known).contains(version) else {
            self.init(connection: grafted, version: known)
            return
        }
        try restore()
        self.init(connection: try Self.graft(version, onto: copy), version: version)
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

    private static func graft(_ version: Int, onto copy: String) throws -> Connection {
        for suffix in ["-wal", "-shm", "-journal"] { unlink(copy + suffix) }
        try SchemaGraft(template: Schema.model(of: version)).apply(to: copy)
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
