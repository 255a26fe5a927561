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
        let isDirectory = path.hasSuffix("/") || FileStatus(following: absolute)?.kind == .directory
        let database = isDirectory ? Self.join(absolute, "tokenstore.db") : absolute
        let slash = database.lastIndex(of: "/") ?? database.startIndex
        let parent = slash == database.startIndex ? "/" : String(database[..<slash])
        // SQLite refuses every symbolic link in a path; only the file itself may not be one.
        directory = Self.resolved(parent)
        self.database = Self.join(directory, String(database[database.index(after: slash)...]))
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
        let state = value("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/state"
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
        guard directory != "/", let slash = directory.lastIndex(of: "/") else { return directory }
        let parent = slash == directory.startIndex ? "/" : String(directory[..<slash])
        return join(resolved(parent), String(directory[directory.index(after: slash)...]))
    }

    private static func absolute(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path.hasPrefix("/") ? path : join(FileManager.default.currentDirectoryPath, path)
    }

    private static func join(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    private static func withoutExtension(_ path: String) -> String {
        path.hasSuffix(".db") ? String(path.dropLast(3)) : path
    }
}
