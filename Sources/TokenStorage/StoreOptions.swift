public import OAuth
import PostgreSQL
public import Sealing

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How a store is opened.
public struct StoreOptions: Sendable {
    /// Where the key-encryption key comes from; nil: the source that the store records, `KeySource.file` for a new one.
    public var keySource: KeySource?

    /// How long to wait for another process.
    public var busyTimeout: Duration = .seconds(30)

    /// What the record of use calls this program.
    public var program: String

    /// The clock.
    ///
    /// Of a store on a server its difference from the server's is made up for, so that all machines have one time.
    public var now: @Sendable () -> Date = { Date() }

    /// Whether that difference is made up for; tests with a clock that stands still are about another time.
    package var followsServerClock = true

    /// The clock of the server, once the store was opened there.
    package internal(set) var serverClock: ServerClock?

    /// The environment variables that paths and keys are looked for in.
    public var environment: [String: String]

    /// Asks for a passphrase on the terminal, twice if its argument is true; nil where no question may be asked.
    public var askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)?

    /// Whether the key is needed at once; without it, rows can be counted and deleted, not read.
    public var unlocks = true

    /// Whether data keys that do not open are left out, for a repair, which saves what the others open.
    var isSalvage = false

    /// Whether tokens that were opened stay in memory, which takes a connection that notices commits; a program that
    /// asks once has no use for it.
    package var keepsTokensInMemory = true

    /// Whether an inspection opens its file once and not for each read; this process cannot write to it meanwhile.
    package var keepsInspectionOpen = false

    /// How often a store that is only read looks whether its file has been replaced; a write always does.
    package var replacementLookInterval: Duration = .milliseconds(250)

    /// How long a commit of an issuer's answer waits for a busy store before the answer is put into a file.
    package var answerWait = Duration.seconds(1)

    /// How long the store is waited for once the answer is safe in a file.
    package var pendingWait = Duration.seconds(10)

    /// How long the answer to a refresh waits for a server, which has nothing beside it that could keep the answer.
    package var serverAnswerWait = Duration.seconds(300)

    /// Whether what is only read may come from a standby, where the address allows one: it may be behind, and is not to
    /// decide what is written or handed out.
    package var mayReadStandby = true

    /// How many connections to a server there are at most.
    public var poolSize = 8

    /// How long a server's token may be served from memory after another node has signed its account out.
    ///
    /// Usually it is milliseconds: a connection of its own hears of commits. Zero: every lookup asks the server. A file
    /// tells of every commit at once.
    public var staleness = Duration.seconds(2)

    /// Of how many writes to a server one is followed by the deletion of what has served its time.
    package var janitorChance = 100

    /// How many rows one transaction of a rekey takes: few enough that writers wait for a tenth of a second at most,
    /// and so many that the disk is not waited for most of the time.
    package var resealBatch = 2_048

    /// From how many accounts on a second connection helps to read a file; nil: from so many on that it brings more
    /// than it costs, if there is another core for it.
    package var accountsForTwoReaders: Int64?

    /// What the computed ids of accounts on a server are cut down to; tests make it smaller.
    package var accountRowMask = UInt64.max >> 1

    package var schema = Schema.current
    package var serverSchema = Schema.server

    /// What deriving a key from a new passphrase costs.
    package var scryptCost = ScryptCost.standard

    /// Options of a store; nil as the key's source: what the store itself names, else the standard one.
    public init(
        keySource: KeySource? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.keySource = keySource
        self.environment = environment
        program = ProcessInfo.processInfo.processName
    }

    /// Unix seconds.
    var seconds: Int64 { now().unixSeconds }
}

extension StoreOptions: CustomReflectable, CustomStringConvertible {
    /// Without the environment, which may hold the key or a passphrase.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "keySource": keySource as Any, "busyTimeout": busyTimeout, "program": program, "unlocks": unlocks,
            "poolSize": poolSize, "staleness": staleness,
        ]
        return Mirror(self, children: children)
    }

    public var description: String {
        let source = keySource.map { String(describing: $0) } ?? "that of the store"
        return "StoreOptions(key: \(source), program: \(program))"
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
        var user = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16_384)
        return texts.withUnsafeMutableBufferPointer { texts in
            guard let start = texts.baseAddress,
                getpwuid_r(geteuid(), &user, start, texts.count, &found) == 0, found != nil,
                let directory = user.pw_dir
            else { return nil }
            let home = String(cString: directory)
            return PathParts.isAbsolute(home) && FileStatus(following: home)?.kind == .directory ? home : nil
        }
    }

    package var log: String { database + "-wal" }
    package var sharedMemory: String { database + "-shm" }
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
