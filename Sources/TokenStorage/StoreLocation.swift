package import Database
import OAuth
import PostgreSQL
import Sealing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a store is: a file of this machine, or a PostgreSQL server that many machines share.
///
/// ```swift
/// let here = StoreLocation(StorePath("/var/lib/app/tokenstore.db"))
/// let there = try StoreLocation("postgresql://db1.example,db2.example/sessions")
/// ```
public struct StoreLocation: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file(StorePath)
        case server(ServerAddress)
    }

    package let kind: Kind

    /// A database file.
    public init(_ path: StorePath) { kind = .file(path) }

    package init(_ address: ServerAddress) { kind = .server(address) }

    /// Reads `postgresql://…` as a server's address, and any other text as the path of a file.
    ///
    /// A text that looks like the address of a server, but is none, is refused: another scheme, or a keyword string of
    /// libpq such as `host=db.example`. A file that has such a name is given as `./host=db.example`.
    ///
    /// What an address leaves open comes from its service (`service=`) and from libpq's environment variables. A schema
    /// is a store (`?schema=tokenstore`). Behind a pooler of transactions, such as pgbouncer, `pooler=transaction` is
    /// needed. Off this machine the server has to prove itself (`sslmode=verify-full`).
    ///
    /// A password in a text that `isArgument` of a program is refused: every user of the machine can read those.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument``.
    public init(_ text: String, isArgument: Bool = false) throws(TokenStoreError) {
        guard ServerAddress.isMeant(by: text) else {
            self.init(StorePath(text))
            return
        }
        self.init(
            try Self.address(
                text,
                isArgument ? .argument : .environment,
                otherwise: "write postgresql://HOST/DATABASE, or ./ before the name of a file"
            )
        )
    }

    /// Whether `text` is meant as the address of a server, right or wrong, and not as the path of a file.
    package static func isMeantAsAddress(_ text: String) -> Bool { ServerAddress.isMeant(by: text) }

    /// What `TOKENSTORE_PATH` names, a path or the address of a server, then the address in `TOKENSTORE_DATABASE_URL`,
    /// and the file of this user without both.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if an address cannot be used.
    public static func standard(environment: [String: String]) throws(TokenStoreError) -> StoreLocation {
        if let text = environment["TOKENSTORE_PATH"], !text.isEmpty { return try StoreLocation(text) }
        guard let text = environment["TOKENSTORE_DATABASE_URL"], !text.isEmpty else {
            return StoreLocation(.standard(environment: environment))
        }
        return StoreLocation(
            try address(
                text,
                .environment,
                otherwise: "set TOKENSTORE_DATABASE_URL to postgresql://HOST/DATABASE, or TOKENSTORE_PATH to a path"
            )
        )
    }

    /// Reads an address; `advice` is for a text that is none at all.
    private static func address(
        _ text: String,
        _ origin: ServerAddress.Origin,
        otherwise advice: String
    ) throws(TokenStoreError) -> ServerAddress {
        do {
            return try ServerAddress(text, origin: origin)
        } catch {
            let hasScheme = ServerAddress.hasScheme(text)
            let remedy = hasScheme ? "correct the address, as in postgresql://HOST/DATABASE" : advice
            throw .invalidArgument(error.message, .correct(remedy))
        }
    }

    /// The database file; nil where the store is on a server.
    public var path: StorePath? {
        if case .file(let path) = kind { path } else { nil }
    }

    /// Whether what is read may come from a standby of a server.
    package var mayBeStandby: Bool {
        if case .server(let address) = kind { address.mayBeStandby } else { false }
    }

    /// ``path``, for what only a file has; its caller has asked before where the store is.
    package var file: StorePath {
        guard let path else { preconditionFailure("a server is asked for its files") }
        return path
    }

    package var address: ServerAddress? {
        if case .server(let address) = kind { address } else { nil }
    }
}

extension StoreLocation: CustomStringConvertible {
    /// The path of the file, or the server's hosts, database and schema: nothing that lets anyone in.
    public var description: String {
        switch kind {
        case .file(let path): path.database
        case .server(let address): address.description
        }
    }

    /// The path of the file, or the server's address with all that leads to the store but a password.
    ///
    /// It is for a program, which reaches the same store with it; a message has ``description``.
    package var fullDescription: String {
        switch kind {
        case .file(let path): path.database
        case .server(let address): address.fullDescription
        }
    }

    /// Whether `text`, a description of a place, names this store, whoever signs in there.
    package func isDescribed(by text: String) -> Bool {
        // A description does not hold all of the address, and the environment would fill the gaps.
        if text == description { return true }
        do { return try StoreLocation(text).description == description } catch { return false }
    }
}

/// Where a store is: a database file and the files beside it.
public struct StorePath: Hashable, Sendable {
    /// The directory, absolute.
    public let directory: String

    /// The database file, absolute.
    public let database: String

    /// Why the text can be no path, which whoever opens the store is told.
    private let flaw: Flaw?

    private enum Flaw {
        case empty, address, noWorkingDirectory, noHome, tooLong
    }

    /// SQLite opens no file whose path, with `-journal` behind it, has more than 512 bytes; a new store is first made
    /// with `.new` behind its name.
    private static let longestPath = 500

