import CSQLite

/// The header of the index of a write-ahead log, in the memory that all processes share which have the file open.
///
/// Each commit changes it before it returns, so that one who only compares it notices every commit, of this process and
/// of others, without a lock and without asking the system ([The WAL-Index File
/// Format](https://www.sqlite.org/walformat.html#the_wal_index_file_format)).
///
/// `@unchecked Sendable`: the memory is read word by word, atomically.
package struct LogHeader: @unchecked Sendable {
    private let memory: UnsafeRawPointer

    /// What it holds, in which SQLite itself looks for changes: a counter of commits, the length of the log, checksums.
    package typealias Words = SIMD8<UInt64>

    /// The first of its two copies, which is written last: until then no reader sees the commit either.
    package var words: Words {
        var words = Words.zero
        for index in 0..<Self.wordCount { words[index] = SQLiteSharedWord(memory, CInt(index)) }
        return words
    }

    private static let wordCount = 6
}

extension LogHeader {
    /// Where the index is mapped to in parts of this size.
    private static let partSize: CInt = 32_768

    /// That of the file that a connection has read; nil where it keeps no log, or no index that is shared.
    ///
    /// It may be read as long as the connection is open.
    package init?(of connection: Connection) throws {
        guard try connection.first("PRAGMA journal_mode", body: { $0.text(0) }) == "wal",
            try connection.first("PRAGMA locking_mode", body: { $0.text(0) }) == "normal"
        else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods, methods.pointee.iVersion > 1
        else { return nil }
        var part: UnsafeMutableRawPointer?
        guard methods.pointee.xShmMap(file, 0, Self.partSize, 0, &part) == SQLITE_OK, let part else { return nil }
        memory = UnsafeRawPointer(part)
    }
}

extension LogHeader.Words {
    /// How many commits there were since the index was made, around the greatest number there is.
    package var commitCount: UInt32 {
        #if _endian(little)
        UInt32(truncatingIfNeeded: self[1])
        #else
        UInt32(truncatingIfNeeded: self[1] >> 32)
        #endif
    }
}
