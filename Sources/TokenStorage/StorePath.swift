import Sealing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a store is: a database file and what stands beside it.
public struct StorePath: Hashable, Sendable {
    /// The directory, absolute.
    public let directory: String

    /// The database file, absolute.
    public let database: String

    /// Reads `path` as the database file, or as the directory that holds `tokenstore.db` where it is an existing
    /// directory or ends in a slash.
    public init(_ path: String) {
        let absolute = Self.absolute(path)
        let isDirectory = PathParts.endsInSlash(path) || FileStatus(following: absolute)?.kind == .directory
        let database = isDirectory ? PathParts.join(absolute, "tokenstore.db") : absolute
        let parts = PathParts(database)
        // SQLite refuses every symbolic link in a path; only the file itself may not be one.
        directory = Self.resolved(parts.directory)
        self.database = PathParts.join(directory, parts.name)
    }

    /// The path that `TOKENSTORE_PATH` names, else the place for this user's state.
    public static func standard(environment: [String: String]) -> StorePath {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let path = value("TOKENSTORE_PATH") { return StorePath(path) }
        let home = value("HOME") ?? FileManager.default.homeDirectoryForCurrentUser.path
        #if os(macOS)
        return StorePath(home + "/Library/Application Support/tokenstore/tokenstore.db")
        #else
        // The XDG Base Directory specification has a relative path ignored.
        let state = value("XDG_STATE_HOME").flatMap { PathParts.isAbsolute($0) ? $0 : nil } ?? home + "/.local/state"
        return StorePath(state + "/tokenstore/tokenstore.db")
        #endif
    }

    package var log: String { database + "-wal" }
    package var sharedMemory: String { database + "-shm" }
    /// Kernel locks are taken on this file, never on the database, and it is never deleted.
    package var lock: String { Self.withoutExtension(database) + ".lock" }
    /// How the names of files begin that hold answers of issuers until they are stored.
    package var pendingPrefix: String { Self.withoutExtension(database) + ".pending-" }
    /// A database being made, which takes its name when it is whole.
    package var unfinished: String { database + ".new" }

    /// The directory without symbolic links, as far as it exists.
    private static func resolved(_ directory: String) -> String {
        if let resolved = FileStatus.resolved(directory) { return resolved }
        guard directory != "/" else { return directory }
        let parts = PathParts(directory)
        return PathParts.join(resolved(parts.directory), parts.name)
    }

    private static func absolute(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1, PathParts.endsInSlash(path) { path.unicodeScalars.removeLast() }
        return PathParts.isAbsolute(path) ? path : PathParts.join(FileManager.default.currentDirectoryPath, path)
    }

    private static func withoutExtension(_ path: String) -> String {
        let end = path.utf8.suffix(3)
        return end.elementsEqual(".db".utf8) ? String(path[..<end.startIndex]) : path
    }
}
