import CSQLite

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

    /// Whether the file is no longer the one under the name it was opened by.
    package var hasMoved: Bool {
        var moved: CInt = 0
        sqlite3_file_control(handle, nil, SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// A number that changes with every commit of another connection, in this process or not.
    package func dataVersion() throws -> Int64 { try integer("PRAGMA data_version") ?? 0 }

    /// The problems `PRAGMA integrity_check` (or the cheaper `quick_check`) finds; empty when the file is sound.
    package func integrityProblems(quick: Bool) throws -> [String] {
        let lines =
            quick
            ? try all("PRAGMA quick_check(20)") { $0.text(0) }
            : try all("PRAGMA integrity_check(100)") { $0.text(0) }
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
