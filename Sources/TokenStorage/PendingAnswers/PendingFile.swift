import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file beside the store with an answer that could not be committed.
struct PendingFile: Hashable, Sendable {
    let name: String
    let id: UInt64

    /// What each begins with, then the store's id, then the sealed answer.
    private static let magic = Array("tokenstore answer\n".utf8)

    private static let storeIDLength = 16

    /// More than any answer that is read from an issuer.
    private static let longest: Int64 = 1 << 26

    /// A file that is not there yet.
    init(new path: StorePath) {
        id = .random(in: .min ... .max)
        name = path.pendingPrefix + id.sixteenDigits
    }

    private init?(_ name: String, prefix: String) {
        guard let digits = name.droppingPrefix(prefix), digits.utf8.count == 16, let id = UInt64(digits, radix: 16)
        else { return nil }
        self.id = id
        self.name = name
    }

    /// The files of answers beside the store, whether or not they can be read.
    static func all(of path: StorePath) throws(TokenStoreError) -> [PendingFile] {
        try names(of: path).compactMap { PendingFile($0, prefix: path.pendingPrefix) }
    }

    /// Those for one store, whether or not they can be opened.
    static func all(of path: StorePath, for storeID: [UInt8]) throws(TokenStoreError) -> [PendingFile] {
        try all(of: path).filter { $0.storeID == storeID }
    }

    private static func names(of path: StorePath) throws(TokenStoreError) -> [String] {
        guard let directory = opendir(path.directory) else {
            let (reason, error) = (errno, StoreFile.failure("read", path.directory))
            if reason == ENOENT || reason == ENOTDIR { return [] }
            // Whose directory it is says more.
            if reason == EACCES { try FilePermissions(path: path, isInspection: true).checkDirectory() }
            throw error
        }
        defer { closedir(directory) }
        let prefix = Array(PathParts(path.pendingPrefix).name.utf8)
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { start -> String? in
                start.withMemoryRebound(to: UInt8.self, capacity: prefix.count) { bytes in
                    // Compared as bytes: most directories hold none, and this is asked before each refresh.
                    for (index, byte) in prefix.enumerated() where bytes[index] != byte { return nil }
                    return String(cString: bytes)
                }
            }
            if let name { names.append(PathParts.join(path.directory, name)) }
        }
        return names.sorted()
    }

    /// Where the sealed answer stands: its file's name is bound to it.
    var location: SealedLocation {
        SealedLocation(table: "pending_answer", column: "answer", row: Int64(bitPattern: id))
    }

    /// The bytes of a file for `answer`.
    func sealed(_ answer: PendingAnswer, by sealer: Sealer, storeID: [UInt8]) throws -> [UInt8] {
        var plaintext = answer.encoded()
        defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
        let body = try plaintext.withUnsafeBytes { try sealer.seal($0, as: location) }
        return Self.magic + storeID + body
    }

    /// The sealed part of the file, which is one of the store `storeID`.
    func body(storeID: [UInt8]) throws(TokenStoreError) -> [UInt8] {
        guard isOurs else {
            throw .file(
                "\(name) is not a file that this program made",
                Remedy(.removeFile, "move it to another directory")
            )
        }
        let bytes = try contents()
        let start = Self.magic + storeID
        guard bytes.starts(with: start) else {
            throw .file(
                "\(name) belongs to another store",
                Remedy(.removeFile, "keep it beside that store, which takes it in, or delete it if that store is gone")
            )
        }
        return Array(bytes.dropFirst(start.count))
    }

    /// The id of the store that the answer is for; nil if it is not a file that this program made.
    ///
    /// The stores `x` and `x.db` of one directory have their answers under the same names.
    var storeID: [UInt8]? {
        let length = Self.magic.count + Self.storeIDLength
        guard isOurs, let start = try? contents(limit: length), start.count == length else { return nil }
        return Array(start.dropFirst(Self.magic.count))
    }

    /// Whether it is a regular file of this user alone that begins as all of them do.
    private var isOurs: Bool {
        guard let status = FileStatus(name), status.kind == .regular, status.owner == geteuid(), status.links == 1,
            status.permissions & 0o077 == 0, status.size <= Self.longest
        else { return false }
        do {
            return try contents(limit: Self.magic.count) == Self.magic
        } catch {
            return false
        }
    }

    private func contents(limit: Int = .max) throws(TokenStoreError) -> [UInt8] {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw StoreFile.failure("opened", name) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(limit, 1 << 16))
        while bytes.count < limit {
            let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StoreFile.failure("read", name) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Overwrites and removes the file; one that is gone is not an error.
    func destroy() throws(TokenStoreError) {
        let descriptor = StoreFile.openExisting(name)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw StoreFile.failure("opened", name)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw StoreFile.failure("opened", name) }
        try StoreFile.overwrite(descriptor, size: Int64(status.st_size), of: name)
        guard unlink(name) == 0 || errno == ENOENT else { throw StoreFile.failure("removed", name) }
    }
}

extension UInt64 {
    /// The number in sixteen hexadecimal digits, as names of files have it.
    var sixteenDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension StorePath {
    /// The names of the files beside the store that hold answers of issuers which are not in it yet.
    package func pendingAnswers() throws(TokenStoreError) -> [String] { try PendingFile.all(of: self).map(\.name) }
}
