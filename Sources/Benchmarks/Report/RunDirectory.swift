import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The directory of this run.
struct RunDirectory {
    let path: String

    init(in parent: String?) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory.path
        path = parent + "/tokenstore-bench-\(UUID().uuidString)"
        try Self.make(path)
    }

    /// An empty directory with the place for a store in it; what was there under this name goes.
    func store(_ name: String) throws -> StorePath {
        let directory = path + "/" + name
        if FileManager.default.fileExists(atPath: directory) { try FileManager.default.removeItem(atPath: directory) }
        try Self.make(directory)
        return StorePath(directory + "/tokenstore.db")
    }

    func remove() {
        // A leftover is named in the system's directory of temporary files.
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func make(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }
}
