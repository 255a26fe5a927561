import Database

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Puts the pages that hold the schema of a new store into a file that lost its own.
///
/// Every store that was made by one schema version has its schema and the roots of its tables on the same pages, since
/// the same statements made them in the same order; and so has every one that was written anew since. One that took
/// steps when it had rows has them elsewhere: its own schema is looked for first.
struct SchemaGraft {
    private let pages: [Int: [UInt8]]
    private let pageSize: Int
    private let pageCount: Int

    init(template: Connection) throws {
        let size = Int(try template.integer("PRAGMA page_size") ?? 4096)
        let roots = try template.all("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0") { Int($0.integer(0)) }
        let count = Int(try template.integer("PRAGMA page_count") ?? 0)
        let image = try template.image()
        pageSize = size
        pageCount = count
        var pages: [Int: [UInt8]] = [:]
        for page in Set(1...max(count, 1)).subtracting(roots) {
            pages[page] = Array(image[(page - 1) * size..<page * size])
        }
        self.pages = pages
    }

    /// Writes the schema into `file`, whose tables then can be read as far as they are there; with the pages of its log
    /// if that is kept.
    func apply(to file: String, keepingLog keepsLog: Bool) throws {
        try write(pages, to: file, atLeast: pageCount, keepingLog: keepsLog)
    }

    /// Gives `file` a first page that names the pages of its own schema, after its log was taken in.
    ///
    /// - Returns: false where those cannot be told.
    func applyOwnSchema(of file: String) throws -> Bool {
        guard let first = pages[1] else { return false }
        let hasLog = FileStatus(file + "-wal") != nil
        try write([1: SchemaPages.emptyPage(like: first)], to: file, atLeast: 1, keepingLog: hasLog)
        if hasLog, !Self.foldLog(of: file) { return false }
        let connection = try Connection(path: file, mode: .immutable, busyTimeout: .zero)
        guard let found = SchemaPages(in: connection, pageSize: pageSize) else { return false }
        try write([1: found.firstPage(like: first)], to: file, atLeast: 1, keepingLog: false)
        return true
    }

    /// Takes the pages of the log into the file, since the newest of the schema may be among them.
    private static func foldLog(of file: String) -> Bool {
        guard let connection = try? Connection(path: file, mode: .readWrite, busyTimeout: .zero),
            (try? connection.integer("SELECT count(*) FROM sqlite_schema")) != nil
        else { return false }
        return (try? connection.checkpointTruncating()) == true
    }

    private func write(
        _ pages: [Int: [UInt8]],
        to file: String,
        atLeast pageCount: Int,
        keepingLog keepsLog: Bool
    ) throws {
        let descriptor = StoreFile.openExisting(file)
        guard descriptor >= 0 else { throw StoreFile.failure("opened", file) }
        defer { close(descriptor) }
        let found = Int(FileStatus(file)?.size ?? 0) / pageSize
        // A root beyond the end would make the schema invalid; a page of zeros only makes its table unreadable.
        let pageCount = max(found, pageCount)
        guard ftruncate(descriptor, off_t(pageCount * pageSize)) == 0 else { throw StoreFile.failure("written", file) }
        for (page, bytes) in pages {
            var bytes = bytes
            if page == 1 { describe(&bytes, pageCount: UInt32(pageCount), keepsLog) }
            let written = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t((page - 1) * pageSize))
            }
            guard written == bytes.count else { throw StoreFile.failure("written", file) }
        }
    }

    /// Makes the header of page 1 fit the file: its size, an empty list of free pages, and whether it has a log.
    private func describe(_ page: inout [UInt8], pageCount: UInt32, _ hasLog: Bool) {
        page.replaceSubrange(18..<20, with: hasLog ? [2, 2] : [1, 1])
        page.replaceSubrange(28..<32, with: withUnsafeBytes(of: pageCount.bigEndian) { Array($0) })
        page.replaceSubrange(32..<40, with: repeatElement(0, count: 8))
        page.replaceSubrange(92..<96, with: page[24..<28])
    }
}
