import Foundation
import TestSupport

/// A program from elsewhere, run as a user would.
struct Program {
    struct Result: Sendable, CustomStringConvertible {
        let status: Int32
        let output: String
        let errors: String

        var description: String { "exit \(status)\n\(output)\n\(errors)" }
    }

    let path: String

    /// The first of `names` that is on the PATH.
    init?(_ names: String...) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = names.flatMap { name in name.contains("/") ? [name] : folders.map { "\($0)/\(name)" } }
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else { return nil }
        self.path = path
    }

    /// Runs to the end; output goes through files, so that no pipe can fill up.
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        let directory = try TemporaryDirectory()
        let (process, output, errors) = try prepare(arguments, environment, directory)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Result(
            status: process.terminationStatus,
            output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8)
        )
    }

    private func prepare(_ arguments: [String], _ environment: [String: String], _ directory: TemporaryDirectory) throws
        -> (Process, URL, URL)
    {
        let output = URL(filePath: try directory.write("", to: "output"))
        let errors = URL(filePath: try directory.write("", to: "errors"))
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        return (process, output, errors)
    }
}