    /// Reads `path` as the database file, or as the directory that holds `tokenstore.db` where it is an existing
    /// directory or ends in a slash.
    public init(_ path: String) {
        let working = PathParts.isAbsolute(path) ? "/" : FileManager.default.currentDirectoryPath
        let flaw: Flaw? =
            if path.isEmpty {
                .empty
            } else if ServerAddress.isMeant(by: path) {
                .address
            } else {
                working.isEmpty ? .noWorkingDirectory : nil
            }
        self.init(path, in: working, flaw)
    }

    private init(_ path: String, in working: String, _ flaw: Flaw?) {
        let absolute = Self.absolute(path, in: working)
        let isDirectory = PathParts.endsInSlash(path) || FileStatus(following: absolute)?.kind == .directory
        let database = isDirectory ? PathParts.join(absolute, "tokenstore.db") : absolute
        let parts = PathParts(database)
        // SQLite refuses every symbolic link in a path; only the file itself may not be one.
        directory = PathParts.partlyResolved(parts.directory)
        self.database = PathParts.join(directory, parts.name)
        self.flaw = flaw ?? (self.database.utf8.count > Self.longestPath ? .tooLong : nil)
    }

    /// Requires that the path can be that of a file.
    package func requireFile() throws(TokenStoreError) {
        switch flaw {
        case nil: return
        case .empty: throw .invalidArgument("the path of the store is empty", .correct("name a file"))
        case .address:
            throw .invalidArgument(
                "the path of the store is the address of a server",
                .correct("open it as a StoreLocation, or write ./ before the name of a file")
            )
        case .noWorkingDirectory:
            throw .file("the working directory is gone", .correct("change to another, or name an absolute path"))
        case .noHome:
            throw .file("HOME is not set to an absolute path, so there is no place for the store", .choosePath)
        case .tooLong:
            throw .file(
                "the path \(database) is too long for a store",
                .correct("give one of at most \(Self.longestPath) bytes")
            )
        }
    }

    /// Requires a name that leaves room for those of the files beside a new store.
    func requireShortName(leaving length: Int = ".new-journal".utf8.count) throws(TokenStoreError) {
        let longest = 255 - length
        guard PathParts(database).name.utf8.count > longest else { return }
        throw .file("the name of \(database) is too long for a store", .correct("give one of at most \(longest) bytes"))
    }

    /// The path that `TOKENSTORE_PATH` names, else the place for this user's state.
    public static var standard: StorePath { standard(environment: ProcessInfo.processInfo.environment) }

    /// The same from other variables than those of this process.
    ///
    /// Where `HOME` is not an absolute path, the home directory counts that the system records for the user.
    public static func standard(environment: [String: String]) -> StorePath {
        standard(environment: environment, recorded: recordedHome)
    }

    static func standard(environment: [String: String], recorded: @autoclosure () -> String?) -> StorePath {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        // The XDG Base Directory specification has a relative path ignored.
        func absolute(_ name: String) -> String? { value(name).flatMap { PathParts.isAbsolute($0) ? $0 : nil } }
        if let path = value("TOKENSTORE_PATH") { return StorePath(path) }
        #if os(macOS)
        let state = (absolute("HOME") ?? recorded()).map { $0 + "/Library/Application Support" }
        #else
        let state = absolute("XDG_STATE_HOME") ?? (absolute("HOME") ?? recorded()).map { $0 + "/.local/state" }
        #endif
        return StorePath((state ?? "") + "/tokenstore/tokenstore.db", in: "/", state == nil ? .noHome : nil)
    }

    /// The home directory that the system records for the user, if it is there.
    private static var recordedHome: String? {
        ProcessEnvironment.recordedHome.flatMap { home in
            PathParts.isAbsolute(home) && FileStatus(following: home)?.kind == .directory ? home : nil
        }
    }

    package var log: String { database + "-wal" }
    package var sharedMemory: String { database + "-shm" }

    /// Whether a log with something in it is there.
    package var hasLog: Bool { FileStatus(log).map { $0.size > 0 } ?? false }

    /// Kernel locks are taken on this file, never on the database, and it is never deleted.
    package var lock: String { Self.withoutExtension(database) + ".lock" }
    /// How the names of files begin that hold answers of issuers until they are stored.
    package var pendingPrefix: String { Self.withoutExtension(database) + ".pending-" }
    /// A database being made, which takes its name when it is whole.
    package var unfinished: String { database + ".new" }

    /// Where SQLite would keep a rollback journal, which a store has none of.
    var journal: String { database + "-journal" }

    /// Whether a file with something in it is there.
    var hasJournal: Bool { FileStatus(journal).map { $0.size > 0 } ?? false }

    /// Where a repair copies the damaged database to.
    var salvage: String { database + ".salvage" }

    private static func absolute(_ path: String, in directory: String) -> String {
        var path = path
        while path.utf8.count > 1, PathParts.endsInSlash(path) { path.unicodeScalars.removeLast() }
        return PathParts.isAbsolute(path) ? path : PathParts.join(directory, path)
    }

    private static func withoutExtension(_ path: String) -> String {
        let end = path.utf8.suffix(3)
        return end.elementsEqual(".db".utf8) ? String(path[..<end.startIndex]) : path
    }
}
