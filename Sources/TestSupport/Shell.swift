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
