import SQLite
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes a sound store of a damaged one.
struct StoreRepair {
    let path: StorePath
    let options: StoreOptions
    let progress: ((Progress) -> Void)?

    private var file: StoreFile { StoreFile(path: path, timeout: options.busyTimeout) }
    private var copy: String { path.database + ".salvage" }

    func run() throws -> RepairReport {
        let files = FileGuard(path: path, isInspection: false)
        try files.checkDirectory()
        try files.checkDatabase()
        try StoreFiles(path, source: options.keySource).requireOwnDatabase()
        let lock = try KernelLock(.schema, of: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(lock) {} }
        // What another connection committed while its file is being replaced would be lost.
        let access = try SoleAccess.wait(for: path, timeout: options.busyTimeout)
        defer { withExtendedLifetime(access) {} }
        try StoreFiles(path, source: options.keySource).removeDraft(copy)
        defer { file.remove(copy) }
        try file.copy(path.database, to: copy)
        if FileStatus(path.log) != nil { try file.copy(path.log, to: copy + "-wal") }
        var salvaged: [(table: String, rows: Int)] = []
        var lost: [(table: String, rows: Int?)] = []
        try file.create(as: path.unfinished) { fresh in
            try Schema.current.apply(Schema.current.migrations[...], to: fresh)
            let damaged = try openDamaged(like: fresh)
            var tables = TableSalvage(from: damaged, to: fresh, progress: progress)
            try tables.run { try StoreSession.unlocked(fresh, at: path, options: options) }
            // The tables hold the connection, which has to be closed before its file takes another name.
            (salvaged, lost) = (tables.salvaged, tables.lost)
        }
        let kept = try replaceDamaged()
        return RepairReport(damagedCopy: kept, salvaged: salvaged, lost: lost)
    }

    /// Opens the copy; where its schema cannot be read, that of a new store is put into it.
    private func openDamaged(like fresh: Connection) throws -> Connection {
        if let connection = try? open(copy), (try? connection.integer("SELECT count(*) FROM store")) != nil {
            try refuseNewer(connection)
            return connection
        }
        removeLogCopies()
        try SchemaGraft(template: fresh).apply(to: copy)
        return try open(copy)
    }

    /// What a newer schema has besides would be lost.
    private func refuseNewer(_ connection: Connection) throws {
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

    private func open(_ name: String) throws -> Connection {
        let connection = try Connection(path: name, mode: .readWrite, busyTimeout: options.busyTimeout)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        return connection
    }

    /// Puts the new file in the place of the damaged one, which keeps a name at every moment.
    private func replaceDamaged() throws -> String {
        var kept = "\(path.database).damaged-\(options.seconds)"
        var number = 2
        while FileStatus(kept) != nil {
            kept = "\(path.database).damaged-\(options.seconds)-\(number)"
            number += 1
        }
        guard link(path.database, kept) == 0 else { throw StoreFile.failure("kept as \(kept)", path.database) }
        if FileStatus(path.log).map({ $0.size > 0 }) ?? false, rename(path.log, kept + "-wal") != 0 {
            throw StoreFile.failure("kept", path.log)
        }
        unlink(path.log)
        unlink(path.sharedMemory)
        guard rename(path.unfinished, path.database) == 0 else { throw StoreFile.failure("replaced", path.database) }
        try file.synchronize(path.directory)
        return kept
    }

    private func removeLogCopies() {
        for suffix in ["-wal", "-shm", "-journal"] { unlink(copy + suffix) }
    }
}

extension StoreSession {
    /// A session on a file that is being made, with its keys.
    static func unlocked(_ connection: Connection, at path: StorePath, options: StoreOptions) throws -> StoreSession {
        let header = try StoreHeader(connection, at: path)
        let session = StoreSession(connection, at: path, header: header, options: options)
        _ = try session.keys()
        return session
    }
}
