import CSQLite

#if canImport(Darwin)
import Darwin
#endif

extension Connection {
    /// Copies the write-ahead log into the database and empties it.
    ///
    /// - Returns: false if another connection still reads the log, so that it could not be emptied.
    package func checkpointTruncating() throws(SQLiteError) -> Bool {
        let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if result & 0xFF == SQLITE_BUSY || result & 0xFF == SQLITE_LOCKED { return false }
        guard result == SQLITE_OK else { throw SQLiteError(result, on: handle) }
        return true
    }

    /// Keeps the `-wal` and `-shm` files when the last connection closes.
    ///
    /// A reader that may not write needs both to be there.
    package func keepLogFiles() {
        var on: CInt = 1
        sqlite3_file_control(handle, nil, SQLITE_FCNTL_PERSIST_WAL, &on)
    }

    /// Whether another file now has the name that this file was opened by.
    package var hasMoved: Bool {
        var moved: CInt = 0
        sqlite3_file_control(handle, nil, SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// A number that changes with every commit of another connection, in this process or not.
    ///
    /// To a connection that may not write the index of an empty log it may change with every transaction.
    package func dataVersion() throws -> Int64 { try integer("PRAGMA data_version") ?? 0 }

    /// The problems `PRAGMA integrity_check` (or the cheaper `quick_check`) finds; empty when the file is sound.
    package func integrityProblems(quick: Bool) throws -> [String] {
        try problems(quick ? "PRAGMA quick_check(20)" : "PRAGMA integrity_check(100)")
    }

    /// The same of one table and its indexes; a library before 3.33 looks at all of them.
    package func integrityProblems(ofTable name: String) throws -> [String] {
        try problems("PRAGMA integrity_check('\(name)')")
    }

    private func problems(_ check: String) throws -> [String] {
        let lines = try prepare(check).all([]) { $0.text(0) }
        if lines == ["ok"] { return [] }
        // The first problem of a file comes on a second line, below its name.
        return lines.map { $0.split(separator: "\n").filter { !$0.hasPrefix("***") }.joined(separator: ", ") }
    }

    /// Up to `count` bytes of the file as they are, whatever they mean; nil if they cannot be read.
    ///
    /// Through the descriptor of the connection: to close one of our own would take the locks of every connection of
    /// this process from the file.
    package func bytes(at offset: Int64, count: Int) -> [UInt8]? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        var size: sqlite3_int64 = 0
        guard methods.pointee.xFileSize(file, &size) == SQLITE_OK else { return nil }
        let length = Int(min(Int64(count), max(0, size - offset)))
        var bytes = [UInt8](repeating: 0, count: length)
        guard length == 0 || methods.pointee.xRead(file, &bytes, CInt(length), offset) == SQLITE_OK else { return nil }
        return bytes
    }

    /// Copies every page into `target`, as this connection sees them in the read transaction that it is in, whatever
    /// others write meanwhile.
    ///
    /// `progress` hears how many pages are copied, and of how many; an error that it throws ends the copying.
    package func copyPages(to target: Connection, progress: (Int, Int) throws -> Void) throws {
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_errcode(target.handle), on: target.handle)
        }
        var result = SQLITE_OK
        do {
            while result == SQLITE_OK {
                result = sqlite3_backup_step(backup, 1024)
                let count = sqlite3_backup_pagecount(backup)
                try progress(Int(count - sqlite3_backup_remaining(backup)), Int(count))
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        let end = sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLiteError(result == SQLITE_DONE ? end : result, on: target.handle)
        }
    }

    /// The bytes of the database as a file would hold them.
    package func image() throws(SQLiteError) -> [UInt8] {
        var size: sqlite3_int64 = 0
        guard let start = sqlite3_serialize(handle, "main", &size, 0) else {
            throw SQLiteError(SQLITE_NOMEM, on: handle)
        }
        defer { sqlite3_free(start) }
        return Array(UnsafeBufferPointer(start: start, count: Int(size)))
    }
}

// MARK: - Emptying a whole database

