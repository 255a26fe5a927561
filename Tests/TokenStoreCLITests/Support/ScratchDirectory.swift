import Database
import Foundation
import TestSupport
import TokenStorage

/// A temporary directory with a store in it.
struct ScratchDirectory {
    private let directory: TemporaryDirectory

    var path: String { directory.path }

    init() throws { directory = try TemporaryDirectory() }

    var store: String { path("tokenstore.db") }

    func path(_ name: String) -> String { path + "/" + name }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(filePath: path(name))) }

    /// Replaces the contents of a file, which only this user may read.
    func overwrite(_ name: String, with contents: Data) throws {
        try contents.write(to: URL(filePath: path(name)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }

    func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    /// Runs a command on the store of this directory.
    @discardableResult
    func run(_ arguments: String..., environment: [String: String] = [:], input: String = "") throws -> Command.Outcome
    {
        try command(arguments, environment, input).run(in: self)
    }

    /// Runs a command on the store of this directory, on a terminal.
    func runOnTerminal(
        _ arguments: String...,
        columns: UInt16 = 120,
        environment: [String: String] = [:],
        answers: [(question: String, answer: String)] = []
    ) throws -> Command.Outcome {
        try command(arguments, environment, "").runOnTerminal(in: self, columns: columns, answers: answers)
    }

    /// Runs a command that is a list already.
    func command(_ arguments: [String], _ environment: [String: String] = [:], input: String = "") throws
        -> Command.Outcome
    {
        try command(arguments, environment, input).run(in: self)
    }

    private func command(_ arguments: [String], _ environment: [String: String], _ input: String) -> Command {
        let environment = ["TOKENSTORE_PATH": store].merging(environment) { $1 }
        return Command(arguments: arguments, environment: environment, input: Data(input.utf8))
    }

    /// Imports the cache that the README imports: one person by two user flows, another by one of them.
    func importHarbor() throws {
        let tests = Repository.root.appending(path: "Tests")
        let outcome = try run("import", tests.appending(path: "Fixtures/harbor.json").path)
        guard outcome.status == 0 else { throw POSIXError(.EIO) }
    }

    /// Imports sign-ins into the store of this directory.
    func fill(_ people: CachedUser...) throws {
        let outcome = try run("import", input: CachedUser.cache(people))
        guard outcome.status == 0 else { throw POSIXError(.EIO) }
    }
}

/// What time, a failing disk, a newer version or another process does to a store.
extension ScratchDirectory {
    /// Turns some bits of a sealed access token.
    func damageValue() throws {
        try execute("UPDATE access_token SET secret = CAST(zeroblob(length(secret)) AS BLOB) WHERE id = 1")
    }

    /// Overwrites the refresh token of the account with a username.
    func damageSession(of username: String) throws {
        try execute(
            """
            UPDATE refresh_token SET secret = zeroblob(length(secret))
            WHERE account_id = (SELECT id FROM account WHERE username = '\(username)')
            """
        )
    }

    /// Makes a store in which nothing opens.
    func loseDataKeys() throws { try execute("UPDATE data_key SET wrapped = zeroblob(75), is_current = 0") }

    /// Makes the store one that only a newer version may read.
    func shutOut() throws {
        try execute(
            "UPDATE store SET schema_version = 99, reader_floor = 99, writer_floor = 99; PRAGMA user_version = 99"
        )
    }

    /// Makes every account one that was last used ten days ago.
    func age() throws {
        try TokenStore.open(at: StorePath(store)).withWriter {
            try $0.update("account", set: "last_used_at = last_used_at - 864000")
        }
    }

    /// Keeps other connections from writing until this one is closed.
    func holdForWriting() throws -> Connection {
        let connection = try Connection(path: store, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("BEGIN IMMEDIATE")
        return connection
    }

    func execute(_ statement: String) throws {
        try Connection(path: store, mode: .readWrite, busyTimeout: .seconds(5)).execute(statement)
    }
}
