import Foundation
import TestSupport

/// strace, which stops a program at a write, or has that write and all that follow fail.
enum Tracer {
    static let isUsable = {
        guard let strace = Tool(named: "strace").path, let scratch = try? ScratchDirectory() else { return false }
        let trial = Command(arguments: ["-o", "/dev/null", "/bin/true"], program: strace)
        return (try? trial.run(in: scratch).status) == 0
    }()

    static func run(
        _ arguments: [String],
        _ fault: ErasureTests.Fault,
        at write: Int,
        in scratch: ScratchDirectory
    ) throws -> Command.Outcome {
        let calls = "pwrite64,ftruncate,fdatasync,fsync"
        let failing = fault == .fullDisk ? "pwrite64" : calls
        let from = fault == .fullDisk ? "\(write)+" : "\(write)"
        return try run(arguments, injecting: "\(failing):\(fault.rawValue):when=\(from)", into: calls, in: scratch)
    }

    /// Runs a command with a fault in one of its system calls, as strace writes it.
    static func run(
        _ arguments: [String],
        injecting fault: String,
        into calls: String,
        at path: String? = nil,
        in scratch: ScratchDirectory,
        input: Data? = nil
    ) throws -> Command.Outcome {
        let options = ["-f", "-o", "/dev/null"] + (path.map { ["-P", $0] } ?? []) + ["-e", "trace=\(calls)", "-e"]
        let words = options + ["inject=\(fault)", Command.binary] + arguments
        var command = Command(arguments: words, environment: ["TOKENSTORE_PATH": scratch.store])
        command.input = input ?? Data()
        command.program = Tool(named: "strace").path ?? "not installed"
        return try command.run(in: scratch)
    }
}