extension Connection {
    /// Runs `body`, which may begin transactions, without looking after rows that refer to others.
    package func withoutReferences<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("PRAGMA foreign_keys = OFF")
        let outcome = Swift.Result(catching: body)
        try execute("PRAGMA foreign_keys = ON")
        return try outcome.get()
    }

    /// Runs `body` without overwriting what it deletes; a ``vacuum()`` has to follow.
    package func withoutOverwriting<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("PRAGMA secure_delete = OFF")
        let outcome = Swift.Result(catching: body)
        try execute("PRAGMA secure_delete = ON")
        return try outcome.get()
    }

    /// Runs `body` with room for so many megabytes of pages in memory; nil: as many as there are.
    package func withCache<Result>(of megabytes: Int?, _ body: () throws -> Result) throws -> Result {
        guard let megabytes else { return try body() }
        let usual = try integer("PRAGMA cache_size") ?? -16384
        try execute("PRAGMA cache_size = -\(megabytes * 1024)")
        let outcome = Swift.Result(catching: body)
        try execute("PRAGMA cache_size = \(usual)")
        return try outcome.get()
    }

    /// Writes the database anew, without the pages that nothing is in.
    package func vacuum() throws { try execute("VACUUM") }
}

/// File systems that SQLite's write-ahead log may be used on.
package enum FileSystem {
    /// The name of the file system that `path` is on, if it is not known to support a write-ahead log; nil if it is,
    /// or if nothing is at the path.
    ///
    /// The log needs locks and shared memory that hold between all who see the file. On a file system of a network, of
    /// a virtual machine's host or of a program (FUSE) they may not, so one that is not known is refused.
    package static func refusedName(of path: String) -> String? {
        var status = statfs()
        guard statfs(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let name = withUnsafeBytes(of: status.f_fstypename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return status.f_flags & UInt32(MNT_LOCAL) != 0 && ["apfs", "hfs"].contains(name) ? nil : name
        #else
        return refusedName(ofMagic: UInt32(truncatingIfNeeded: status.f_type))
        #endif
    }

    /// Whether a number of new files fit where `path` is, as far as the file system counts them.
    package static func hasRoom(for files: Int, at path: String) -> Bool {
        var status = statfs()
        return statfs(path, &status) != 0 || status.f_files == 0 || status.f_ffree >= files
    }

    /// Whether `path` is on a file system that writes each change of a file elsewhere.
    package static func copiesChanges(at path: String) -> Bool {
        #if canImport(Darwin)
        return false
        #else
        var status = statfs()
        return statfs(path, &status) == 0 && UInt32(truncatingIfNeeded: status.f_type) == btrfs
        #endif
    }

    #if !canImport(Darwin)
    private static let btrfs: UInt32 = 0x9123_683E

    /// The refused name for a magic number of `statfs(2)`.
    package static func refusedName(ofMagic magic: UInt32) -> String? {
        if supported.contains(magic) { return nil }
        return refused[magic] ?? "type 0x" + String(magic, radix: 16)
    }

    /// Local file systems of the Linux kernel.
    private static let supported: Set<UInt32> = [
        0xEF53,  // ext2, ext3, ext4
        0x5846_5342,  // xfs
        btrfs,
        0xF2F5_2010,  // f2fs
        0xCA45_1A4E,  // bcachefs
        0x2FC1_2FC1,  // zfs
        0x3153_464A,  // jfs
        0x5265_4973,  // reiserfs
        0x3434,  // nilfs2
        0x2405_1905,  // ubifs
        0x0102_1994,  // tmpfs
        0x8584_58F6,  // ramfs
        0x794C_7630,  // overlayfs, whose files are on another of these
        0xF15F,  // ecryptfs, the same
        // Only to be read, which the kernel says itself.
        0xE0F5_E1E2,  // erofs
        0x7371_7368,  // squashfs
        0x9660,  // iso9660
    ]

    private static let refused: [UInt32: String] = [
        0x6573_5546: "FUSE", 0x6969: "NFS", 0x517B: "SMB", 0xFE53_4D42: "SMB", 0xFF53_4D42: "CIFS", 0x0102_1997: "9p",
        0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x7375_7245: "Coda", 0x0BD0_0BD0: "Lustre", 0x00C3_6400: "Ceph",
        0x4750_4653: "GPFS", 0x1983_0326: "BeeGFS", 0x2003_0528: "OrangeFS", 0x0116_1970: "GFS2", 0x7461_636F: "OCFS2",
        0xAAD7_AAEA: "PanFS", 0x786F_4256: "VirtualBox", 0xBACB_ACBC: "VMware", 0x7C7C_6673: "Parallels",
        0x00C0_FFEE: "hostfs", 0x4D44: "FAT", 0x2011_BAB0: "exFAT", 0x7366_746E: "NTFS",
    ]
    #endif
}
