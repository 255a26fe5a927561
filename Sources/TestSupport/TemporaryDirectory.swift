public import Foundation

/// A directory of mode 0700 that is gone when the value is.
public final class TemporaryDirectory: Sendable {
    public let path: String

    /// In memory where the system offers that: what a test waits for most is a disk that synchronizes.
    public init() throws {
        let memory = "/dev/shm"
        let isUsable = access(memory, W_OK | X_OK) == 0
        let parent = isUsable ? memory : FileManager.default.temporaryDirectory.path
        var template = Array((parent + "/tokenstore-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        path = String(cString: made)
    }

    deinit {
        // A leftover of a test run does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the directory.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes `text` to the file `name` and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: file(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
        return file(name)
    }
}

/// What the files of a directory are at a moment: names, bytes, times of change.
public struct DirectorySnapshot: Equatable, CustomStringConvertible {
    private struct File: Equatable {
        let bytes: Data
        let changed: Date?
        let permissions: Int?
    }

    private var files: [String: File] = [:]
    private let changed: Date?

    public init(_ directory: String) throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: directory) {
            let path = directory + "/" + name
            let attributes = try manager.attributesOfItem(atPath: path)
            let isRegular = attributes[.type] as? FileAttributeType == .typeRegular
            files[name] = File(
                bytes: isRegular ? try Data(contentsOf: URL(filePath: path)) : Data(),
                changed: attributes[.modificationDate] as? Date,
                permissions: attributes[.posixPermissions] as? Int
            )
        }
        changed = try manager.attributesOfItem(atPath: directory)[.modificationDate] as? Date
    }

    public var names: [String] { files.keys.sorted() }

    /// The bytes of a file, nil if there is none.
    public func bytes(_ name: String) -> Data? { files[name]?.bytes }

    /// The names of the files that hold `text` somewhere.
    public func names(holding text: Data) -> [String] {
        names.filter { files[$0]?.bytes.holds(text) == true }
    }

    public var description: String {
        files.sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value.bytes.count) bytes, \($0.value.changed?.timeIntervalSince1970 ?? 0)" }
            .joined(separator: "; ")
    }
}

extension Data {
    /// Whether the bytes are somewhere in these: `range(of:)` takes seconds for the files of some stores.
    public func holds(_ bytes: Data) -> Bool {
        withUnsafeBytes { all in
            bytes.withUnsafeBytes { part in
                guard let first = part.first, let sought = part.baseAddress else { return true }
                guard var place = all.baseAddress else { return false }
                let end = place + all.count
                while let start = memchr(place, Int32(first), end - place), start + part.count <= end {
                    if memcmp(start, sought, part.count) == 0 { return true }
                    place = UnsafeRawPointer(start) + 1
                }
                return false
            }
        }
    }
}

/// A file whose bytes a test changes.
public struct DamagedFile {
    public let path: String

    public init(_ path: String) { self.path = path }

    public func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    /// Replaces the content in place: same file, same mode.
    public func write(_ bytes: some Sequence<UInt8>) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    /// Puts a new file in the place of the old one, which programs that have it open go on seeing.
    public func replace(with bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    public func change(_ body: (inout [UInt8]) -> Void) throws {
        var bytes = try bytes()
        body(&bytes)
        try write(bytes)
    }
}

/// Rollback journals, in the layout of SQLite's file format.
extension DamagedFile {
    private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// Takes the database at the path out of its mode, and puts a journal beside it as a crash leaves one: no page is in
    /// it, and it names a super-journal, which SQLite would open and delete.
    public func plantJournal(naming file: String) throws {
        try change { $0.replaceSubrange(18..<20, with: [1, 1]) }
        let bytes = try bytes()
        let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
        let (pages, sectorSize) = (bytes.count / pageSize, 512)
        let header = Self.journalMagic + [0, 0, pages, sectorSize, pageSize].flatMap(Self.fourBytes)
        let journal = DamagedFile(path + "-journal")
        try journal.replace(with: header + [UInt8](repeating: 0, count: sectorSize - header.count))
        try journal.addSuperJournal(file, pageSize: pageSize)
    }

    /// Has the journal at the path name a super-journal.
    public func addSuperJournal(_ file: String, pageSize: Int = 4_096) throws {
        let name = Array(file.utf8)
        let sum = name.reduce(0) { $0 + Int($1) }
        try change { bytes in
            // The page that a database leaves out for its locks cannot be in a journal.
            bytes += Self.fourBytes(0x4000_0000 / pageSize + 1) + name
            bytes += Self.fourBytes(name.count) + Self.fourBytes(sum) + Self.journalMagic
        }
    }

    private static func fourBytes(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }
}
