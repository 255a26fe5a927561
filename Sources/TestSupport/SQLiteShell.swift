import Foundation

/// A separate process that has a database open.
public final class SQLiteShell {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    public init(_ database: String) throws {
        process.executableURL = URL(filePath: "/usr/bin/sqlite3")
        process.arguments = ["-batch", database]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Runs SQL that returns at least one line, and waits for the first.
    @discardableResult
    public func run(_ sql: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((sql + "\n").utf8))
        return String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }

    public func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Ends the process with a signal that it cannot catch.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
