import Foundation

/// Programs of the system that tests run.
public enum Shell {
    public struct Failure: Error {
        public let command: String
        public let message: String
    }

    /// Runs a program to its end and returns what it printed.
    @discardableResult
    public static func run(_ program: String, _ arguments: String...) throws -> String {
        try run(program, arguments)
    }

    @discardableResult
    public static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let message = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(command: program, message: String(decoding: message, as: UTF8.self))
        }
        return String(decoding: printed, as: UTF8.self)
    }
}

/// A shell of the system, for what it makes of a text.
public struct UnixShell: Sendable, CustomStringConvertible {
    public let name: String

    public var description: String { name }
    public var path: String { "/usr/bin/" + name }
    public var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    public static let dash = UnixShell(name: "dash")
    public static let bash = UnixShell(name: "bash")
    public static let zsh = UnixShell(name: "zsh")
    public static let fish = UnixShell(name: "fish")

    /// Runs a script and returns the bytes it printed, apart where it printed a zero.
    public func run(_ script: String) throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        let file = directory.file("script")
        try Data(script.utf8).write(to: URL(filePath: file))
        let output = directory.file("output")
        // An answer of many bytes would fill a pipe that nothing empties while the errors are read.
        try Shell.run("/bin/sh", "-c", "exec \"$0\" \"$1\" > \"$2\"", path, file, output)
        let bytes = Array(try Data(contentsOf: URL(filePath: output)))
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
    }
}

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
