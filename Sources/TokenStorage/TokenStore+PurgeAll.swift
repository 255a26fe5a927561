import SQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension TokenStore {
    /// Deletes everything: accounts, tokens, claims, states and what imports left; needs no key.
    ///
    /// A file too damaged to be read is overwritten and removed. The key stays.
    ///
    /// - Returns: what was deleted; zeros where the file could not be read.
    public static func purgeAll(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) throws -> PurgeCounts {
        var options = options
        options.unlocks = false
        do {
            guard let store = try inspect(at: path, options: options) else { return PurgeCounts() }
            let counts = try store.read { try $0.totals() }
            if !dryRun { try open(at: path, options: options).deleteEverything() }
            return counts
        } catch let error as TokenStoreError where error.kind == .damaged {
            if !dryRun { try destroy(path, timeout: options.busyTimeout) }
            return PurgeCounts()
        }
    }

    private func deleteEverything() throws {
        try forgetting { session in
            for table in [
                "refresh_attempt", "throttle", "issuer_document", "access_token", "refresh_token", "id_token",
                "tenant_profile", "account", "account_state", "authority_map", "sign_out", "app_metadata",
                "foreign_entry",
                "mark_key",
            ] {
                try session.connection.execute("DELETE FROM \(table)")
            }
            // One entry stays, so that the ids go on rising: who waits for changes knows the last one.
            try session.record(.purge, outcome: "everything")
            try session.connection.execute("DELETE FROM event WHERE id < (SELECT max(id) FROM event)")
        }
    }

    /// Overwrites and removes the files of a store that cannot be read.
    private static func destroy(_ path: StorePath, timeout: Duration) throws {
        try FileGuard(path: path, isInspection: false).checkDirectory()
        let lock = try KernelLock(.schema, of: path, timeout: timeout)
        defer { withExtendedLifetime(lock) {} }
        let isFile = FileStatus(path.database)?.kind == .regular
        let access = isFile ? try SoleAccess.wait(for: path, timeout: timeout) : nil
        defer { withExtendedLifetime(access) {} }
        for name in [path.database, path.log, path.sharedMemory] {
            guard let status = FileStatus(name) else { continue }
            guard status.kind != .directory else {
                throw TokenStoreError.damaged("\(name) is a directory; remove it yourself if nothing in it is needed")
            }
            if status.kind == .regular, status.links == 1 { try overwrite(name, count: Int(status.size)) }
            guard unlink(name) == 0 else { throw StoreFile.failure("removed", name) }
        }
        try StoreFile(path: path, timeout: timeout).synchronize(path.directory)
    }

    private static func overwrite(_ name: String, count: Int) throws {
        let descriptor = StoreFile.openExisting(name)
        guard descriptor >= 0 else { throw StoreFile.failure("opened", name) }
        defer { close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var written = 0
        while written < count {
            let result = zeros.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, min($0.count, count - written), off_t(written))
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw StoreFile.failure("overwritten", name) }
            written += result
        }
        guard fsync(descriptor) == 0 else { throw StoreFile.failure("overwritten", name) }
    }
}

extension StoreSession {
    /// How much the store holds.
    func totals() throws -> PurgeCounts {
        var counts = PurgeCounts()
        try connection.forEach(
            """
            SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM access_token),
                (SELECT count(*) FROM refresh_token), (SELECT count(*) FROM id_token)
            """
        ) { row in
            counts.accounts = Int(row.integer(0))
            counts.accessTokens = Int(row.integer(1))
            counts.refreshTokens = Int(row.integer(2))
            counts.idTokens = Int(row.integer(3))
        }
        return counts
    }
}
