import ArgumentParser
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ToolOption: ParsableArguments {
    @Option(help: "The tokenstore program to run; by default the one beside this one.")
    var tool: String?

    var path: String {
        if let tool { return tool }
        let this = ChildProcess.thisProgram
        return String(this[..<(this.lastIndex(of: "/") ?? this.startIndex)]) + "/tokenstore"
    }
}

extension Bench {
    /// The tokenstore program with arguments.
    func tool(_ arguments: String...) throws -> ChildProcess { try tool(arguments) }

    func tool(_ arguments: [String]) throws -> ChildProcess {
        guard FileManager.default.isExecutableFile(atPath: tool) else {
            throw BenchFailure(
                "\(tool) is missing; build it with 'swift build -c release --static-swift-stdlib', or name it with --tool"
            )
        }
        return ChildProcess(tool, arguments)
    }

    /// A copy of a program that `install` made, as the README installs it.
    ///
    /// The linker writes its file page by page, and the kernel keeps it in pieces of that size, each of which a start maps by
    /// itself. A start from a file that was written in large pieces takes a fifth less.
    func installed(_ program: String) throws -> String {
        guard FileManager.default.isExecutableFile(atPath: program) else { return program }
        let copy = try place("installed").directory + "/tokenstore"
        guard try ChildProcess("/usr/bin/env", ["install", program, copy]).run().isSuccess else {
            throw BenchFailure("\(program) cannot be copied to \(copy)")
        }
        return copy
    }
}
