import Database

/// What the bytes of a file say of the program that wrote it.
///
/// SQLite puts an application's id at byte 68 of its first page. Where that page is damaged, a page of the schema, or
/// the row that names the store's key, says as much: both are on the first pages of every store.
struct FileSigns {
    /// Whether the first page names this program.
    private let hasApplicationID: Bool

    /// Whether it is a write-ahead log.
    let isLog: Bool

    /// Whether it is empty, or has nothing but zeros where a database has its header.
    let isBlank: Bool

    /// Whether a page holds our schema or names our key.
    let hasOwnPage: Bool

    /// Whether a log has the page that names the program, or pages of another size than ours.
    let tellsProgram: Bool

    /// Whether it is a database of this program, damaged or not.
    var isDatabase: Bool { !isLog && (hasApplicationID || hasOwnPage) }

    /// Every store has its schema on these.
    private static let pageCount = 32
    private static let pageSize = 4096
    private static let headerSize = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// - Returns: nil if the file cannot be read.
    init?(of file: String, keyID: String?) {
        guard let connection = Self.open(file), let header = connection.bytes(at: 0, count: Self.headerSize) else {
            return nil
        }
        hasApplicationID = Self.namesProgram(header)
        isLog = Self.isLog(header)
        isBlank = header.allSatisfy { $0 == 0 }
        // In a log a header of 32 bytes comes first, and one of 24 before each page.
        let (start, stride) = isLog ? (32 + 24, Self.pageSize + 24) : (0, Self.pageSize)
        hasOwnPage = (0..<Self.pageCount).contains { index in
            let page = connection.bytes(at: Int64(start + index * stride), count: Self.pageSize)
            return page.map { Self.isOwn($0, isFirst: index == 0, keyID: keyID) } ?? false
        }
        func holds(_ number: Int, at position: Int) -> Bool {
            connection.bytes(at: Int64(position), count: 4) == withUnsafeBytes(of: UInt32(number).bigEndian, Array.init)
        }
        // The page's number begins its header, and the size is in that of the log.
        let hasFirstPage = (0..<Self.pageCount).contains { holds(1, at: 32 + $0 * stride) }
        tellsProgram = isLog && (hasFirstPage || !holds(Self.pageSize, at: 8))
    }

    /// Whether a file that begins so is a write-ahead log; the two magic numbers of one differ in the last bit.
    static func isLog(_ start: [UInt8]) -> Bool {
        start.starts(with: [0x37, 0x7F, 0x06, 0x82]) || start.starts(with: [0x37, 0x7F, 0x06, 0x83])
    }

    /// Whether these four bytes may be the size of a sector or a page: SQLite takes powers of two.
    static func isSize(_ bytes: ArraySlice<UInt8>) -> Bool {
        let size = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (512...65_536).contains(size) && size.nonzeroBitCount == 1
    }

    /// Whether the first page of a regular file names this program.
    static func namesProgram(_ file: String) -> Bool {
        open(file)?.bytes(at: 0, count: headerSize).map(namesProgram) ?? false
    }

    /// Whether the first page is one of SQLite's that names another program, or none.
    static func namesOther(_ connection: Connection) -> Bool {
        guard let page = connection.bytes(at: 0, count: headerSize), page.count == headerSize else { return false }
        // SQLite takes no other three bytes there.
        return page.starts(with: magic) && page[21...23].elementsEqual([64, 32, 32]) && !namesProgram(page)
    }

    /// A regular file, to look at its bytes; another kind might never answer.
    private static func open(_ file: String) -> Connection? {
        guard FileStatus(file)?.kind == .regular else { return nil }
        return try? Connection(path: file, mode: .immutable, busyTimeout: .zero)
    }

    private static func namesProgram(_ page: [UInt8]) -> Bool {
        let id = withUnsafeBytes(of: Schema.applicationID.bigEndian) { Array($0) }
        return page.starts(with: magic) && page.dropFirst(68).starts(with: id)
    }

    private static func isOwn(_ page: [UInt8], isFirst: Bool, keyID: String?) -> Bool {
        if namesProgram(page) { return true }
        // A leaf of a table; the first page has the file's header before its own.
        guard page.first == 0x0D || isFirst && page.dropFirst(headerSize).first == 0x0D else { return false }
        // The row of sqlite_schema that describes our table: other programs have tables of that name, without the column.
        let schema = ["tabledata_keydata_key", "key_encryption_key_id"].map { Array($0.utf8) }
        return schema.allSatisfy { page.contains($0) } || keyID.map { page.contains(Array($0.utf8)) } ?? false
    }
}

extension [UInt8] {
    /// Whether `pattern` is anywhere in the bytes.
    func contains(_ pattern: [UInt8]) -> Bool {
        guard let first = pattern.first else { return true }
        var rest = self[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: pattern) { return true }
            rest = rest[(start + 1)...]
        }
        return false
    }
}
